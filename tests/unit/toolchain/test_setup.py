"""What set-up says: how far it is, what failed, and what is missing."""

import ast
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from toolchain import golang, progress
from toolchain.project import ROOT, SetupError


def test_set_up_can_be_read_by_the_oldest_python_it_is_said_to_run_under() -> None:
    files = [p for p in (ROOT / "toolchain").glob("*.py") if p.name != "instance_types.py"]
    for file in [*files, ROOT / "toolchain" / "setup"]:
        ast.parse(file.read_text(), feature_version=(3, 9))


def _sleepy(seconds: float, end: str) -> list[str]:
    return [sys.executable, "-c", f"import time; print('one', flush=True); time.sleep({seconds}); {end}"]


def test_a_long_step_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0.2)
    done = partial(progress.run, usually=250, cwd=tmp_path, env={}, doing=lambda lines: f"{len(lines)} lines")
    done("engine", _sleepy(0.5, "print('two')"))
    lines = capsys.readouterr().out.splitlines()
    assert "of about 4 min 10 s, 1 lines" in lines[0]
    assert re.fullmatch(r"  engine: done in \d s", lines[-1])


def test_a_failed_step_shows_the_end_of_its_output(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"(?s)ended with status 3:\n +one\n +no such module"):
        progress.run(
            "engine",
            _sleepy(0, "print('no such module'); raise SystemExit(3)"),
            usually=1,
            cwd=tmp_path,
            env={},
            doing=str,
        )


def test_all_missing_prerequisites_are_named_at_once_with_their_commands(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(ROOT / "toolchain", clone / "toolchain")
    (clone / "components").mkdir()
    for name in ("components/versions.py", "requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, clone / name)
    (tmp_path / "path").mkdir()
    done = subprocess.run(
        [sys.executable, str(clone / "toolchain" / "setup"), "all"],
        env={"PATH": str(tmp_path / "path")},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    named = [line.strip().partition(":")[0] for line in done.stderr.splitlines()[1:]]
    # nginx is looked for in the system's own folders too, where this machine may have it.
    assert [name for name in named if name != "nginx"] == [
        "kubectl",
        "openssl",
        "Python 3.11 with its venv module",
        f"Go {golang.go_version_needed()}, to build what cannot be downloaded",
    ]
    assert not (clone / ".venv").exists(), "nothing is started before all prerequisites are there"


def test_an_unknown_part_is_refused_with_the_parts_there_are() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "toolchain" / "setup"), "engines"],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (
        2,
        "usage: toolchain/setup python|engine|cluster|services|all ...\n",
    )
