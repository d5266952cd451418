"""Agents that were there before the layer: those in tenants' namespaces, and those with node-exporter's port. Pure."""

from collections.abc import Iterator, Sequence

from components import names
from components.cluster.daemon_sets import DaemonSet
from components.cluster.live import Live
from components.cluster.live_nodes import by_group
from components.cluster.refusals.priorities import PRIORITIES
from components.layer import parts
from components.settings.mistakes import Mistake
from components.settings.model import Settings
from components.settings.tenant import all_namespaces
from components.wording import listed

PAGE = "docs/migration.md"
_SHOWN = 5


def mistakes(settings: Settings, live: Live) -> Iterator[Mistake]:
    """An exporter that holds the port and that ours may not displace: ours would stay Pending on these nodes."""
    for one, on in _with_port(settings, live):
        if not _displaced(one, settings, live):
            yield Mistake(
                "layer.hostMetrics",
                f"is node-exporter, and DaemonSet {one.title} holds its port {names.NODE_EXPORTER_PORT} on "
                f"{_nodes(on)}, with pods that ours may not displace: ours would stay Pending there",
                "Remove that DaemonSet first, or keep it and write "
                f"`hostMetrics: {{kind: existing, ...}}` ({PAGE})",
            )


def notes(settings: Settings, live: Live | None) -> Iterator[str]:
    """What the layer leaves as it is, or displaces, one line for each."""
    if live is None:
        return
    tenants = all_namespaces(settings.tenants)
    if theirs := [one for one in live.daemon_sets if one.namespace in tenants and one.nodes]:
        titles = listed([one.title for one in theirs], _SHOWN)
        yield (
            f"Namespaces of tenants hold {_count(theirs)} that the layer neither needs nor removes: {titles}. What of "
            f"it collects goes on beside the layer's agents, on slots that the budget has not counted: {PAGE}"
        )
    for one, on in _with_port(settings, live):
        if _displaced(one, settings, live):
            yield (
                f"DaemonSet {one.title} holds port {names.NODE_EXPORTER_PORT} on {_nodes(on)}. The layer's "
                "node-exporter has the higher priority and displaces its pods, which stay Pending then: remove it, or "
                f"keep it by layer.hostMetrics ({PAGE})"
            )


def _with_port(settings: Settings, live: Live) -> Iterator[tuple[DaemonSet, list[str]]]:
    """Those that hold the port where ours wants it, and the nodes."""
    if names.NODE_EXPORTER not in parts.node_agents(settings):
        return
    declared = {node.name for nodes in by_group(settings, live.nodes).values() for node in nodes}
    for one in live.daemon_sets:
        if on := [node for node in one.port_on if node in declared]:
            yield one, on


def _displaced(one: DaemonSet, settings: Settings, live: Live) -> bool:
    known = {**live.priorities, **PRIORITIES}
    theirs = known.get(one.priority_class or live.default_priority_class, 0)
    return settings.layer.agents.preempt and theirs < names.AGENTS_PRIORITY


def _nodes(on: Sequence[str]) -> str:
    """`node a`, or `15 nodes (a, b, c, ...)`."""
    if len(on) == 1:
        return f"node {on[0]}"
    more = ", ..." if len(on) > _SHOWN else ""
    return f"{len(on)} nodes ({', '.join(on[:_SHOWN])}{more})"


def _count(found: Sequence[DaemonSet]) -> str:
    pods = sum(one.nodes for one in found)
    sets = f"{len(found)} DaemonSet{'s' if len(found) > 1 else ''}"
    return f"{sets} with {pods} pod{'s' if pods > 1 else ''}"
