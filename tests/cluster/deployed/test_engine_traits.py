"""What the engine and its provider are known to do wrong, and the program guards against."""

import tempfile
from pathlib import Path

import yaml

from commands.engine import TEMPORARY
from simulator.control_plane import ControlPlane
from tests.support.deployment import Deployment
from tests.support.inventory import everything, is_labelled, is_touched, versions
from tests.support.kube import Kube


def files_with(text: str, *folders: Path) -> list[Path]:
    """Files directly in some folders, or one folder deeper, that hold a text."""
    files = [file for folder in folders for pattern in ("*", "*/*") for file in folder.glob(pattern)]
    return [file for file in files if file.is_file() and text.encode() in file.read_bytes()]


def test_no_copy_of_the_kubeconfig_is_left_behind(deployed: Deployment, control_plane: ControlPlane) -> None:
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    token = config["users"][0]["user"]["token"]
    assert files_with(token, control_plane.state) != []
    deployed.up()
    assert files_with(token, Path(tempfile.gettempdir()), TEMPORARY) == []


def test_a_kubeconfig_in_the_environment_leads_nowhere_else(
    deployed: Deployment, kube: Kube, control_plane: ControlPlane, tmp_path: Path
) -> None:
    dead = tmp_path / "kubeconfig"
    dead.write_text(control_plane.kubeconfig.read_text().replace(f":{control_plane.port}", ":1"))
    before = versions(everything(kube, is_labelled))
    done = deployed.run("up", KUBECONFIG=str(dead))
    assert done.returncode == 0, done.stdout
    assert versions(everything(kube, is_labelled)) == before


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
