"""Remedies: each, applied to the settings as written, makes everything fit, with exactly the numbers it states."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.cluster.pod_budget import tenant_pods
from components.cluster.pod_remedies import remedies
from components.cluster.remedies.problem import Change, Remedy
from tests.support.environments import INCIDENT, changed
from tests.unit.cluster.environments import (
    AGENTS,
    FEW,
    LAYER,
    TAINT,
    environment,
    environments,
    settings_of,
    solved,
)

ORDER = ["fewer pods", "other groups", "prefix delegation", "larger type", "more nodes"]


def found(raw: dict[str, Any]) -> tuple[Remedy, ...]:
    return remedies(settings_of(raw), AGENTS, LAYER)


def of_kind(raw: dict[str, Any], kind: str) -> list[tuple[Change, ...]]:
    return [remedy.changes for remedy in found(raw) if remedy.kind == kind]


def applied(raw: dict[str, Any], changes: tuple[Change, ...]) -> dict[str, Any]:
    """What somebody gets who writes the changes into the stack file."""
    values = [
        (change.path, list(change.new) if isinstance(change.new, tuple) else change.new) for change in changes
    ]
    return changed(raw, *((".".join(path), value) for path, value in values))


@given(environments())
@FEW
def test_every_remedy_fits_with_the_numbers_it_states(raw: dict[str, Any]) -> None:
    before = solved(raw)
    offered = found(raw)
    assert not (before.fits and offered)
    for remedy in offered:
        after = solved(applied(raw, remedy.changes))
        assert after.fits, remedy
        assert after.left - after.need == remedy.free
    kinds = [ORDER.index(remedy.kind) for remedy in offered]
    assert kinds == sorted(kinds)


@given(environments())
@FEW
def test_a_remedy_of_one_number_asks_for_no_more_than_needed(raw: dict[str, Any]) -> None:
    for remedy in found(raw):
        change = remedy.changes[0]
        if len(remedy.changes) > 1 or not isinstance(change.new, int):
            continue
        if remedy.kind == "fewer pods":
            assert not solved(applied(raw, (Change(change.path, change.old, change.new + 1),))).fits
        if remedy.kind == "more nodes":
            assert not solved(applied(raw, (Change(change.path, change.old, change.new - 1),))).fits


@given(environments())
@FEW
def test_a_group_that_leaves_slots_per_node_can_always_grow(raw: dict[str, Any]) -> None:
    """More nodes are the last way out: offered whenever every binding group has room on a node for any pod."""
    before = solved(raw)
    if before.overfull or before.binding is None or not before.binding.groups:
        return
    usable = all(group.per_node for group in before.groups if group.name in before.binding.groups)
    assert not usable or of_kind(raw, "more nodes")


def test_what_fits_needs_no_remedy() -> None:
    assert found(INCIDENT) == ()


def test_the_incident_with_a_shop_of_700_pods() -> None:
    raw = changed(INCIDENT, ("tenants.shop.pods", 700))
    missing = 700 + 80 + 100 + 80 + 60 + 3 - 599
    assert of_kind(raw, "fewer pods")[0] == (Change(("tenants", "shop", "pods"), 700, 700 - missing),)
    assert of_kind(raw, "more nodes") == [
        (Change(("cluster", "nodeGroups", "web", "nodes"), 5, 5 + -(-missing // 28)),),
        (Change(("cluster", "nodeGroups", "workers", "nodes"), 9, 9 + -(-missing // 51)),),
    ]
    prefix = next(remedy for remedy in found(raw) if remedy.kind == "prefix delegation")
    assert prefix.effect == "max-pods of workers 58 -> 110"
    assert prefix.free == 650 + 9 * (110 - 58) - 1023
    assert "/28" in prefix.note


def test_a_tenant_on_one_group_may_use_another_one() -> None:
    raw = changed(INCIDENT, ("tenants.shop", {"pods": 200, "runsOn": ["web"]}))
    assert of_kind(raw, "other groups") == [
        (Change(("tenants", "shop", "runsOn"), ("web",), ("web", "workers")),)
    ]


def test_a_tainted_group_is_offered_last_and_says_which_taint_to_tolerate() -> None:
    groups = {
        "web": {"maxPods": 17, "nodes": 1},
        "batch": {"maxPods": 57, "nodes": 1, "taints": [TAINT]},
    }
    raw = environment(groups, {"shop": {"pods": 20}})
    remedy = next(remedy for remedy in found(raw) if remedy.kind == "other groups")
    assert remedy.changes == (Change(("tenants", "shop", "runsOn"), ("web",), ("web", "batch")),)
    assert "dedicated" in remedy.note
    raw["cluster"]["nodeGroups"]["spare"] = {"maxPods": 17, "nodes": 2}
    raw["tenants"]["shop"]["runsOn"] = ["web"]
    remedy = next(remedy for remedy in found(raw) if remedy.kind == "other groups")
    assert remedy.changes[0].new == ("web", "spare")
    assert remedy.note == ""


def test_the_layer_too_may_use_another_group() -> None:
    groups = {"small": {"maxPods": 8, "nodes": 1}, "web": {"maxPods": 20, "nodes": 1}}
    raw = environment(groups, {}, runsOn=["small"])
    assert of_kind(raw, "other groups") == [(Change(("layer", "runsOn"), ("small",), ("small", "web")),)]
    assert of_kind(raw, "fewer pods") == []


def test_two_tenants_on_two_full_groups_both_give_way() -> None:
    groups = {
        "a": {"maxPods": 17, "nodes": 1},
        "b": {"maxPods": 17, "nodes": 1},
        "c": {"maxPods": 17, "nodes": 1},
    }
    tenants = {"shop": {"pods": 30, "runsOn": ["a"]}, "mail": {"pods": 25, "runsOn": ["b"]}}
    raw = environment(groups, tenants, runsOn=["c"])
    assert {change.path[1]: change.new for change in of_kind(raw, "fewer pods")[0]} == {
        "shop": 10,
        "mail": 10,
    }
    assert {change.path[2]: change.new for change in of_kind(raw, "more nodes")[0]} == {"a": 3, "b": 3}


def test_a_tenant_with_several_namespaces_gives_way_in_the_largest() -> None:
    groups = {"web": {"maxPods": 70, "nodes": 1}}
    spaces = {"in": {"pods": 20}, "out": {"pods": 50}}
    raw = environment(groups, {"mail": {"namespaces": spaces}})
    assert of_kind(raw, "fewer pods") == [(Change(("tenants", "mail", "namespaces", "out", "pods"), 50, 40),)]
    raw["tenants"]["mail"]["pods"] = 70
    settings_of(applied(raw, of_kind(raw, "fewer pods")[0]))
    assert len(of_kind(raw, "fewer pods")[0]) == 2
    assert tenant_pods("mail", settings_of(applied(raw, of_kind(raw, "fewer pods")[0])).tenants["mail"]) == 60


def test_a_tenant_keeps_what_its_own_stack_needs() -> None:
    groups = {"web": {"maxPods": 11, "nodes": 1}}
    assert of_kind(environment(groups, {"shop": {"pods": 9}}), "fewer pods")
    assert not of_kind(environment(groups, {"shop": {"pods": 9, "logs": "api"}}), "fewer pods")


def test_karpenters_prefixes_come_with_a_stated_max_pods() -> None:
    groups = {"pool": {"kind": "nodePool", "instanceTypes": ["t3.large"], "nodes": {"min": 1, "max": 2}}}
    raw = environment(groups, {"shop": {"pods": 100}})
    path = ("cluster", "nodeGroups", "pool")
    assert of_kind(raw, "prefix delegation") == [
        (Change((*path, "podAddresses"), "secondary", "prefix"), Change((*path, "maxPods"), 35, 110))
    ]
    assert of_kind(raw, "more nodes") == [(Change((*path, "nodes", "max"), 2, 4),)]


@pytest.mark.parametrize(
    ("group", "pods"),
    [
        ({"instanceTypes": ["m4.large"], "nodes": 1}, 15),  # not nitro
        ({"instanceTypes": ["t3.large"], "podAddresses": "prefix", "nodes": 1}, 101),  # on already
        ({"instanceTypes": ["m5.4xlarge"], "nodes": 1}, 101),  # 234, capped at 110 either way
        ({"maxPods": 20, "nodes": 1}, 15),  # nothing is known of the type
        ({"instanceTypes": ["t3.large", "t99.mega"], "maxPods": 20, "nodes": 1}, 15),  # nor of one of them
    ],
)
def test_prefixes_are_not_offered_where_they_gain_nothing(group: dict[str, Any], pods: int) -> None:
    raw = environment({"web": group}, {"shop": {"pods": pods}})
    assert not solved(raw).fits
    assert of_kind(raw, "prefix delegation") == []


def test_prefixes_raise_a_stated_max_pods_too() -> None:
    group = {"instanceTypes": ["t3.large"], "maxPods": 20, "nodes": 1}
    raw = environment({"web": group}, {"shop": {"pods": 15}})
    new = {change.path[-1]: change.new for change in of_kind(raw, "prefix delegation")[0]}
    assert new == {"podAddresses": "prefix", "maxPods": 110}


@pytest.mark.parametrize(
    ("kind", "names"),
    [("prefix delegation", {"a", "c"}), ("larger type", {"b", "c"})],
)
def test_of_several_groups_only_those_change_that_have_to(kind: str, names: set[str]) -> None:
    types = {
        "a": "t3.large",
        "b": "m4.large",
        "c": "t3.large",
    }  # prefixes gain nothing for b, a larger type does
    groups = {name: {"instanceTypes": [found], "nodes": 1} for name, found in types.items()}
    tenants = {"shop": {"pods": 55, "runsOn": ["a", "b"]}, "mail": {"pods": 35, "runsOn": ["c"]}}
    groups["spare"] = {"instanceTypes": ["t3.large"], "nodes": 1}
    [changes] = of_kind(environment(groups, tenants, runsOn=["spare"]), kind)
    assert {change.path[2] for change in changes} == names


def test_a_larger_type_is_the_smallest_of_the_family_that_is_enough() -> None:
    raw = environment({"web": {"instanceTypes": ["m5.large"], "nodes": 2}}, {"shop": {"pods": 90}})
    assert [changes[0].new for changes in of_kind(raw, "larger type")] == [("m5.xlarge",)]
    raw["tenants"]["shop"]["pods"] = 150
    assert [changes[0].new for changes in of_kind(raw, "larger type")] == [("m5.4xlarge",)]


def test_of_several_types_all_that_are_too_small_become_larger() -> None:
    types = ["m5.large", "c5.xlarge", "r5.large"]
    raw = environment({"web": {"instanceTypes": types, "nodes": 1}}, {"shop": {"pods": 40}})
    assert [changes[0].new for changes in of_kind(raw, "larger type")] == [
        ("m5.xlarge", "c5.xlarge", "r5.xlarge")
    ]


def test_nodes_too_small_for_the_agents_need_more_slots_each_not_more_nodes() -> None:
    groups = {
        "web": {"instanceTypes": ["t3.large"], "nodes": 1},
        "tiny": {"instanceTypes": ["t3.micro"], "nodes": 1},
    }
    assert {remedy.kind for remedy in found(environment(groups, {}))} == {"prefix delegation", "larger type"}


@given(st.integers(1, 40), st.integers(1, 300))
@FEW
def test_alternatives_of_one_kind_are_at_most_three(tenants: int, pods: int) -> None:
    raw = changed(INCIDENT, ("tenants", {f"t{i}": {"pods": pods} for i in range(tenants)}))
    kinds = Counter(remedy.kind for remedy in found(raw))
    assert not kinds or max(kinds.values()) <= 3
