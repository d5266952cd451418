"""The simulated cluster is what the other cluster tests take it for: asked from its API server."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.settings.model import Cluster
from simulator import nodes, teams
from simulator.control_plane import NAMES, ControlPlane
from simulator.nodes import Nodes
from simulator.processes import Processes
from simulator.tools import PROJECT
from tests.support.cleaning import Snapshot, restore, stated_labels
from tests.support.kube import Kube, Object, wait_until


@pytest.fixture
def deployment(kube: Kube, namespace: str) -> Kube:
    """An app with four pods, running."""
    kube.apply(teams.deployment(namespace, replicas=4))
    kube.wait_for_pods(4, namespace)
    return kube


def claim(namespace: str, name: str, size: str = "1Gi") -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}},
    }


def pod(namespace: str, name: str, **spec: object) -> Object:
    containers = [{"name": "c", "image": teams.IMAGE, "resources": {"requests": {"cpu": "10m"}}}]
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers, **spec},
    }


def daemon_set(namespace: str, name: str, groups: list[str], tolerations: list[Object]) -> Object:
    template = teams.deployment(namespace, name)["spec"]["template"]
    term = {"key": "eks.amazonaws.com/nodegroup", "operator": "In", "values": groups}
    required = {"nodeSelectorTerms": [{"matchExpressions": [term]}]}
    template["spec"]["affinity"] = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
    }
    template["spec"]["tolerations"] = tolerations
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"matchLabels": template["metadata"]["labels"]}, "template": template},
    }


# --- nodes ---


def test_the_nodes_are_those_that_the_settings_declare(kube: Kube, cluster: Cluster) -> None:
    live = {node["metadata"]["name"]: node for node in kube.list("nodes")}
    declared = {node["metadata"]["name"]: node for node in nodes.of_cluster(cluster)}
    assert live.keys() == declared.keys()
    for name, node in declared.items():
        assert stated_labels(live[name]) == node["metadata"]["labels"]
        assert live[name]["spec"].get("taints", []) == node["spec"]["taints"]
        assert live[name]["status"]["allocatable"]["pods"] == node["status"]["allocatable"]["pods"]


def test_a_daemon_set_reaches_declared_nodes_and_one_that_joins_later(
    clean: Kube, fleet: Nodes, namespace: str
) -> None:
    toleration = {"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}
    clean.apply(daemon_set(namespace, "agent", ["web", "workers", "batch"], [toleration]))
    clean.wait_for_pods(15, namespace)
    web = nodes.of_cluster(nodes_of("web", 6))[-1]
    group = nodes_of("web", 1).node_groups["web"]
    fleet.add(web, nodes.fargate(), nodes.undeclared(), nodes.windows("windows-0", "web", group))
    running = clean.wait_for_pods(16, namespace)
    assert web["metadata"]["name"] in {found["spec"]["nodeName"] for found in running}


def nodes_of(name: str, count: int) -> Cluster:
    """A cluster of one group of t3.large."""
    groups = {name: {"instanceTypes": ["t3.large"], "nodes": count}}
    target = {"kind": "render", "directory": "rendered"}
    return Cluster.model_validate({"name": "x", "target": target, "nodeGroups": groups}, strict=False)


def test_a_removed_node_takes_its_pods_along_and_a_tainted_one_gets_none(
    clean: Kube, fleet: Nodes, namespace: str, cluster: Cluster
) -> None:
    for name in ("web-0", "web-1", "web-2"):
        clean.apply(pod(namespace, name, nodeName=name))
    clean.wait_for_pods(3, namespace)
    fleet.remove("web-0")
    clean.wait_for_pods(2, namespace)
    fleet.taint("web-1", "broken", "yes", "NoExecute")
    clean.wait_for_pods(1, namespace)
    fleet.untaint("web-1", "broken")
    assert clean.get("nodes", "web-1")["spec"].get("taints", []) == []


def test_a_node_can_be_not_ready_and_recover(clean: Kube, fleet: Nodes) -> None:
    def taints() -> set[str]:
        return {taint["key"] for taint in clean.get("nodes", "web-3")["spec"].get("taints", [])}

    fleet.label("web-3", **{"sim/not-ready": "true"})
    wait_until(lambda: "node.kubernetes.io/not-ready" in taints(), 10, "web-3 is not tainted as not ready")
    fleet.label("web-3", **{"sim/not-ready": None})
    fleet.wait_ready("web-3")


# --- pods ---


def test_pods_run_spread_over_nodes_without_taints_with_an_address_each(
    deployment: Kube, namespace: str
) -> None:
    pods = deployment.running(namespace)
    assert len({found["status"]["podIP"] for found in pods}) == 4
    assert not [found for found in pods if found["spec"]["nodeName"].startswith("batch")]
    statuses = [found["status"]["containerStatuses"][0] for found in pods]
    assert {status["resources"]["requests"]["cpu"] for status in statuses} == {"10m"}


def test_pods_say_that_they_are_not_ready_and_get_ready_again(kube: Kube, namespace: str) -> None:
    kube.apply(pod(namespace, "p"))
    kube.wait_for_pods(1, namespace)
    annotate(kube, namespace, "p", "sim/not-ready", "the config is broken")
    kube.wait_for_pods(0, namespace)
    assert "the config is broken" in kube.describe(namespace)
    annotate(kube, namespace, "p", "sim/not-ready", None)
    kube.wait_for_pods(1, namespace)


def test_a_pod_is_killed_for_its_memory(kube: Kube, namespace: str) -> None:
    kube.apply(pod(namespace, "p"))
    kube.wait_for_pods(1, namespace)
    annotate(kube, namespace, "p", "sim/oom-count", "1")

    def reason() -> str:
        status = kube.get("pods", "p", namespace)["status"]["containerStatuses"][0]
        return str(status["lastState"].get("terminated", {}).get("reason", ""))

    assert wait_until(reason, 10, "no OOM kill") == "OOMKilled"


def test_a_pod_is_resized_in_place(kube: Kube, namespace: str) -> None:
    kube.apply(pod(namespace, "p"))
    kube.wait_for_pods(1, namespace)
    containers = [{"name": "c", "resources": {"requests": {"cpu": "25m"}}}]
    change = {"spec": {"containers": containers}}
    kube.patch("pods", "p", change, namespace, sub="resize", strategic=True)

    def requests() -> str:
        status = kube.get("pods", "p", namespace)["status"]["containerStatuses"][0]
        return str(status["resources"]["requests"]["cpu"])

    wait_until(lambda: requests() == "25m", 10, "the pod was not resized")


def annotate(kube: Kube, namespace: str, name: str, key: str, value: str | None) -> None:
    kube.patch("pods", name, {"metadata": {"annotations": {key: value}}}, namespace)


def test_a_full_node_keeps_a_further_pod_pending(clean: Kube, fleet: Nodes, namespace: str) -> None:
    tiny = nodes.node("tiny", labels={"size": "tiny"}, max_pods=1)
    fleet.add(tiny)
    clean.apply(pod(namespace, "first", nodeSelector={"size": "tiny"}))
    clean.wait_for_pods(1, namespace)
    clean.apply(pod(namespace, "second", nodeSelector={"size": "tiny"}))
    wait_until(lambda: "Too many pods" in clean.describe(namespace), 10, lambda: clean.describe(namespace))


# --- admission, authorizer, storage ---


def test_pod_security_is_enforced_by_admission(kube: Kube, namespace: str) -> None:
    label = {"pod-security.kubernetes.io/enforce": "restricted"}
    kube.patch("namespaces", namespace, {"metadata": {"labels": label}})
    refused = kube.kubectl("-n", namespace, "run", "naked", "--image", teams.IMAGE)
    assert "violates PodSecurity" in refused.stderr
    kube.apply(teams.deployment(namespace, replicas=1))
    kube.wait_for_pods(1, namespace)


def test_the_authorizer_is_the_real_one(kube: Kube, namespace: str) -> None:
    assert not kube.may(namespace, "default", "list", "pods", namespace)
    kube.kubectl("-n", namespace, "create", "role", "r", "--verb=list", "--resource=pods")
    kube.kubectl(
        "-n", namespace, "create", "rolebinding", "r", "--role=r", f"--serviceaccount={namespace}:default"
    )
    wait_until(lambda: kube.may(namespace, "default", "list", "pods", namespace), 5, "the role has no effect")
    assert not kube.may(namespace, "default", "list", "pods")
    assert kube.as_service_account(namespace, "default").list("pods", namespace) == []


def test_a_claim_binds_when_a_pod_uses_it_and_its_files_are_not_in_tmp(
    kube: Kube, control_plane: ControlPlane, namespace: str
) -> None:
    kube.apply(claim(namespace, "data"))
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
    kube.apply(pod(namespace, "p", volumes=[volume]))
    kube.wait_for_pods(1, namespace)
    bound = kube.get("persistentvolumeclaims", "data", namespace)
    assert bound["status"]["phase"] == "Bound"
    path = Path(kube.get("persistentvolumes", bound["spec"]["volumeName"])["spec"]["hostPath"]["path"])
    assert not path.exists()
    assert (control_plane.state / path.relative_to("/")).is_dir()


def test_a_claim_may_grow(kube: Kube, namespace: str) -> None:
    kube.apply(claim(namespace, "data"), pod(namespace, "p", volumes=[
        {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]))  # fmt: skip
    kube.wait_for_pods(1, namespace)
    kube.patch(
        "persistentvolumeclaims", "data", {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}, namespace
    )

    def size() -> str:
        return str(kube.get("persistentvolumeclaims", "data", namespace)["status"]["capacity"]["storage"])

    wait_until(lambda: size() == "2Gi", 10, "the claim did not grow")


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


def test_a_test_gives_the_cluster_back(kube: Kube, untouched: Snapshot, cluster: Cluster) -> None:
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
    test_the_nodes_are_those_that_the_settings_declare(kube, cluster)
    for kind in ("namespaces", "clusterroles", "priorityclasses"):
        assert kube.find(kind, "left") is None
    assert time.monotonic() - begun < 30
