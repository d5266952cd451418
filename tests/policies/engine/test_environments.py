"""The project's own environments have nothing that the pack refuses: rendered, they pass without a word."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.policies.engine.conftest import ROOT

ENVIRONMENTS = sorted(path.name.split(".")[1] for path in ROOT.glob("Pulumi.*.yaml"))


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_a_rendered_environment_passes_without_violations(environment: str, tmp_path: Path) -> None:
    rendered = tmp_path / "rendered"
    render = [sys.executable, "-m", "commands.render", "--env", environment, "--out", str(rendered)]
    done = subprocess.run(render, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    check = [sys.executable, "-m", "policies.check", str(rendered), "--format", "json"]
    judged = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)
    entries = json.loads(judged.stdout)
    assert [entry["message"] for entry in entries if entry["verdict"] == "violation"] == []
    # The render does not hold the node groups; everything else is decided.
    assert {entry["rule"] for entry in entries} <= {"pod-slots"}
    assert judged.returncode == 0
    assert list(rendered.rglob("*.yaml"))
