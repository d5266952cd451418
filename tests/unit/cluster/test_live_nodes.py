"""Nodes as they are against what is declared of their groups: what is refused, and what is only said."""

from dataclasses import replace
from typing import Any

import pytest

from components.cluster.live_nodes import NodeFacts, facts, undeclared
from components.cluster.refusals.nodes import mistakes, notes
from components.settings.model import Settings
from tests.support.environments import INCIDENT, changed, parsed
from tests.support.nodes import LINUX, as_declared, labels_of
from tests.unit.cluster.test_preflight import ON_CLUSTER, live
from tests.unit.cluster.test_preflight import mistakes as refused
from tests.unit.components import aws

G, KEY = "cluster.nodeGroups", "eks.amazonaws.com/nodegroup"
SETTINGS = parsed(ON_CLUSTER)
NODES = as_declared(SETTINGS)
WEB, OTHERS = NODES[:5], NODES[5:]


def told(nodes: tuple[NodeFacts, ...], settings: Settings = SETTINGS) -> tuple[dict[str, str], list[str]]:
    """Mistakes by path, and notes."""
    return {m.path: str(m) for m in mistakes(settings, nodes)}, list(notes(settings, nodes))


def test_nodes_as_declared_are_neither_refused_nor_worth_a_word() -> None:
    assert len(WEB) == 5
    assert told(NODES) == ({}, [])


# --- a group that no node belongs to ---


def renamed(value: str) -> tuple[NodeFacts, ...]:
    """The nodes of `web` with another name of their group, as EKS has it with a generated suffix."""
    return tuple(replace(node, labels={**LINUX, KEY: value}) for node in WEB)


def test_a_group_whose_nodes_have_another_label_is_refused_with_the_label_that_they_have() -> None:
    found, said = told((*renamed("web-20261201"), *OTHERS))
    assert list(found) == [f"{G}.web"]
    assert f"no Linux node has its label {KEY}=web," in found[f"{G}.web"]
    assert f"5 Linux nodes of no declared group have {KEY}=web-20261201" in found[f"{G}.web"]
    assert "`selector: {key: ..., values: [...]}`" in found[f"{G}.web"]
    (note,) = said
    assert note.startswith("Node web-0, web-1, web-2 and 2 more: Linux, and of no group")


def test_every_group_that_matches_nothing_is_told_with_all_other_mistakes() -> None:
    found = refused(changed(ON_CLUSTER, ("tenants.shop.namespaces", {"absent": {}})), live(nodes=()))
    assert sorted(found) == [f"{G}.batch", f"{G}.web", f"{G}.workers", "tenants.shop"]


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ({"karpenter.sh/nodepool": "general"}, "have karpenter.sh/nodepool=general"),
        ({"node.kubernetes.io/instance-type": "m5.large"}, "have node.kubernetes.io/instance-type=m5.large"),
        ({}, f"have no label {KEY}"),
    ],
)
def test_nodes_without_the_label_are_named_by_what_they_have(labels: dict[str, str], says: str) -> None:
    found, _ = told((NodeFacts("x", {**LINUX, **labels}), *OTHERS))
    assert f"1 Linux node of no declared group {says}" in found[f"{G}.web"]


WINDOWS = {"kubernetes.io/os": "windows", KEY: "web"}
FARGATE = {**LINUX, KEY: "web", "eks.amazonaws.com/compute-type": "fargate"}
VIRTUAL = {**LINUX, KEY: "web", "type": "virtual-kubelet"}


@pytest.mark.parametrize("labels", [WINDOWS, FARGATE, VIRTUAL])
def test_nodes_that_run_no_agent_make_no_group_and_are_not_missed(labels: dict[str, str]) -> None:
    odd = NodeFacts("odd", labels)
    assert list(told((odd, *OTHERS))[0]) == [f"{G}.web"]
    assert undeclared(SETTINGS, (replace(odd, labels={**labels, KEY: "else"}),)) == []
    assert told((odd, *NODES)) == ({}, [])


def test_a_group_that_may_be_empty_and_one_that_has_fewer_nodes_than_declared_are_as_they_should_be() -> None:
    scaled = parsed(changed(ON_CLUSTER, (f"{G}.web.nodes", {"min": 0, "max": 5})))
    assert told(OTHERS, scaled) == ({}, [])
    assert told(NODES[2:]) == ({}, [])


# --- max-pods ---


