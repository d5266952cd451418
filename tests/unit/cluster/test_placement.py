"""Placement on generated clusters and nodes: agents on exactly the nodes of declared groups, pods where they may."""

import json
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from components.cluster import node_groups
from components.cluster.placement import (
    OS_LABEL,
    Placement,
    Toleration,
    for_node_agents,
    for_pods,
)
from components.settings.model import Cluster, NodeGroup
from components.taints import is_hard
from tests.unit.components.scheduling import FARGATE, LINUX, Node, NodeTaint, lands

FAST = settings(deadline=None, max_examples=75)
NAMES = ("a", "b", "c", "d")
LABEL_KEYS = ("eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool", "example.com/pool", "example.com/team")
TAINT_KEYS = ("dedicated", "gpu", "init")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

taints = st.builds(
    lambda key, value, effect: {"key": key, "value": value, "effect": effect},
    st.sampled_from(TAINT_KEYS),
    st.sampled_from(("", "yes", "no")),
    st.sampled_from(EFFECTS),
)


@st.composite
def groups(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A group of any kind; its values are its own, as the settings want it."""
    kind = draw(st.sampled_from(("managed", "nodePool", "autoMode", "other")))
    key = draw(st.sampled_from(LABEL_KEYS))
    selector = {"key": key, "values": draw(st.sampled_from(([name], [name, f"{name}-2"])))}
    stated = kind == "other" or draw(st.booleans())
    return {
        "kind": kind,
        "maxPods": 20,
        "nodes": 1,
        "taints": draw(st.lists(taints, max_size=2)),
        "startupTaints": draw(st.lists(taints, max_size=2)),
        **({"selector": selector} if stated else {}),
    }


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """One to four groups."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    target = {"kind": "render", "directory": "x"}
    declared = {name: draw(groups(name)) for name in names}
    return Cluster.model_validate_json(_json({"name": "dev", "target": target, "nodeGroups": declared}))


def _json(value: Any) -> str:
    return json.dumps(value)


def node_taints(group: NodeGroup, *, startup: bool) -> tuple[NodeTaint, ...]:
    """Taints of a group's node, before or after something has removed the startup taints."""
    stated = (*group.taints, *(group.startup_taints if startup else ()))
    return tuple(NodeTaint(taint.key, taint.value, taint.effect) for taint in stated)


def node_labels(cluster: Cluster, name: str, which: int = 0) -> dict[str, str]:
    """Labels of a node of a declared group."""
    selector = node_groups.selector(name, cluster.node_groups[name])
    return {**LINUX, selector.key: selector.values[which % len(selector.values)]}


def is_declared(cluster: Cluster, labels: dict[str, str]) -> bool:
    """Whether any group selects a node with these labels."""
    selectors = (node_groups.selector(name, group) for name, group in cluster.node_groups.items())
    return any(labels.get(selector.key) in selector.values for selector in selectors)


@FAST
@given(cluster=clusters(), data=st.data())
def test_an_agent_lands_on_every_node_of_every_declared_group_with_or_without_startup_taints(
    cluster: Cluster, data: st.DataObject
) -> None:
    placement = for_node_agents(cluster)
    for name, group in cluster.node_groups.items():
        labels = {**node_labels(cluster, name, data.draw(st.integers(0, 1))), "anything": "else"}
        assert lands(placement, Node(labels, node_taints(group, startup=True)))
        assert lands(placement, Node(labels, node_taints(group, startup=False)))


@FAST
@given(
    cluster=clusters(),
    labels=st.dictionaries(
        st.sampled_from(LABEL_KEYS), st.sampled_from((*NAMES, "e", "a-2", "")), max_size=4
    ),
)
def test_an_agent_lands_on_a_node_without_taints_exactly_if_a_declared_group_selects_it(
    cluster: Cluster, labels: dict[str, str]
) -> None:
    assert lands(for_node_agents(cluster), Node({**LINUX, **labels})) == is_declared(cluster, labels)


@FAST
@given(cluster=clusters(), data=st.data())
def test_an_agent_never_lands_on_fargate_or_windows_even_in_a_declared_group(
    cluster: Cluster, data: st.DataObject
) -> None:
    labels = node_labels(cluster, data.draw(st.sampled_from(sorted(cluster.node_groups))))
    for placement in (for_node_agents(cluster), *_pod_placements(cluster)):
        assert not lands(placement, Node({**labels, **FARGATE}))
        assert not lands(placement, Node({**labels, OS_LABEL: "windows"}))
        assert not lands(placement, Node({key: value for key, value in labels.items() if key != OS_LABEL}))


@FAST
@given(cluster=clusters(), data=st.data())
def test_a_taint_that_no_group_declares_keeps_agents_off_unless_it_is_a_mere_preference(
    cluster: Cluster, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(cluster.node_groups)))
    labels, own = node_labels(cluster, name), node_taints(cluster.node_groups[name], startup=True)
    placement = for_node_agents(cluster)
    for effect in EFFECTS:
        undeclared = NodeTaint("somebody.example.com/else", "yes", effect)
        assert lands(placement, Node(labels, (*own, undeclared))) == (effect == "PreferNoSchedule")
    for taint in own:
        other_value = NodeTaint(taint.key, "a-value-that-nobody-declares", taint.effect)
        assert lands(placement, Node(labels, (other_value,))) == (taint.effect == "PreferNoSchedule")


