"""What the comment is made of: both sides of a change rendered, counted and judged, each by its own code."""

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands.environments import ROOT, CommandError, stack_settings
from commands.pull_request.review import Budget, Finding, Review
from policies import report
from policies.check import Result, check
from policies.config import ConfigError, take_apart
from policies.manifests import read_paths

# Where these are the same on both sides, so are the packages and the tools.
SETUP_FILES = ("requirements.txt", "pyproject.toml", "components/versions.py", "toolchain")
CLUSTER = "shared-observability:cluster"
LONGEST_SECONDS = 600


@dataclass(frozen=True)
class Side:
    """A checkout, and the Python that runs its commands."""

    root: Path
    python: Path

    def has(self, environment: str) -> bool:
        """Whether it knows the environment."""
        return (self.root / f"Pulumi.{environment}.yaml").is_file()

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs one of its modules, by its own code even where the packages are the other side's."""
        return subprocess.run(
            [str(self.python), "-m", *arguments],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )


def head() -> Side:
    """This checkout, with what is not committed."""
    return Side(ROOT, Path(sys.executable))


def commit(revision: str) -> str:
    """The digest of a commit.

    Raises:
        CommandError: if there is none.
    """
    return (
        _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        .decode()
        .strip()
    )


def fork_point(base: str) -> str:
    """The commit from which this checkout's commit went its own way, as a pull request shows it."""
    return _git("merge-base", commit(base), "HEAD").decode().strip()


def _git(*arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip() or "git knows no such commit"
        raise CommandError(
            f"`git {' '.join(arguments)}` failed: {told}\nTry: git fetch origin main, and BASE=origin/main"
        )
    return done.stdout


def unpack(revision: str, folder: Path) -> Side:
    """Writes a commit's files into a folder, with packages and tools: the head's where they are the same.

    Raises:
        CommandError: if its tools cannot be had.
    """
    with tarfile.open(fileobj=io.BytesIO(_git("archive", "--format=tar", revision))) as archive:
        archive.extractall(folder, filter="data")
    changed = _git("diff", "--name-only", revision, "--", *SETUP_FILES).strip()
    if not changed:
        for name in (".venv", ".toolchain"):
            (folder / name).symlink_to(ROOT / name, target_is_directory=True)
    else:
        command = [str(folder / "toolchain" / "setup"), "python", "engine"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CommandError(f"the base's tools cannot be had:\n{done.stdout}{done.stderr}")
    return Side(folder, folder / ".venv" / "bin" / "python")


def review(environment: str, before: Side, after: Side, out: Path) -> Review:
    """Compares both sides of one environment.

    Leaves its files in `out`: `<environment>/` with the head's manifests, `<environment>.diff`, `<environment>.sarif`.
    """
    told: dict[Side, list[str]] = {before: [], after: []}
    folders = {side: out / name / environment for side, name in ((before, "base"), (after, "head"))}
    budgets: dict[Side, Budget | None] = {before: None, after: None}
    for side, folder in folders.items():
        folder.mkdir(parents=True, exist_ok=True)
        if side.has(environment):
            budgets[side] = _budget(side, environment, told[side])
            _render(side, environment, folder, told[side])
    found = {side: _judged(side, environment, folder) for side, folder in folders.items()}
    if judged := found[after]:
        (out / f"{environment}.sarif").write_text(report.sarif(judged), encoding="utf-8")
    diff = None if any(told.values()) else _diff(out, environment)
    if diff is not None:
        (out / f"{environment}.diff").write_text(diff, encoding="utf-8")
    return Review(
        environment=environment,
        before=budgets[before],
        after=budgets[after],
        findings_before=_findings(found[before]),
        findings=_findings(found[after]),
        diff=diff,
        problems=tuple(told[after]),
        notes=tuple(told[before]),
    )


def _budget(side: Side, environment: str, problems: list[str]) -> Budget | None:
    done = side.run("commands.budget", "--env", environment)
    if done.returncode == 0:
        return Budget.model_validate_json(done.stdout)
    problems.append(f"the pod budget is not known: {done.stderr.strip()}")
    return None


def _render(side: Side, environment: str, folder: Path, problems: list[str]) -> None:
    options = ["--env", environment, "--out", str(folder), "--stand-in-secrets"]
    # Without the pack, so that there are files to compare and to judge; `make preview` and `make up` ask the pack.
    done = side.run("commands.render", *options, "--without-policies")
    if done.returncode:
        problems.append(f"cannot be rendered:\n{done.stdout}{done.stderr}".strip())


def _judged(side: Side, environment: str, folder: Path) -> Result | None:
    """What this side's manifests are to the head's policies; None where there are none."""
    if not any(folder.iterdir()):
        return None
    raw = stack_settings(side.root / f"Pulumi.{environment}.yaml").get("config", {}).get(CLUSTER, {})
    groups = raw.get("nodeGroups") if isinstance(raw, dict) else None
    try:
        config = take_apart({"pack-settings": {"nodeGroups": groups}} if groups else {})
    except ConfigError:
        config = take_apart({})  # the program says what is wrong with them
    # Relative, as SARIF wants it.
    return check(read_paths([Path(os.path.relpath(folder))]), config)


def _findings(result: Result | None) -> tuple[Finding, ...] | None:
    if result is None:
        return None
    entries: Sequence[dict[str, Any]] = json.loads(report.as_json(result))
    return tuple(Finding.model_validate(entry) for entry in entries)


def _diff(out: Path, environment: str) -> str:
    """As git writes it, renamed files with their changes only: configurations carry their digest in their name."""
    settings = ["-c", "core.quotePath=true", "-c", "diff.renameLimit=2000"]
    options = [
        "--no-index",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--find-renames=60%",
        "--no-prefix",
    ]
    done = subprocess.run(
        ["git", *settings, "diff", *options, "--", f"base/{environment}", f"head/{environment}"],
        cwd=out,
        env={
            **os.environ,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_DIR": os.devnull,
        },
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode not in {0, 1}:
        raise CommandError(f"git diff failed: {done.stderr.strip()}")
    return done.stdout
