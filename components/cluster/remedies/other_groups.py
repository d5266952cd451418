"""Pods of the binding set may run on groups that have slots left."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from components.cluster import node_groups
from components.cluster.remedies.problem import Change, Problem, Remedy, first_else
from components.taints import is_hard


def other_groups(problem: Problem) -> Iterator[Remedy]:
    """One more group for one tenant or the layer; else all groups without taints for all; else all groups."""
    if problem.found.binding is None:
        return
    missing = problem.found.binding.need - problem.found.binding.have
    taken = problem.found.binding.groups
    others = [g for g in problem.found.groups if g.name not in taken and g.per_node and g.nodes_max]
    others.sort(key=lambda group: (node_groups.is_tainted(problem.group(group.name)), -group.left))
    movers = sorted(_movers(problem).items(), key=lambda item: item[1])
    one = (
        remedy
        for group in others
        for path, pods in movers
        if pods >= missing
        for remedy in _also_on(problem, [path], [group.name])
    )
    untainted = [g.name for g in others if not node_groups.is_tainted(problem.group(g.name))]
    yield from first_else(
        islice(one, 1),
        lambda: _also_on(problem, [path for path, _ in movers], untainted),
        lambda: _also_on(problem, [path for path, _ in movers], [group.name for group in others]),
    )


def _movers(problem: Problem) -> dict[tuple[str, ...], int]:
    """Pods of the binding set by the setting that says where they may run."""
    moved: Counter[tuple[str, ...]] = Counter()
    elsewhere = {pods.name for pods in problem.layer if pods.groups is not None}
    for demand in problem.blocked:
        if demand.tenant:
            moved["tenants", demand.name, "runsOn"] += demand.pods
        elif demand.name not in elsewhere:
            moved["layer", "runsOn"] += demand.pods
    return moved


def _also_on(problem: Problem, paths: list[tuple[str, ...]], groups: list[str]) -> Iterator[Remedy]:
    changes = []
    for path in paths if groups else []:
        part = problem.settings.layer if path[0] == "layer" else problem.settings.tenants[path[1]]
        allowed = node_groups.allowed_groups(problem.settings.cluster, part.runs_on)
        changes.append(Change(path, part.runs_on or allowed, (*allowed, *groups)))
    taints = sorted({t.key for name in groups for t in problem.group(name).taints if is_hard(t.effect)})
    note = f"the pods must tolerate the taint {', '.join(taints)}" if taints else ""
    yield from problem.remedy("other groups", changes, note=note)
