"""DaemonSets that were there before the layer: what is read of them, what is refused, and what is only said."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from typing_extensions import override

from components.cluster.daemon_sets import DaemonSet, read, takes_port
from components.cluster.kubectl import Kubectl
from components.cluster.live import Live
from components.cluster.live_nodes import NodeFacts
from components.cluster.refusals.other_agents import mistakes, notes
from tests.support.environments import INCIDENT, changed, parsed

SETTINGS = parsed(INCIDENT)


@dataclass(frozen=True)
class Cluster(Kubectl):
    """Answers from a table; what it was asked for is kept."""

    answers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @override
    def objects(self, *arguments: str) -> list[dict[str, Any]]:
        self.asked.append(arguments[0])
        return self.answers.get(arguments[0], [])


def pod_spec(port: int, *, host_port: int = 0, host_network: bool = False, **more: Any) -> dict[str, Any]:
    ports = [{"containerPort": port, **({"hostPort": host_port} if host_port else {})}]
    return {"hostNetwork": host_network, "containers": [{"name": "a", "ports": ports}], **more}


def daemon_set(namespace: str, name: str, spec: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": f"uid-of-{namespace}-{name}",
            "labels": labels,
        },
        "spec": {"template": {"spec": spec}},
        "status": {"desiredNumberScheduled": 15},
    }


def pod(owner: str, node: str) -> dict[str, Any]:
    return {"metadata": {"ownerReferences": [{"uid": owner}]}, "spec": {"nodeName": node} if node else {}}


# --- what is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "taken"),
    [
        (pod_spec(9100), False),
        (pod_spec(9100, host_network=True), True),
        (pod_spec(80, host_port=9100), True),
        (pod_spec(9100, host_port=9101), False),
        ({"hostNetwork": True, "containers": [{"name": "silent"}]}, False),
        ({"containers": [], "initContainers": [{"ports": [{"containerPort": 1, "hostPort": 9100}]}]}, True),
        ({"containers": [{"ports": [{"containerPort": 1, "hostPort": 9100, "protocol": "UDP"}]}]}, False),
    ],
)
def test_a_port_of_the_node_is_a_host_port_or_any_port_in_the_nodes_network(
    spec: dict[str, Any], taken: bool
) -> None:
    assert takes_port(spec, 9100) == taken


def test_read_are_others_daemonsets_and_the_nodes_on_which_their_pods_hold_the_port() -> None:
    exporter = daemon_set(
        "monitoring", "exporter", pod_spec(9100, host_network=True, priorityClassName="high")
    )
    ours = daemon_set("x", "y", pod_spec(9100, host_network=True), **{"shared-observability/owner": "prod"})
    uid = exporter["metadata"]["uid"]
    cluster = Cluster(
        "k",
        "c",
        answers={
            "daemonsets": [exporter, ours, daemon_set("shop", "alloy", pod_spec(12345))],
            "pods": [pod(uid, "web-1"), pod(uid, "web-0"), pod(uid, ""), pod("x", "web-2")],
        },
    )
    assert read(cluster) == (
        DaemonSet("monitoring", "exporter", 15, "high", ("web-0", "web-1")),
        DaemonSet("shop", "alloy", 15),
    )


def test_pods_are_read_only_where_somebody_takes_the_port() -> None:
    cluster = Cluster("k", "c", answers={"daemonsets": [daemon_set("shop", "alloy", pod_spec(12345))]})
    read(cluster)
    assert cluster.asked == ["daemonsets"]


# --- what is said ----------------------------------------------------------------------------------------------------


def live(*found: DaemonSet, **more: Any) -> Live:
    """A cluster with two nodes of a declared group, and one of none."""
    group = {"web-0": "web", "web-1": "web", "other-0": "other"}
    labels = {
        name: {"kubernetes.io/os": "linux", "eks.amazonaws.com/nodegroup": of} for name, of in group.items()
    }
    return Live("uid", daemon_sets=found, nodes=tuple(NodeFacts(*node) for node in labels.items()), **more)


def exporter(priority_class: str = "", on: tuple[str, ...] = ("other-0", "web-0", "web-1")) -> DaemonSet:
    return DaemonSet("monitoring", "exporter", 15, priority_class, on)


def test_a_holder_on_nodes_of_others_is_nobodys_business() -> None:
    one = exporter("system-cluster-critical", ("other-0",))
    assert list(mistakes(SETTINGS, live(one))) == []
    assert list(notes(SETTINGS, live(one))) == []


@pytest.mark.parametrize(
    ("one", "more", "preempt"),
    [
        (exporter("system-cluster-critical"), {}, True),
        (exporter("urgent"), {"priorities": {"urgent": 1_000_000}}, True),
        (exporter(), {"priorities": {"all": 2_000_000}, "default_priority_class": "all"}, True),
        (exporter(), {}, False),
    ],
    ids=["critical", "as high as ours", "high by default", "ours displace nobody"],
)
def test_a_port_that_ours_would_wait_for_is_refused(
    one: DaemonSet, more: dict[str, Any], preempt: bool
) -> None:
    settings = parsed(changed(INCIDENT, ("layer.agents", {"preempt": preempt})))
    (found,) = mistakes(settings, live(one, **more))
    assert found.path == "layer.hostMetrics"
    assert "monitoring/exporter holds its port 9100 on 2 nodes (web-0, web-1)" in found.problem
    assert "kind: existing" in found.remedy
    assert list(notes(settings, live(one, **more))) == []


@pytest.mark.parametrize(
    ("one", "more"),
    [(exporter(), {}), (exporter("low"), {"priorities": {"low": 999_999}})],
    ids=["without a class", "of a lower one"],
)
def test_a_port_whose_holder_ours_displace_is_said(one: DaemonSet, more: dict[str, Any]) -> None:
    assert list(mistakes(SETTINGS, live(one, **more))) == []
    (line,) = notes(SETTINGS, live(one, **more))
    assert "monitoring/exporter holds port 9100 on 2 nodes" in line
    assert "stay Pending" in line


@pytest.mark.parametrize(
    "change",
    [
        ("layer.hostMetrics", "alloy"),
        ("layer.hostMetrics", "none"),
        ("layer.metrics", "off"),
        ("layer.hostMetrics", {"kind": "existing", "selector": {"app": "e"}, "namespace": "monitoring"}),
    ],
    ids=["alloy", "none", "no metrics", "existing"],
)
def test_without_an_exporter_of_ours_the_port_is_nobodys_business(change: tuple[str, Any]) -> None:
    settings = parsed(changed(INCIDENT, change))
    one = exporter("system-cluster-critical")
    assert list(mistakes(settings, live(one))) == []
    assert list(notes(settings, live(one))) == []


def test_agents_in_tenants_namespaces_are_listed_in_one_line_and_others_are_not() -> None:
    theirs = [DaemonSet("shop", f"agent-{i}", 15) for i in range(6)]
    (line,) = notes(
        SETTINGS, live(*theirs, DaemonSet("kube-system", "aws-node", 15), DaemonSet("shop", "idle"))
    )
    assert "6 DaemonSets with 90 pods" in line
    assert "shop/agent-0, shop/agent-1, shop/agent-2, shop/agent-3, shop/agent-4 and 1 more" in line
    assert "aws-node" not in line
    assert "docs/migration.md" in line
    assert list(mistakes(SETTINGS, live(*theirs))) == []


def test_a_render_says_nothing() -> None:
    assert list(notes(SETTINGS, None)) == []
