"""Tenants declare fewer pods: one alone if that is enough, else several, the largest first."""

from collections import Counter
from collections.abc import Iterator, Mapping

from components.cluster.pod_budget import Demand
from components.cluster.pod_flow import Class, place
from components.cluster.remedies.problem import Change, Problem, Remedy, first_else
from components.settings.tenant import Tenant
from components.settings.tenant_checks import own_pods


def fewer_pods(problem: Problem) -> Iterator[Remedy]:
    """Each tenant of the binding set that could give way alone, the largest first; else several together."""
    tenants = sorted((d for d in problem.blocked if d.tenant), key=lambda demand: -demand.pods)
    one = (remedy for tenant in tenants for remedy in _fewer_of_one(problem, tenant))
    yield from first_else(one, lambda: _fewer_of_several(problem))


def _fewer_of_one(problem: Problem, tenant: Demand) -> Iterator[Remedy]:
    """This tenant gives up all that is missing, which is enough unless others lack slots where it does not run."""
    keep = tenant.pods - (problem.found.need - problem.found.at_max.placed)
    if keep > 0:
        yield from problem.remedy("fewer pods", _pods(problem, {tenant.name: keep}))


def _fewer_of_several(problem: Problem) -> Iterator[Remedy]:
    """The layer first, then tenants from small to large: each gets what still fits, so that the largest give way."""
    ordered = sorted(problem.found.demands, key=lambda demand: (demand.tenant, demand.pods))
    classes: Counter[Class] = Counter()
    placed, keep = 0, {}
    for demand in ordered:
        classes[demand.groups] += demand.pods
        now = place(classes, problem.capacity).placed
        if now - placed < demand.pods:
            if not demand.tenant:
                return
            keep[demand.name] = now - placed
            classes[demand.groups] -= demand.pods - keep[demand.name]
        placed = now
    yield from problem.remedy("fewer pods", _pods(problem, keep))


def _pods(problem: Problem, keep: Mapping[str, int]) -> list[Change]:
    """Changes after which each tenant declares this many pods; none if one could not live with it."""
    changes: list[Change] = []
    for name, pods in keep.items():
        of_one = _pods_of(name, problem.settings.tenants[name], pods)
        if not of_one:
            return []
        changes += of_one
    return changes


def _pods_of(name: str, tenant: Tenant, keep: int) -> list[Change]:
    own = own_pods(name, tenant.model_dump(by_alias=True))
    floor = {namespace: max(pods, 1) for namespace, pods in own.items()}
    total = [Change(("tenants", name, "pods"), tenant.pods, keep)] if tenant.pods is not None else []
    stated = {key: value.pods for key, value in tenant.namespaces.items() if value.pods is not None}
    if not stated:
        return total if keep >= max(floor.values()) else []
    changes, too_many = [], sum(stated.values()) - keep
    for key, pods in sorted(stated.items(), key=lambda item: -item[1]):
        fewer = max(min(too_many, pods - floor[key]), 0)
        too_many -= fewer
        if fewer:
            changes.append(Change(("tenants", name, "namespaces", key, "pods"), pods, pods - fewer))
    return [] if too_many else [*total, *changes]
