"""What the engine and its provider are known to do wrong, and the program guards against."""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from commands.engine import TEMPORARY
from simulator.control_plane import ControlPlane
from tests.support.deployment import Deployment
from tests.support.inventory import Ref, everything, is_labelled, is_touched, versions
from tests.support.kube import Kube


def files_with(text: str, *folders: Path) -> list[Path]:
    """Files directly in some folders, or one folder deeper, that hold a text."""
    files = [file for folder in folders for pattern in ("*", "*/*") for file in folder.glob(pattern)]
    return [file for file in files if file.is_file() and text.encode() in file.read_bytes()]


@dataclass(frozen=True)
class Again:
    """A second deployment of the same settings, with a kubeconfig in the environment that leads to a dead cluster."""

    status: int
    said: str
    before: dict[Ref, tuple[str, int | str]]
    after: dict[Ref, tuple[str, int | str]]
    copies: list[Path]


@pytest.fixture(scope="module")
def again(
    deployed: Deployment, kube: Kube, control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Again:
    text = control_plane.kubeconfig.read_text()
    token = yaml.safe_load(text)["users"][0]["user"]["token"]
    assert files_with(token, control_plane.state) != []
    dead = tmp_path_factory.mktemp("dead") / "kubeconfig"
    dead.write_text(text.replace(f":{control_plane.port}", ":1").replace(token, "nobody"))
    before = versions(everything(kube, is_labelled))
    done = deployed.run("up", KUBECONFIG=str(dead))
    copies = files_with(token, Path(tempfile.gettempdir()), TEMPORARY)
    return Again(done.returncode, done.stdout, before, versions(everything(kube, is_labelled)), copies)


def test_deploying_again_writes_no_object_and_says_so(again: Again) -> None:
    assert len(again.before) > 80
    assert again.after == again.before
    assert re.search(r"^Resources:\n +\d+ unchanged$", again.said, re.MULTILINE), again.said


def test_a_kubeconfig_in_the_environment_leads_nowhere_else(again: Again) -> None:
    assert again.status == 0, again.said


def test_no_copy_of_the_kubeconfig_is_left_behind(again: Again) -> None:
    assert again.copies == []


def test_another_kind_of_target_is_refused_and_nothing_is_removed_or_written(
    deployed: Deployment, kube: Kube, tmp_path: Path
) -> None:
    before = versions(everything(kube, is_labelled))
    rendered = tmp_path / "rendered"
    said = deployed.refused(("cluster.target", {"kind": "render", "directory": str(rendered)}))
    assert "cluster.target.kind: was kubeconfig at the last deployment and is render now" in said, said
    assert "make destroy ENV=sim" in said
    assert versions(everything(kube, is_labelled)) == before
    assert not rendered.exists()


def test_another_cluster_with_the_old_state_is_refused_and_stays_empty(
    deployed: Deployment, kube: Kube, tmp_path: Path
) -> None:
    before = versions(everything(kube, is_labelled))
    with ControlPlane(tmp_path / "control-plane") as other:
        said = deployed.refused(("cluster.target.path", str(other.kubeconfig)))
        assert everything(Kube(other.kubeconfig), is_touched) == {}
        uid = other.api.get("namespaces", "kube-system")["metadata"]["uid"]
    assert "cluster.target: leads to another cluster than at the last deployment" in said, said
    assert uid in said
    assert versions(everything(kube, is_labelled)) == before
