"""What nodes are against what is declared of their groups, on which the pod budget and the placement rest. Pure."""

from collections.abc import Iterator, Sequence

from components.cluster import live_nodes, node_groups
from components.cluster.live_nodes import NodeFacts, named
from components.settings.eks import EksTarget
from components.settings.mistakes import Mistake
from components.settings.model import NodeGroup, Settings
from components.taints import HARD_EFFECTS

# Kubernetes itself sets them for a time, and its own controller gives DaemonSets their tolerations.
TRANSIENT = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
Taint = tuple[str, str, str]


def mistakes(settings: Settings, nodes: Sequence[NodeFacts]) -> Iterator[Mistake]:
    """Groups that do not exist as declared: agents would be missing, or pods without a place, and nothing would say so.

    A node that makes way for another is not judged, nor is a group of a cluster that is made here: its nodes come, and
    are replaced, in the same deployment.
    """
    if not _is_made_here(settings):
        yield from _without_nodes(settings, nodes)
        yield from _differs(settings, nodes)


def notes(settings: Settings, nodes: Sequence[NodeFacts]) -> Iterator[str]:
    """What is worth knowing and refuses nothing: growth, a node in between, a budget on the safe side."""
    if _is_made_here(settings):
        yield from (str(mistake) for mistake in _differs(settings, nodes))
    for name, group, members in _members(settings, nodes):
        for taint, tainted in _undeclared_taints(group, members):
            if len(tainted) < len(members):
                yield str(_taint(name, taint, tainted))
        wanted, least = node_groups.max_pods(group), min((node.max_pods for node in members), default=0)
        if least > wanted:
            yield (
                f"cluster.nodeGroups.{name} counts {wanted} pods per node, and its nodes take {least}: there is more "
                f"room than the pod budget says. To use it: `maxPods: {least}`"
            )
    if others := live_nodes.undeclared(settings, nodes):
        yield (
            f"Node {named(others)}: Linux, and of no group in cluster.nodeGroups, so without agents: none of their "
            "lines and metrics are collected. If that is not meant, declare their group"
        )


def _is_made_here(settings: Settings) -> bool:
    target = settings.cluster.target
    return isinstance(target, EksTarget) and target.create is not None


def _without_nodes(settings: Settings, nodes: Sequence[NodeFacts]) -> Iterator[Mistake]:
    others = live_nodes.undeclared(settings, nodes)
    for name, group in live_nodes.empty_groups(settings, nodes):
        seen = live_nodes.unlike(name, group, others)
        yield Mistake(
            f"cluster.nodeGroups.{name}",
            f"has {node_groups.nodes_min(group)} nodes at least, but no Linux node has its label "
            f"{live_nodes.label_of(name, group)}, so it would get no agents{f'; {seen}' if seen else ''}",
            "Write the label that its nodes have: `selector: {key: ..., values: [...]}`; or, for a group that may be "
            "empty: `nodes: {min: 0, max: N}`",
        )


def _members(
    settings: Settings, nodes: Sequence[NodeFacts]
) -> Iterator[tuple[str, NodeGroup, list[NodeFacts]]]:
    found = live_nodes.by_group(settings, nodes)
    for name, group in settings.cluster.node_groups.items():
        yield name, group, [node for node in found[name] if not node.leaving]


def _differs(settings: Settings, nodes: Sequence[NodeFacts]) -> Iterator[Mistake]:
    for name, group, members in _members(settings, nodes):
        wanted = node_groups.max_pods(group)
        few = [node for node in members if 0 < node.max_pods < wanted]
        if few:
            yield Mistake(
                f"cluster.nodeGroups.{name}",
                f"counts {wanted} pods per node, but node {named(few)} takes {min(node.max_pods for node in few)}: a "
                "node keeps the max-pods that it started with",
                "Replace the nodes (docs/runbooks/node-replacement.md), or state what they have by maxPods",
            )
        for taint, tainted in _undeclared_taints(group, members):
            if len(tainted) == len(members):
                yield _taint(name, taint, tainted)


def _undeclared_taints(
    group: NodeGroup, nodes: Sequence[NodeFacts]
) -> Iterator[tuple[Taint, list[NodeFacts]]]:
    declared = {(t.key, t.value, t.effect) for t in (*group.taints, *group.startup_taints)}
    for taint in sorted({t for node in nodes for t in node.taints if _keeps_agents_out(t)} - declared):
        yield taint, [node for node in nodes if taint in node.taints]


def _taint(name: str, taint: Taint, nodes: Sequence[NodeFacts]) -> Mistake:
    key, value, effect = taint
    return Mistake(
        f"cluster.nodeGroups.{name}.taints",
        f"lack {key}={value}:{effect}, which node {named(nodes)} has and no agent tolerates",
        f"Add {{key: {key}, value: '{value}', effect: {effect}}}, or take it off the node",
    )


def _keeps_agents_out(taint: Taint) -> bool:
    return taint[2] in HARD_EFFECTS and not taint[0].startswith(TRANSIENT)
