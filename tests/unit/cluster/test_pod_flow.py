"""Placement as a flow: the most pods that fit, and the set that stands in the way."""

from functools import cache
from itertools import combinations
from typing import Any

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from components.cluster.pod_flow import Class, Flow, place

GROUPS = ("a", "b", "c", "d")
classes = st.sets(st.sampled_from(GROUPS)).map(lambda names: tuple(sorted(names)))


def problems(most: int) -> st.SearchStrategy[tuple[dict[Class, int], dict[str, int]]]:
    """Demand by class, and capacity by group, with numbers up to `most`."""
    number = st.integers(0, most)
    return st.tuples(
        st.dictionaries(classes, number, max_size=6), st.fixed_dictionaries(dict.fromkeys(GROUPS, number))
    )


def by_force(demand: dict[Class, int], capacity: dict[str, int]) -> int:
    """Tries every group for every pod, and leaving it out."""
    pods = tuple(key for key, number in demand.items() for _ in range(number))

    @cache
    def most(i: int, free: tuple[int, ...]) -> int:
        if i == len(pods):
            return 0
        best = most(i + 1, free)
        for j, group in enumerate(GROUPS):
            if group in pods[i] and free[j]:
                best = max(best, 1 + most(i + 1, (*free[:j], free[j] - 1, *free[j + 1 :])))
        return best

    return most(0, tuple(capacity[group] for group in GROUPS))


def by_networkx(demand: dict[Class, int], capacity: dict[str, int]) -> int:
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_nodes_from(["source", "sink"])
    for key, pods in demand.items():
        graph.add_edge("source", ("class", key), capacity=pods)
        for group in key:
            graph.add_edge(("class", key), group)  # no capacity: without limit
    for group, slots in capacity.items():
        graph.add_edge(group, "sink", capacity=slots)
    return int(nx.maximum_flow_value(graph, "source", "sink"))


@given(problems(2))
@settings(deadline=None)
def test_it_places_as_many_as_trying_everything(problem: tuple[dict[Class, int], dict[str, int]]) -> None:
    assert place(*problem).placed == by_force(*problem)


@given(problems(1000))
@settings(deadline=None)
def test_it_places_as_many_as_networkx(problem: tuple[dict[Class, int], dict[str, int]]) -> None:
    assert place(*problem).placed == by_networkx(*problem)


@given(problems(50))
@settings(deadline=None)
def test_a_placement_takes_no_slot_twice_and_uses_allowed_groups_only(
    problem: tuple[dict[Class, int], dict[str, int]],
) -> None:
    demand, capacity = problem
    flow = place(demand, capacity)
    assert sum(flow.used.values()) == flow.placed
    assert all(group in key and pods > 0 for (key, group), pods in flow.used.items())
    for group, slots in capacity.items():
        assert sum(pods for (_, used), pods in flow.used.items() if used == group) <= slots
    for key, pods in demand.items():
        assert sum(placed for (used, _), placed in flow.used.items() if used == key) <= pods


@given(problems(20))
@settings(deadline=None)
def test_the_binding_set_explains_exactly_what_is_missing(
    problem: tuple[dict[Class, int], dict[str, int]],
) -> None:
    demand, capacity = problem
    flow = place(demand, capacity)
    missing = sum(demand.values()) - flow.placed
    assert flow.groups == {group for key in flow.classes for group in key}
    need = sum(demand[key] for key in flow.classes)
    assert need - sum(capacity[group] for group in flow.groups) == missing
    assert (missing == 0) == (not flow.classes)


@given(problems(6))
@settings(deadline=None)
def test_no_part_of_the_binding_set_explains_as_much(
    problem: tuple[dict[Class, int], dict[str, int]],
) -> None:
    demand, capacity = problem
    flow = place(demand, capacity)
    missing = sum(demand.values()) - flow.placed
    for size in range(len(flow.classes)):
        for part in combinations(flow.classes, size):
            have = sum(capacity[group] for group in {group for key in part for group in key})
            assert sum(demand[key] for key in part) - have < missing


def test_pods_that_stand_in_the_way_are_moved() -> None:
    flow = place({("a", "b"): 5, ("a",): 5}, {"a": 5, "b": 5})
    assert flow.placed == 10
    assert flow.used == {(("a",), "a"): 5, (("a", "b"), "b"): 5}


def test_pods_that_may_run_nowhere_are_their_own_binding_set() -> None:
    flow = place({(): 3, ("a",): 1}, {"a": 1})
    assert flow == Flow(1, {(("a",), "a"): 1}, frozenset({()}), frozenset())
