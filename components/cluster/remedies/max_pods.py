"""Nodes take more pods: prefix delegation, or a larger instance type."""

from collections.abc import Iterator
from itertools import islice

from components.cluster import instance_types, node_groups, pod_slots
from components.cluster.pod_budget import GroupBudget
from components.cluster.remedies.problem import Change, Kind, Problem, Remedy, apply, first_else


def prefix_delegation(problem: Problem) -> Iterator[Remedy]:
    """Each group that is enough alone; else all that have to take more."""
    options = [[changes] for group in problem.targets if (changes := _prefixes(problem, group))]
    note = "only new nodes get it; their subnets need free blocks of 16 addresses (/28)"
    yield from _on_nodes(problem, "prefix delegation", options, note)


def _prefixes(problem: Problem, target: GroupBudget) -> list[Change]:
    """Turns prefixes on, and states max-pods where nothing else would raise it; none if that gains nothing."""
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
    return changes if _per_node(problem, target, changes) > target.per_node - target.short else []


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
    families = {found.name: instance_types.family(found.family) for found in types}
    sizes = {pod_slots.of_type(group, member) for members in families.values() for member in members}
    for size in sorted(size for size in sizes if size > target.max_pods):
        larger = [
            next(
                (m.name for m in (found, *families[found.name]) if pod_slots.of_type(group, m) >= size), None
            )
            for found in types
        ]
        names = tuple(dict.fromkeys(name for name in larger if name is not None))
        if None not in larger:
            path = ("cluster", "nodeGroups", target.name, "instanceTypes")
            yield [Change(path, group.instance_types, names)]


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
        steps = range(max(map(len, options), default=0))
        yield from islice(
            (
                r
                for step in steps
                for r in tried([c for one in options for c in one[min(step, len(one) - 1)]])
            ),
            1,
        )

    alone = (r for one in options for r in islice((r for changes in one for r in tried(changes)), 1))
    yield from first_else(alone, together)


def _max_pods_effect(problem: Problem, changes: list[Change]) -> str:
    after = apply(problem.settings, changes).cluster.node_groups
    names = dict.fromkeys(change.path[2] for change in changes)
    return ", ".join(
        f"max-pods of {name} {node_groups.max_pods(problem.group(name))} -> {node_groups.max_pods(after[name])}"
        for name in names
    )


def _per_node(problem: Problem, target: GroupBudget, changes: list[Change]) -> int:
    """What one node of the group would leave after these changes; negative if agents do not fit."""
    after = next(group for group in problem.after(changes).groups if group.name == target.name)
    return after.per_node - after.short
