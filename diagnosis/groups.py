"""Node groups that are not as declared, and nodes of no group: a DaemonSet's status shows neither. Pure."""

from collections.abc import Iterator, Sequence

from components.cluster import live_nodes, node_groups
from components.cluster.live_nodes import NodeFacts
from components.layer import parts
from components.settings.model import Settings
from diagnosis.finding import Finding

SHOWN = 5


def group_findings(settings: Settings, nodes: Sequence[NodeFacts]) -> Iterator[Finding]:
    """A finding for each group without any node, each with too few, and all nodes of no group.

    A group that matches nothing has another label than its nodes, so it has no agents and is a fault. Too few are a
    node that is being replaced, and nodes of no group are growth: these fail no deployment.
    """
    others = live_nodes.undeclared(settings, nodes)
    for name, group in live_nodes.empty_groups(settings, nodes):
        seen = live_nodes.unlike(name, group, others)
        yield Finding(
            f"Node group {name}",
            "",
            f"no Linux node has its label {live_nodes.label_of(name, group)}{f'; {seen}' if seen else ''}",
            f"Write the label that its nodes have as cluster.nodeGroups.{name}.selector and deploy, or, if it may be "
            f"empty, `min: 0` in cluster.nodeGroups.{name}.nodes",
        )
    for name, members in live_nodes.by_group(settings, nodes).items():
        group = settings.cluster.node_groups[name]
        ready, least = sum(node.ready for node in members), node_groups.nodes_min(group)
        if members and ready < least:
            yield Finding(
                f"Node group {name}",
                "",
                f"{ready} of its nodes {'is' if ready == 1 else 'are'} ready, and it has {least} at least",
                f"A node that is being replaced comes back. See: kubectl get nodes -l "
                f"'{live_nodes.label_of(name, group)}'. If it has become smaller: cluster.nodeGroups.{name}.nodes",
                growth=True,
            )
    if others and parts.node_agents(settings):
        yield Finding(
            "Nodes of no declared group",
            live_nodes.named(others, SHOWN),
            "they are Linux nodes and have no agents: none of their lines and metrics are collected",
            "If that is not meant, declare their group under cluster.nodeGroups and deploy. Their labels: kubectl get "
            f"node {others[0].name} --show-labels",
            growth=True,
        )
