"""The simulated cluster is what the other cluster tests take it for: asked from its API server."""

from pathlib import Path

import pytest

from components.settings.model import Cluster
from simulator import commands, nodes, teams
from simulator.control_plane import ControlPlane
from simulator.nodes import Nodes
from tests.support.cleaning import stated_labels
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
    if commands.private_tmp(control_plane.state):  # else this machine allows no mount namespace
        assert not path.exists()
        path = control_plane.state / path.relative_to("/")
    assert path.is_dir()


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
