"""What duplicate agents cost a cluster, per group of nodes."""

from typing import Any

from policies.duplicate_cost import cost, report
from policies.manifest import Origin
from policies.manifests import from_document
from policies.world import World


def node(name: str, group: str, slots: str = "35") -> dict[str, Any]:
    labels = (
        {"eks.amazonaws.com/nodegroup": group} if group else {"node.kubernetes.io/instance-type": "t3.large"}
    )
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"pods": slots}}}


def pod(namespace: str, owner: str, on: str, created: str = "1", phase: str = "Running") -> dict[str, Any]:
    owners = [{"kind": "DaemonSet", "name": owner, "controller": True}] if owner else []
    metadata = {
        "name": f"{owner}-{on}",
        "namespace": namespace,
        "creationTimestamp": created,
        "ownerReferences": owners,
    }
    return {"metadata": metadata, "spec": {"nodeName": on}, "status": {"phase": phase}}


def waiting(namespace: str, owner: str, wanted: str) -> dict[str, Any]:
    raw = pod(namespace, owner, wanted, phase="Pending")
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [wanted]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {**raw, "spec": {"affinity": {"nodeAffinity": required}}}


def world(*agents: tuple[str, str, str]) -> World:
    found = World(Origin.CLUSTER, complete=True)
    for namespace, name, image in agents:
        spec = {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}
        raw = {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": name, "namespace": namespace},
        }
        for manifest in from_document({**raw, "spec": spec}, "test", Origin.CLUSTER):
            found.add(manifest)
    return found


AGENTS = [
    ("a", "alloy", "grafana/alloy"),
    ("b", "alloy", "grafana/alloy"),
    ("b", "exporter", "x/node-exporter"),
]


def test_one_of_each_role_per_node_is_no_duplicate_the_others_are() -> None:
    nodes = [node("n1", "web"), node("n2", "web"), node("n3", "batch", "58")]
    pods = [pod(space, name, on) for on in ("n1", "n2") for space, name, _ in AGENTS]
    pods += [pod("a", "alloy", "n3"), pod("shop", "", "n1"), pod("shop", "", "n1", phase="Succeeded")]
    found = cost(world(*AGENTS), nodes, pods)
    assert (found["web"].nodes, found["web"].slots, found["web"].taken, found["web"].duplicates) == (
        2,
        70,
        7,
        2,
    )
    assert (found["batch"].slots, found["batch"].taken, found["batch"].duplicates) == (58, 1, 0)
    assert report(found)[1] == (
        "node group web: 2 nodes, 70 pod slots, 7 taken, 2 of them by duplicate agents; "
        "without duplicates 65 slots are free instead of 63"
    )


def test_a_duplicate_that_waits_takes_no_slot_and_is_named() -> None:
    pods = [pod("a", "alloy", "n1"), waiting("b", "alloy", "n1")]
    found = cost(world(*AGENTS), [node("n1", "web", "1")], pods)
    assert (found["web"].taken, found["web"].duplicates, found["web"].waiting) == (1, 0, 1)
    assert "1 more of them are Pending" in report(found)[0]


def test_without_duplicates_nothing_is_said() -> None:
    found = cost(
        world(AGENTS[0], AGENTS[2]), [node("n1", "")], [pod("a", "alloy", "n1"), pod("b", "exporter", "n1")]
    )
    assert found["t3.large"].taken == 2
    assert report(found) == []
