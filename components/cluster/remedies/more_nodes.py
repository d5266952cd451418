"""Groups have more nodes."""

from collections.abc import Iterator
from math import ceil

from components.cluster.pod_budget import GroupBudget
from components.cluster.pod_flow import place
from components.cluster.remedies.problem import Change, Problem, Remedy, first_else
from components.settings.model import NodeRange

MOST_NODES = 5000  # what the settings take


def more_nodes(problem: Problem) -> Iterator[Remedy]:
    """Each group that is enough alone; else all that have to take more."""
    groups = [group for group in problem.targets if group.per_node]
    one = (remedy for group in groups for remedy in _grown(problem, [group]))
    yield from first_else(one, lambda: _grown(problem, groups))


def _grown(problem: Problem, groups: list[GroupBudget]) -> Iterator[Remedy]:
    """The fewest nodes of each group in turn, the later groups still without a limit.

    With c slots in one group the flow is min(flow at c = 0, plus c; flow at c = infinity), so what is missing at
    c = 0 is what the group must have.
    """
    need, classes, capacity = problem.found.need, problem.found.classes, problem.capacity
    capacity |= {group.name: need for group in groups}
    changes, effects = [], []
    for group in groups:
        missing = need - place(classes, {**capacity, group.name: 0}).placed
        nodes = max(ceil(missing / group.per_node), group.nodes_max)
        capacity[group.name] = nodes * group.per_node
        if nodes > MOST_NODES:
            return
        if nodes > group.nodes_max:
            path = ("cluster", "nodeGroups", group.name, "nodes")
            scaled = isinstance(problem.group(group.name).nodes, NodeRange)
            changes.append(Change((*path, "max") if scaled else path, group.nodes_max, nodes))
            effects.append(f"{group.name}: {nodes} x {group.per_node} = {nodes * group.per_node}")
    yield from problem.remedy("more nodes", changes, ", ".join(effects))
