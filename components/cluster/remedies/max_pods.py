"""Nodes take more pods: prefix delegation, or a larger instance type."""

from collections.abc import Iterator
from itertools import chain, islice

from components.cluster import instance_types, node_groups, pod_slots
from components.cluster.instance_types import InstanceType
from components.cluster.pod_budget import GroupBudget
from components.cluster.remedies.problem import Change, Kind, Problem, Remedy, apply, first_else
from components.settings.model import NodeGroup


def prefix_delegation(problem: Problem) -> Iterator[Remedy]:
    """Each group that is enough alone; else all that have to take more."""
    options = [[changes] for group in problem.targets if (changes := _prefixes(problem, group))]
    note = "only new nodes get it; their subnets need free blocks of 16 addresses (/28)"
    yield from _on_nodes(problem, "prefix delegation", options, note)


def _prefixes(problem: Problem, target: GroupBudget) -> list[Change]:
    """Turns prefixes on, and states max-pods where nothing else would raise it."""
    group, path = problem.group(target.name), ("cluster", "nodeGroups", target.name)
    types = [found for name in group.instance_types if (found := instance_types.lookup(name)) is not None]
    if not types or len(types) < len(group.instance_types):
        return []
    changes = []
    if not pod_slots.uses_prefixes(group):
        changes.append(Change((*path, "podAddresses"), "secondary", "prefix"))
    if group.max_pods is not None or group.kind in ("nodePool", "other"):
        custom = group.custom_networking
        most = min(
            min(pod_slots.formula(found, prefix=True, custom=custom), pod_slots.recommended_cap(found))
            for found in types
        )
        changes.append(Change((*path, "maxPods"), group.max_pods or target.max_pods, most))
    return changes


def larger_type(problem: Problem) -> Iterator[Remedy]:
    """Each group that is enough alone, by the smallest type that is; else all, each as far as needed."""
    options = [changes for group in problem.targets if (changes := list(_larger(problem, group)))]
    yield from _on_nodes(problem, "larger type", options, "replaces the nodes")


def _larger(problem: Problem, target: GroupBudget) -> Iterator[list[Change]]:
    """Types of the same families with more max-pods, from small to large; each smaller type becomes the next larger."""
    group = problem.group(target.name)
    types = [found for name in group.instance_types if (found := instance_types.lookup(name)) is not None]
    if group.max_pods is not None or len(types) < len(group.instance_types):
        return
    members = [member for found in types for member in instance_types.family(found.family)]
    for size in sorted({pod_slots.of_type(group, member) for member in members}):
        names = [_at_least(size, group, found) for found in types]
        if size > target.max_pods and None not in names:
            new = tuple(dict.fromkeys(name for name in names if name is not None))
            yield [Change(("cluster", "nodeGroups", target.name, "instanceTypes"), group.instance_types, new)]


def _at_least(size: int, group: NodeGroup, found: InstanceType) -> str | None:
    """The type itself, or the smallest of its family, that has this max-pods in the group."""
    candidates = (found, *instance_types.family(found.family))
    return next((member.name for member in candidates if pod_slots.of_type(group, member) >= size), None)


def _on_nodes(problem: Problem, kind: Kind, options: list[list[list[Change]]], note: str) -> Iterator[Remedy]:
    """One group alone, by its first option that is enough; else all groups, each as far as needed.

    Args:
        problem: what does not fit.
        kind: of the remedy.
        options: for each group its options, from small to large.
        note: what else it takes.
    """

    def tried(changes: list[Change]) -> Iterator[Remedy]:
        yield from problem.remedy(kind, changes, _max_pods_effect(problem, changes), note)

    def together() -> Iterator[Remedy]:
        for step in range(max(map(len, options), default=0)):
            changes = [one[min(step, len(one) - 1)] for one in options]
            if problem.after(chain(*changes)).fits:
                yield from tried(list(chain(*_needed(problem, changes))))
                return

    alone = (remedy for one in options for remedy in islice(chain.from_iterable(map(tried, one)), 1))
    yield from first_else(alone, together)


def _needed(problem: Problem, changes: list[list[Change]]) -> list[list[Change]]:
    """The same without the groups whose changes are not needed."""
    for one in list(changes):
        rest = [other for other in changes if other is not one]
        if problem.after(chain(*rest)).fits:
            changes = rest
    return changes


def _max_pods_effect(problem: Problem, changes: list[Change]) -> str:
    after = apply(problem.settings, changes).cluster.node_groups
    names = dict.fromkeys(change.path[2] for change in changes)
    return ", ".join(
        f"max-pods of {name} {node_groups.max_pods(problem.group(name))} -> {node_groups.max_pods(after[name])}"
        for name in names
    )
