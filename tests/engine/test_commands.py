"""`make render` and `make preview` as a fresh shell, a disturbed one and two at a time run them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands.engine import TEMPORARY
from commands.environments import ROOT
from commands.render import MARK
from tests.engine.conftest import AMBIENT

SECONDS = 300
pytestmark = pytest.mark.timeout(2 * SECONDS)
# All that `env -i HOME=... PATH=...` leaves.
BARE = {"HOME": os.environ.get("HOME", "/"), "PATH": "/usr/local/bin:/usr/bin:/bin"}


def start(arguments: list[str], environment: dict[str, str]) -> "subprocess.Popen[str]":
    """One of the project's commands, from another folder than the project's."""
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: "subprocess.Popen[str]") -> str:
    """What it printed; it succeeds within the time."""
    output, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, output
    return output


def rendered(folder: Path) -> dict[str, bytes]:
    """The rendered files."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture(scope="module")
def renders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two renders of dev at the same time: in an empty environment, and in one full of traps."""
    folder = tmp_path_factory.mktemp("renders")
    asked = {"bare": BARE, "disturbed": {**os.environ, **AMBIENT}}
    out = {name: folder / name for name in asked}
    running = [
        start(["commands.render", "--env", "dev", "--out", str(out[name])], environment)
        for name, environment in asked.items()
    ]
    for process in running:
        output = finish(process)
        assert "manifests in" in output
    return out


def test_two_renders_are_equal_to_the_byte_also_at_the_same_time_and_in_any_environment(
    renders: dict[str, Path],
) -> None:
    bare, disturbed = (rendered(folder) for folder in renders.values())
    assert bare == disturbed
    assert len(bare) > 50


def test_a_render_is_a_flat_folder_of_marked_yaml_files_with_namespaces_first(
    renders: dict[str, Path],
) -> None:
    files = rendered(renders["bare"])
    assert all(name.endswith(".yaml") for name in files)
    assert all(text.startswith(MARK.encode()) for text in files.values())
    order = sorted(files)
    of_namespaces = [name for name in order if "v1-namespace-" in name]
    assert of_namespaces
    assert all(order.index(name) < len(of_namespaces) + 5 for name in of_namespaces)


def test_a_render_leaves_nothing_of_its_throw_away_state_behind(renders: dict[str, Path]) -> None:
    alive = {folder.name.partition("-")[0] for folder in TEMPORARY.iterdir()} if TEMPORARY.exists() else set()
    ended = [pid for pid in alive if not Path(f"/proc/{pid}").exists()]
    assert ended == []
    assert renders


def test_a_preview_with_the_policy_pack_ends_in_an_empty_environment(tmp_path: Path) -> None:
    """A pack announces its port without flushing: with a buffered stdout it and the engine wait for each other."""
    environment = {**BARE, "PULUMI_BACKEND_URL": f"file://{tmp_path / 'state'}"}
    output = finish(start(["commands.engine", "preview", "--env", "dev"], environment))
    assert "to create" in output
    assert "Policies:" in output
