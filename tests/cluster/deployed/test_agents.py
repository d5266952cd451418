"""Node agents, counted by the nodes that their pods are bound to: what a DaemonSet desires forgets nodes."""

from collections import Counter

import pytest

from components.names import LAYER_NAMESPACE, NODES_NAMESPACE
from simulator import nodes
from simulator.nodes import Nodes
from tests.cluster.deployed import environment
from tests.support.agents import AGENTS, add_full_node, nodes_of
from tests.support.deployment import Deployment
from tests.support.inventory import everything, is_labelled
from tests.support.kube import Kube, is_ready, wait_until

DECLARED = {node["metadata"]["name"] for node in environment.declared_nodes()}
JOIN_SECONDS = 60  # it takes 1; the scheduler asks again after up to 10, several times


@pytest.mark.parametrize("agent", AGENTS)
def test_each_declared_node_has_exactly_one_agent_and_no_other_node_has_any(
    deployed: Deployment, kube: Kube, agent: str
) -> None:
    assert len(DECLARED) == 19
    live = {node["metadata"]["name"] for node in kube.list("nodes")}
    assert {"fargate-0", "windows-0", "undeclared-0"} == live - DECLARED
    assert nodes_of(kube, agent) == dict.fromkeys(DECLARED, 1)


def test_tainted_nodes_still_carry_the_taints_that_the_agents_tolerate(
    deployed: Deployment, kube: Kube
) -> None:
    taints = {node["metadata"]["name"]: node["spec"].get("taints", []) for node in kube.list("nodes")}
    assert [taint["key"] for taint in taints["batch-0"]] == ["dedicated"]
    assert [taint["key"] for taint in taints["starting-0"]] == [environment.STARTUP_TAINT["key"]]


def test_every_pod_of_the_layer_runs_and_beside_the_agents_there_are_at_most_six(
    deployed: Deployment, kube: Kube
) -> None:
    agents, others = kube.list("pods", NODES_NAMESPACE), kube.list("pods", LAYER_NAMESPACE)
    assert [pod for pod in [*agents, *others] if not is_ready(pod)] == []
    assert len(agents) == len(AGENTS) * len(DECLARED)
    names = Counter(pod["metadata"]["labels"]["app.kubernetes.io/name"] for pod in others)
    assert names == {"prometheus": 1, "kube-state-metrics": 1, "loki": 1, "gateway": 1}
    ours = Counter(ref.namespace for ref in everything(kube, is_labelled) if ref.kind == "pods")
    everybodys = Counter(ref.namespace for ref in everything(kube) if ref.kind == "pods")
    for namespace in (LAYER_NAMESPACE, NODES_NAMESPACE):
        assert ours.pop(namespace) == everybodys[namespace]
    # A Grafana for each team, in the first of its namespaces; and the one collector.
    grafanas = {"shop": 1, "billing": 1, "search-api": 1, "mobile": 1, "reports": 1, "edge": 1}
    assert ours == Counter(grafanas) + Counter(edge=1)


def test_the_layers_own_pods_run_in_the_group_that_the_settings_name(
    deployed: Deployment, kube: Kube
) -> None:
    assert environment.settings().layer.runs_on == ("workers",)
    nodes_used = {pod["spec"]["nodeName"].rpartition("-")[0] for pod in kube.list("pods", LAYER_NAMESPACE)}
    assert nodes_used == {"workers"}


def test_a_node_that_joins_a_declared_group_gets_its_agents(deployed: Deployment, kube: Kube) -> None:
    fleet, group = Nodes(kube), environment.settings().cluster.node_groups["spot"]
    fleet.add(nodes.of_group("spot", group, 1))
    try:
        wait_for_agents(kube, "spot-1")
    finally:
        fleet.remove("spot-1")


def test_on_a_full_node_the_agents_displace_about_as_many_pods_as_they_are(
    deployed: Deployment, kube: Kube
) -> None:
    group = environment.settings().cluster.node_groups["small"]
    others = {pod["metadata"]["uid"] for pod in kube.list("pods")}
    names = add_full_node(kube, nodes.of_group("small", group, 1), "shop")
    try:
        wait_for_agents(kube, "small-1")
        found = kube.list("pods", fieldSelector="spec.nodeName=small-1")
        left = [pod for pod in found if pod["metadata"]["name"] in names]
        # A third one goes when the scheduler decides for the second agent before it has seen the first one's victim
        # go: 7 of 60 times.
        assert len(names) - len(left) in {len(AGENTS), len(AGENTS) + 1}
        wait_until(lambda: len(kube.events("shop", "Preempted")) >= len(AGENTS), 10, "no event tells of it")
        assert others <= {pod["metadata"]["uid"] for pod in kube.list("pods")}
    finally:
        Nodes(kube).remove("small-1")


def wait_for_agents(kube: Kube, node: str) -> None:
    def there() -> bool:
        return all(nodes_of(kube, agent)[node] == 1 for agent in AGENTS)

    wait_until(there, JOIN_SECONDS, lambda: f"agents missing on {node}:{kube.describe(NODES_NAMESPACE)}")