@FAST
@given(cluster=clusters())
def test_no_toleration_is_there_without_a_taint_that_needs_it(cluster: Cluster) -> None:
    placement = for_node_agents(cluster)
    for surplus in placement.tolerations:
        fewer = Placement(placement.terms, tuple(t for t in placement.tolerations if t != surplus))
        assert not all(
            lands(fewer, Node(node_labels(cluster, name), node_taints(group, startup=True)))
            for name, group in cluster.node_groups.items()
        ), f"nothing needs {surplus}"
        assert surplus.key
        assert is_hard(surplus.effect)
    assert len(placement.tolerations) == len(set(placement.tolerations))


def _pod_placements(cluster: Cluster) -> list[Placement]:
    untainted = [for_pods(cluster, ())] if node_groups.allowed_groups(cluster, ()) else []
    return [*untainted, *(for_pods(cluster, [name]) for name in cluster.node_groups)]


@FAST
@given(cluster=clusters(), data=st.data())
def test_pods_land_on_ready_nodes_of_exactly_the_groups_that_they_may_use(
    cluster: Cluster, data: st.DataObject
) -> None:
    runs_on = data.draw(st.lists(st.sampled_from(sorted(cluster.node_groups)), unique=True))
    allowed = node_groups.allowed_groups(cluster, runs_on)
    assume(allowed)
    placement = for_pods(cluster, runs_on)
    for name, group in cluster.node_groups.items():
        bare, ready = (
            Node(node_labels(cluster, name)),
            Node(node_labels(cluster, name), node_taints(group, startup=False)),
        )
        assert lands(placement, bare) == (name in allowed)
        assert lands(placement, ready) == (name in allowed)
    assert set(placement.tolerations) == {
        Toleration(taint.key, taint.value, taint.effect)
        for name in allowed
        for taint in cluster.node_groups[name].taints
        if is_hard(taint.effect)
    }


@FAST
@given(cluster=clusters(), data=st.data())
def test_the_order_in_which_groups_are_written_changes_no_placement(
    cluster: Cluster, data: st.DataObject
) -> None:
    names = data.draw(st.permutations(sorted(cluster.node_groups)))
    turned = cluster.model_copy(update={"node_groups": {name: cluster.node_groups[name] for name in names}})
    assert for_node_agents(turned) == for_node_agents(cluster)
    assert for_pods(turned, names) == for_pods(cluster, list(reversed(names)))


def test_a_taint_without_value_is_tolerated_and_the_same_key_with_a_value_is_not() -> None:
    declared = {"a": {"maxPods": 20, "nodes": 1, "taints": [{"key": "gpu", "effect": "NoSchedule"}]}}
    target = {"kind": "render", "directory": "x"}
    cluster = Cluster.model_validate_json(_json({"name": "dev", "target": target, "nodeGroups": declared}))
    labels = {**LINUX, "eks.amazonaws.com/nodegroup": "a"}
    assert lands(for_node_agents(cluster), Node(labels, (NodeTaint("gpu"),)))
    assert not lands(for_node_agents(cluster), Node(labels, (NodeTaint("gpu", "yes"),)))
