"""Simulated nodes are what the settings declare."""

import pytest

from components.cluster import node_groups
from components.settings.model import Cluster, NodeGroup
from simulator import nodes
from simulator.api import Object
from simulator.environment import read
from simulator.tools import SimulatorError


def cluster(**groups: Object) -> Cluster:
    target = {"kind": "render", "directory": "rendered"}
    # strict=False as from JSON, where a tuple is a list
    return Cluster.model_validate({"name": "x", "target": target, "nodeGroups": groups}, strict=False)


def names(made: list[Object]) -> list[str]:
    return [node["metadata"]["name"] for node in made]


def test_the_incidents_fifteen_nodes_have_the_incidents_pod_slots() -> None:
    made = nodes.of_cluster(read("sim").settings.cluster)
    assert len(made) == 15
    assert sum(int(node["status"]["allocatable"]["pods"]) for node in made) == 5 * 35 + 10 * 58


def test_a_node_carries_its_groups_label_type_size_and_taints() -> None:
    taint = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
    group = {"instanceTypes": ["r5a.xlarge"], "nodes": 1, "taints": [taint]}
    (node,) = nodes.of_cluster(cluster(batch=group))
    labels = node["metadata"]["labels"]
    assert labels["eks.amazonaws.com/nodegroup"] == "batch"
    assert labels["node.kubernetes.io/instance-type"] == "r5a.xlarge"
    assert labels["kubernetes.io/hostname"] == node["metadata"]["name"] == "batch-0"
    assert (labels["kubernetes.io/os"], labels["kubernetes.io/arch"]) == ("linux", "amd64")
    assert node["spec"]["taints"] == [taint]
    assert node["status"]["capacity"] == {"cpu": "4", "memory": "32768Mi", "pods": "58"}
    # 255 + 11 x 58 + 100 Mi and 80 m are reserved
    assert node["status"]["allocatable"] == {"cpu": "3920m", "memory": "31775Mi", "pods": "58"}


@pytest.mark.parametrize(
    ("group", "label"),
    [
        ({"kind": "nodePool", "instanceTypes": ["m5.large"]}, ("karpenter.sh/nodepool", "x")),
        ({"kind": "autoMode", "instanceTypes": ["m5.large"]}, ("karpenter.sh/nodepool", "x")),
        ({"kind": "autoMode", "maxPods": 20}, ("eks.amazonaws.com/compute-type", "auto")),
        ({"kind": "other", "maxPods": 20, "selector": {"key": "team", "values": ["a", "b"]}}, ("team", "a")),
    ],
)
def test_each_kind_of_group_is_known_by_its_own_label(group: Object, label: tuple[str, str]) -> None:
    (node,) = nodes.of_cluster(cluster(x={"nodes": 1, **group}))
    assert label in node["metadata"]["labels"].items()


def test_max_pods_are_the_groups_own_whatever_decides_them() -> None:
    groups = cluster(
        stated={"maxPods": 17, "nodes": 1},
        prefixes={"instanceTypes": ["m5.large"], "podAddresses": "prefix", "nodes": 1},
        mixed={"instanceTypes": ["m5.24xlarge", "t3.small"], "nodes": 2},
    )
    made = {
        node["metadata"]["name"]: int(node["status"]["capacity"]["pods"]) for node in nodes.of_cluster(groups)
    }
    assert made == {
        f"{name}-{i}": node_groups.max_pods(group)
        for name, group in groups.node_groups.items()
        for i in range(node_groups.nodes_min(group))
    }


def test_of_several_instance_types_nodes_get_each_in_turn() -> None:
    made = nodes.of_cluster(cluster(x={"instanceTypes": ["m5.large", "m6g.large"], "nodes": 3}))
    kinds = [node["metadata"]["labels"]["node.kubernetes.io/instance-type"] for node in made]
    assert kinds == ["m5.large", "m6g.large", "m5.large"]
    assert [node["metadata"]["labels"]["kubernetes.io/arch"] for node in made] == ["amd64", "arm64", "amd64"]


def test_an_autoscaled_group_has_its_minimum_and_at_least_one_node() -> None:
    groups = cluster(
        a={"maxPods": 9, "nodes": {"min": 2, "max": 5}}, b={"maxPods": 9, "nodes": {"min": 0, "max": 5}}
    )
    assert names(nodes.of_cluster(groups)) == ["a-0", "a-1", "b-0"]


def test_startup_taints_are_on_a_starting_node_only() -> None:
    taint = {"key": "node.cilium.io/agent-not-ready", "value": "true", "effect": "NoExecute"}
    groups = cluster(x={"maxPods": 9, "nodes": 1, "startupTaints": [taint]}).node_groups
    assert nodes.of_group("x", groups["x"], 0)["spec"]["taints"] == []
    assert nodes.of_group("x", groups["x"], 0, starting=True)["spec"]["taints"] == [taint]


def test_node_names_are_dns_labels_and_a_clash_is_told() -> None:
    group = {"maxPods": 9, "nodes": 1}
    assert names(nodes.of_cluster(cluster(Web_A=group))) == ["web-a-0"]
    with pytest.raises(SimulatorError, match="web-a-0"):
        nodes.of_cluster(cluster(**{"Web_A": group, "web-a": group}))


def test_a_windows_node_differs_from_its_group_by_the_os_alone() -> None:
    group = NodeGroup(max_pods=9, nodes=1)
    made = nodes.windows("win-0", "web", group)["metadata"]["labels"]
    assert nodes.group_labels("web", group).items() <= made.items()
    assert made["kubernetes.io/os"] == "windows"