def test_a_node_with_fewer_pods_than_counted_is_refused_since_the_budget_would_be_untrue() -> None:
    found, said = told((replace(WEB[0], max_pods=17), *NODES[1:]))
    assert list(found) == [f"{G}.web"]
    assert "counts 35 pods per node, but node web-0 takes 17" in found[f"{G}.web"]
    assert "by maxPods" in found[f"{G}.web"]
    assert said == []


@pytest.mark.parametrize("change", [{"leaving": True}, {"max_pods": 0}])
def test_a_node_that_makes_way_for_another_or_has_not_said_its_number_is_not_judged(
    change: dict[str, Any],
) -> None:
    assert told((replace(WEB[0], **{"max_pods": 17, **change}), *NODES[1:])) == ({}, [])


def test_more_pods_than_counted_are_only_said_and_only_if_every_node_takes_them() -> None:
    more = tuple(replace(node, max_pods=110) for node in WEB)
    found, (said,) = told((*more, *OTHERS))
    assert found == {}
    assert "counts 35 pods per node, and its nodes take 110" in said
    assert "`maxPods: 110`" in said
    assert told((*more[1:], WEB[0], *OTHERS)) == ({}, [])


# --- taints ---


GPU = frozenset({("gpu", "yes", "NoSchedule")})


def test_a_taint_that_all_nodes_of_a_group_have_is_refused_and_one_of_a_single_node_is_said() -> None:
    found, said = told((*(replace(node, taints=GPU) for node in WEB), *OTHERS))
    assert list(found) == [f"{G}.web.taints"]
    assert (
        "lack gpu=yes:NoSchedule, which node web-0, web-1, web-2 and 2 more has" in found[f"{G}.web.taints"]
    )
    assert said == []
    found, said = told((replace(WEB[0], taints=GPU), *NODES[1:]))
    assert found == {}
    assert ["lack gpu=yes:NoSchedule, which node web-0 has" in text for text in said] == [True]


@pytest.mark.parametrize(
    "taint", [("node.kubernetes.io/not-ready", "", "NoExecute"), ("soft", "", "PreferNoSchedule")]
)
def test_taints_that_keep_no_agent_out_for_good_are_no_mistake(taint: tuple[str, str, str]) -> None:
    assert told((*(replace(node, taints=frozenset({taint})) for node in WEB), *OTHERS)) == ({}, [])


# --- EKS ---


def test_a_cluster_that_is_made_here_gets_its_nodes_in_the_same_deployment() -> None:
    made = parsed(aws.MADE_HERE)
    found, said = told((replace(WEB[0], max_pods=17), *WEB[1:]), made)
    assert found == {}
    assert ["node web-0 takes 17" in text for text in said] == [True]


def test_groups_that_are_stated_as_somebody_elses_are_not_missed() -> None:
    target = {**aws.EXISTING, "otherGroups": ["build"]}
    existing = parsed(changed(INCIDENT, ("cluster.target", target)))
    build, gpu = (NodeFacts(name, {**LINUX, KEY: name}) for name in ("build", "gpu"))
    assert undeclared(existing, (*NODES, build, gpu)) == [gpu]


# --- reading ---


def test_a_node_is_read_from_what_the_api_server_shows() -> None:
    node: dict[str, Any] = {
        "metadata": {"name": "a", "labels": {"x": "y"}},
        "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]},
        "status": {"capacity": {"pods": "35"}, "conditions": [{"type": "Ready", "status": "True"}]},
    }
    taints = frozenset({("k", "", "NoSchedule")})
    assert facts(node) == NodeFacts("a", {"x": "y"}, 35, taints, ready=True, leaving=False)
    assert facts({"metadata": {"name": "b"}}) == NodeFacts("b", {}, ready=False)


@pytest.mark.parametrize(
    "node",
    [
        {"metadata": {"name": "a"}, "spec": {"unschedulable": True}},
        {"metadata": {"name": "a", "deletionTimestamp": "2026-12-01T00:00:00Z"}},
        {
            "metadata": {"name": "a"},
            "spec": {"taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]},
        },
    ],
)
def test_a_node_that_is_drained_is_leaving(node: dict[str, Any]) -> None:
    assert facts(node).leaving


def test_the_groups_nodes_have_the_labels_of_their_selector() -> None:
    assert labels_of(SETTINGS, "batch") == {**LINUX, KEY: "batch"}
