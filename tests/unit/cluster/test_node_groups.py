"""What follows from a node group's settings."""

from typing import Any

import pytest

from components.cluster import node_groups
from components.settings.model import Cluster, NodeGroup, NodeRange, RenderTarget, Selector, Taint


def group(**fields: Any) -> NodeGroup:
    merged: dict[str, Any] = {"instance_types": ("t3.large",), "nodes": 1} | fields
    return NodeGroup(**merged)


def taint(effect: Any) -> Taint:
    return Taint(key="dedicated", value="batch", effect=effect)


CLUSTER = Cluster(
    name="dev",
    target=RenderTarget(kind="render", directory="out"),
    node_groups={
        "b": group(),
        "tainted": group(taints=(taint("NoSchedule"),)),
        "evicting": group(taints=(taint("NoExecute"),)),
        "preferred": group(taints=(taint("PreferNoSchedule"),)),
        "starting": group(startup_taints=(taint("NoSchedule"),)),
        "a": group(),
    },
)


def test_without_runs_on_all_groups_that_keep_no_pod_out_are_allowed() -> None:
    assert node_groups.allowed_groups(CLUSTER, ()) == ("b", "preferred", "starting", "a")


def test_runs_on_allows_exactly_the_groups_named_in_the_settings_order() -> None:
    assert node_groups.allowed_groups(CLUSTER, ["a", "tainted", "b"]) == ("b", "tainted", "a")


@pytest.mark.parametrize(
    ("kind", "label"),
    [
        ("managed", "eks.amazonaws.com/nodegroup"),
        ("nodePool", "karpenter.sh/nodepool"),
        ("autoMode", "karpenter.sh/nodepool"),
    ],
)
def test_a_kind_has_its_own_label_with_the_groups_name(kind: str, label: str) -> None:
    assert node_groups.selector("web", group(kind=kind)) == Selector(key=label, values=("web",))


def test_a_stated_selector_wins() -> None:
    stated = Selector(key="pool", values=("x", "y"))
    assert node_groups.selector("web", group(selector=stated)) == stated


def test_other_nodes_without_selector_are_an_error() -> None:
    with pytest.raises(ValueError, match="'edge' of kind other states no selector"):
        node_groups.selector("edge", group(kind="other"))


def test_the_clusters_own_pods_are_five_and_none_in_auto_mode_unless_stated() -> None:
    assert node_groups.system_pods(group()) == 5
    assert node_groups.system_pods(group(kind="nodePool")) == 5
    assert node_groups.system_pods(group(kind="autoMode")) == 0
    assert node_groups.system_pods(group(system_pods=0)) == 0
    assert node_groups.system_pods(group(kind="autoMode", system_pods=3)) == 3


def test_of_the_clusters_own_pods_those_on_the_host_network_take_no_address() -> None:
    assert node_groups.system_addresses(group()) == 1  # ebs-csi-node
    assert node_groups.system_addresses(group(system_pods=6)) == 4  # all but aws-node and kube-proxy
    assert node_groups.system_addresses(group(system_pods=1)) == 0
    assert node_groups.system_addresses(group(kind="autoMode")) == 0
    assert node_groups.system_addresses(group(kind="autoMode", system_pods=2)) == 2


def test_a_fixed_number_of_nodes_is_both_bounds() -> None:
    assert (node_groups.nodes_min(group(nodes=3)), node_groups.nodes_max(group(nodes=3))) == (3, 3)
    scaled = group(nodes=NodeRange(min=0, max=9))
    assert (node_groups.nodes_min(scaled), node_groups.nodes_max(scaled)) == (0, 9)


def test_max_pods_follows_from_the_type() -> None:
    assert node_groups.max_pods(group()) == 35
