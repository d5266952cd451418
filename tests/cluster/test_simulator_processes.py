"""The simulator's processes: killed, started again, side by side, and as `make simulator` runs them."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator import nodes, teams
from simulator.control_plane import NAMES, ControlPlane
from simulator.nodes import Nodes
from simulator.processes import Processes
from simulator.tools import PROJECT
from tests.support.cleaning import Snapshot, restore
from tests.support.kube import Kube


@pytest.fixture
def deployment(kube: Kube, namespace: str) -> Kube:
    """An app with four pods, running."""
    kube.apply(teams.deployment(namespace, replicas=4))
    kube.wait_for_pods(4, namespace)
    return kube


# --- processes ---


@pytest.mark.parametrize("name", ["apiserver", "etcd", "kwok"])
def test_a_killed_process_comes_back_on_its_port_and_nothing_is_lost(
    deployment: Kube, control_plane: ControlPlane, namespace: str, name: str
) -> None:
    before = {found["metadata"]["uid"] for found in deployment.running(namespace)}
    control_plane.kill(name)
    assert not control_plane.running()[name]
    control_plane.restart(name)
    assert control_plane.running() == dict.fromkeys(NAMES, True)
    assert {found["metadata"]["uid"] for found in deployment.running(namespace)} == before
    deployment.apply(teams.deployment(namespace, "later", replicas=1))
    deployment.wait_for_pods(1, namespace, "app.kubernetes.io/name=later")


def test_two_run_side_by_side_and_stop_leaves_no_process_of_ours(
    kube: Kube, tmp_path: Path, control_plane: ControlPlane
) -> None:
    with ControlPlane(tmp_path / "second", context="other") as second:
        started = second.processes.all().values()
        other = Kube(second.kubeconfig)
        assert [node["metadata"]["name"] for node in other.list("nodes")] == []
        other.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "only-there"}})
        assert kube.find("namespaces", "only-there") is None
        assert len(listening(second)) == 3
    assert not [process for process in started if process.alive()]
    assert second.running() == {}
    assert all(control_plane.running().values())
    assert len(kube.list("nodes")) == 15


def listening(plane: ControlPlane) -> set[str]:
    """Local addresses on which a control plane's processes listen; fails for any that is not loopback."""
    table = (
        Path("/proc/net/tcp").read_text().splitlines()[1:]
        + Path("/proc/net/tcp6").read_text().splitlines()[1:]
    )
    open_sockets = {row.split()[9]: row.split()[1] for row in table if row.split()[3] == "0A"}
    found = set()
    for process in plane.processes.all().values():
        for handle in Path(f"/proc/{process.pid}/fd").iterdir():
            inode = str(handle.readlink()).removeprefix("socket:[").removesuffix("]")
            found |= {open_sockets[inode]} if inode in open_sockets else set()
    assert all(address.startswith("0100007F:") for address in found), found
    return found


# --- what the user runs ---


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project of its own with the environment `sim`, and no simulator left."""
    monkeypatch.delenv("PULUMI_BACKEND_URL", raising=False)
    for name in ("Pulumi.yaml", "Pulumi.sim.yaml"):
        shutil.copy(PROJECT / name, tmp_path)
    yield tmp_path
    Processes(tmp_path / ".simulator" / "sim").stop()


def simulator(command: str, project: Path) -> str:
    arguments = [sys.executable, "-m", "simulator", command, "--project", str(project)]
    done = subprocess.run(arguments, cwd=PROJECT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_make_simulator_starts_once_and_stops(project: Path) -> None:
    state = project / ".pulumi/state/.pulumi/stacks/shared-observability/sim.json"
    state.parent.mkdir(parents=True)
    state.write_text("{}")
    out = simulator("start", project)
    assert "web-0 ... web-4 (5)          t3.large    35\n" in out
    assert "batch-0                      r5a.xlarge  58        dedicated=batch:NoSchedule\n" in out
    assert "make up ENV=sim" in out
    assert not state.exists()

    kubeconfig = project / ".simulator/sim/kubeconfig"
    assert kubeconfig.stat().st_mode & 0o077 == 0
    kube = Kube(kubeconfig)
    for name in ("shop", "billing", "search-api", "search-index", "mobile", "reports"):
        assert len(kube.running(name)) == teams.REPLICAS
    before = Processes(project / ".simulator/sim").all()
    state.write_text("{}")
    again = simulator("start", project)
    assert "runs already" in again
    assert "are not those of" not in again
    assert state.exists()
    assert Processes(project / ".simulator/sim").all() == before

    file = project / "Pulumi.sim.yaml"
    file.write_text(file.read_text().replace("nodes: 5", "nodes: 6"))
    assert "Its nodes are not those of Pulumi.sim.yaml (differing: web-5)" in simulator("start", project)

    assert "Stopped: etcd, apiserver" in simulator("stop", project)
    assert not [process for process in before.values() if process.alive()]
    assert not kubeconfig.exists()


# --- the shared cluster itself ---


def test_a_test_gives_the_cluster_back(kube: Kube, untouched: Snapshot) -> None:
    begun = time.monotonic()
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "left"}})
    kube.apply(teams.deployment("left"))
    kube.kubectl("create", "clusterrole", "left", "--verb=list", "--resource=pods")
    kube.kubectl("create", "priorityclass", "left", "--value=5")
    fleet = Nodes(kube)
    fleet.add(nodes.fargate())
    fleet.taint("web-0", "left")
    fleet.label("web-1", left="yes")
    fleet.remove("web-2")
    restore(kube, untouched)
    before = {node["metadata"]["name"] for node in untouched.nodes}
    assert {node["metadata"]["name"] for node in kube.list("nodes")} == before
    assert not [node for node in kube.list("nodes") if "left" in node["metadata"]["labels"]]
    assert "taints" not in kube.get("nodes", "web-0")["spec"]
    for kind in ("namespaces", "clusterroles", "priorityclasses"):
        assert kube.find(kind, "left") is None
    assert time.monotonic() - begun < 30
