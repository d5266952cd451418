"""Nodes as an environment declares them, as plain data."""

from typing import Any

from components.cluster import node_groups
from components.cluster.live_nodes import NodeFacts
from components.settings.model import Settings

LINUX = {"kubernetes.io/os": "linux"}


def as_declared(settings: Settings) -> tuple[NodeFacts, ...]:
    """Every declared node; of an autoscaled group as many as it has at least."""
    return tuple(
        NodeFacts(
            name=f"{name}-{index}",
            labels=labels_of(settings, name),
            max_pods=node_groups.max_pods(group),
            taints=frozenset((t.key, t.value, t.effect) for t in group.taints),
        )
        for name, group in settings.cluster.node_groups.items()
        for index in range(node_groups.nodes_min(group))
    )


def labels_of(settings: Settings, group: str) -> dict[str, Any]:
    """Labels of a node of a group."""
    selector = node_groups.selector(group, settings.cluster.node_groups[group])
    return {**LINUX, selector.key: selector.values[0]}
