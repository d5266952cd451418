"""A cluster that is there against what is declared of it: every managed group, its nodes, taints and bounds. Pure."""

from collections.abc import Iterator

from components.cluster import node_groups
from components.cluster.eks import plans
from components.cluster.eks.facts import Facts, GroupFacts
from components.settings.eks import EksTarget
from components.settings.mistakes import Mistake, closest
from components.settings.model import NodeGroup, Settings


def mistakes(settings: Settings, target: EksTarget, facts: Facts) -> Iterator[Mistake]:
    """What differs between the cluster and its declaration."""
    yield from _cluster(target, facts)
    if facts.cluster is None:
        return
    declared = plans.managed(settings.cluster)
    for name, group in declared.items():
        path = f"cluster.nodeGroups.{name}"
        if name in facts.groups:
            yield from _group(path, name, group, facts.groups[name])
        else:
            near = closest(name, facts.groups)
            there = ", ".join(sorted(facts.groups)) or "none"
            yield Mistake(
                path,
                f"cluster '{target.existing}' has no managed node group '{name}'",
                f"There are: {there}{f' ({near})' if near else ''}",
            )
    for name in sorted(set(facts.groups) - set(declared) - set(target.other_groups)):
        yield Mistake(
            "cluster.nodeGroups",
            f"cluster '{target.existing}' has a managed node group '{name}' that is not declared, so no agent would "
            "run on its nodes",
            f"Declare it, or add it to cluster.target.otherGroups: [{name}]",
        )
    if target.identity == "irsa" and not facts.oidc_provider:
        yield Mistake(
            "cluster.target.identity",
            f"is irsa, but IAM knows no OIDC provider for cluster '{target.existing}' ({facts.cluster.issuer})",
            f"eksctl utils associate-iam-oidc-provider --cluster {target.existing} --approve, or write `podIdentity`",
        )


def _cluster(target: EksTarget, facts: Facts) -> Iterator[Mistake]:
    name = target.existing or ""
    if facts.cluster is None and not any(failure.path == "cluster.target" for failure in facts.failures):
        near = closest(name, facts.clusters)
        there = ", ".join(sorted(facts.clusters)) or "none"
        yield Mistake(
            "cluster.target.existing",
            f"there is no cluster '{name}' in {target.region}",
            f"There are: {there}{f' ({near})' if near else ''}. To have one made, write `create` in place of it",
        )


def _group(path: str, name: str, group: NodeGroup, found: GroupFacts) -> Iterator[Mistake]:
    selector = node_groups.selector(name, group)
    default = selector.key == node_groups.LABELS["managed"]
    if not default and found.labels.get(selector.key) not in selector.values:
        yield Mistake(
            f"{path}.selector",
            f"is {selector.key} in {', '.join(selector.values)}, but the group's nodes have "
            f"{selector.key}={found.labels.get(selector.key, '')}",
            "Write the label that they have, or leave the selector out",
        )
    if group.instance_types and set(group.instance_types) != set(found.instance_types):
        yield Mistake(
            f"{path}.instanceTypes",
            f"is {', '.join(group.instance_types)}, but the group has {', '.join(found.instance_types)}",
            f"Write instanceTypes: [{', '.join(found.instance_types)}]",
        )
    bounds = (node_groups.nodes_min(group), node_groups.nodes_max(group))
    if bounds != (found.minimum, found.maximum):
        right = (
            str(found.maximum)
            if found.minimum == found.maximum
            else f"{{min: {found.minimum}, max: {found.maximum}}}"
        )
        yield Mistake(
            f"{path}.nodes",
            f"says {bounds[0]} to {bounds[1]} nodes, but the group has {found.minimum} to {found.maximum}",
            f"Write nodes: {right}",
        )
    declared = {(t.key, t.value, plans.EFFECTS[t.effect]) for t in (*group.taints, *group.startup_taints)}
    for taint in sorted(found.taints - declared):
        yield Mistake(
            f"{path}.taints",
            f"lack {_taint(taint)}, which the group has and no agent tolerates, so none would run on its nodes",
            f"Add {{key: {taint[0]}, value: '{taint[1]}', effect: {_effect(taint[2])}}}",
        )
    for taint in sorted(declared - found.taints):
        yield Mistake(
            f"{path}.taints",
            f"has {_taint(taint)}, which the group does not have: pods that do not tolerate it run there",
            "Take it out, or put it on the group",
        )


def _taint(taint: tuple[str, str, str]) -> str:
    return f"{taint[0]}={taint[1]}:{_effect(taint[2])}"


def _effect(effect: str) -> str:
    return next(ours for ours, theirs in plans.EFFECTS.items() if theirs == effect)
