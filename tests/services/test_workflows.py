"""The workflows under .github are read by actionlint: their syntax, contexts, expressions, and actions' inputs."""

import subprocess
from pathlib import Path

import pytest

from tests.services.running import tool
from tests.unit.workflow.files import WORKFLOWS

CHECKS = next(file for file in WORKFLOWS if file.stem == "checks")
BROKEN = {
    "a job that is not there": ("    name: make test\n", "    needs: build\n", "needs job"),
    "a key that is not there": ("    timeout-minutes: 90\n", "    timeout: 90\n", "unexpected key"),
    "an unknown context": ("github.ref }}", "github.refs }}", 'property "refs" is not defined'),
    "a title in a shell": ("run: .ci/run", "run: echo ${{ github.event.pull_request.title }}", "untrusted"),
}


def actionlint(*files: Path) -> subprocess.CompletedProcess[str]:
    # Other linters on PATH would make the answer depend on the machine.
    command = [tool("actionlint"), "-no-color", "-shellcheck=", "-pyflakes=", *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_actionlint_has_nothing_to_say() -> None:
    done = actionlint(*WORKFLOWS)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("right", "wrong", "told"), BROKEN.values(), ids=BROKEN)
def test_actionlint_would_find_a_mistake(right: str, wrong: str, told: str, tmp_path: Path) -> None:
    text = CHECKS.read_text(encoding="utf-8")
    assert right in text
    file = tmp_path / "broken.yml"
    file.write_text(text.replace(right, wrong, 1))
    done = actionlint(file)
    assert done.returncode == 1
    assert told in done.stdout
