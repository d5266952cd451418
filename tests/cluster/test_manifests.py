"""Everything that `make render` writes for dev is what an API server takes: applied by kubectl, on a dry run."""

from pathlib import Path

import pytest
import yaml

from commands.render import render
from simulator.api import Object
from tests.support.kube import Kube

# The kind of an operator that a cluster need not have; with references for secrets, it replaces Secret.
ABSENT = {"ExternalSecret"}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Object]:
    """The manifests by file, in the order in which `kubectl apply -f FOLDER` takes them."""
    out = tmp_path_factory.mktemp("rendered") / "dev"
    assert render("dev", out) == 0
    return {file: yaml.safe_load(file.read_text()) for file in sorted(out.iterdir())}


def test_the_api_server_takes_every_file_and_knows_every_field(
    rendered: dict[Path, Object], clean: Kube
) -> None:
    namespaces = [file for file, manifest in rendered.items() if manifest["kind"] == "Namespace"]
    others = [
        file
        for file, manifest in rendered.items()
        if file not in namespaces and manifest["kind"] not in ABSENT
    ]
    inside = [file for file, manifest in rendered.items() if "namespace" in manifest["metadata"]]
    assert max(namespaces) < min(inside)
    assert len(others) > 40
    # What goes into a namespace is judged only where there is one, also on a dry run.
    apply = ("apply", "--server-side", "--validate=strict", *(f"--filename={file}" for file in namespaces))
    made = clean.kubectl(*apply)
    assert (made.returncode, made.stderr) == (0, "")
    judged = clean.kubectl(*apply[:3], "--dry-run=server", *(f"--filename={file}" for file in others))
    assert judged.returncode == 0, judged.stderr
    assert judged.stdout.count("serverside-applied (server dry run)") == len(others)
    assert judged.stderr == ""


def test_a_field_that_the_api_server_does_not_know_would_be_refused(
    rendered: dict[Path, Object], clean: Kube, tmp_path: Path
) -> None:
    file = next(file for file, manifest in rendered.items() if manifest["kind"] == "PriorityClass")
    wrong = tmp_path / file.name
    wrong.write_text(file.read_text() + "preemptionPolici: Never\n")
    judged = clean.kubectl(
        "apply", "--server-side", "--validate=strict", "--dry-run=server", f"--filename={wrong}"
    )
    assert judged.returncode != 0
    assert "preemptionPolici" in judged.stderr
