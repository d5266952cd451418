"""A cluster's nodes as they are, and which of the declared groups each belongs to. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.cluster import node_groups
from components.cluster.placement import COMPUTE_TYPE_LABEL, OS_LABEL
from components.settings.eks import EksTarget
from components.settings.model import NodeGroup, Settings
from components.wording import listed

# What makes way for others: a node that is being replaced.
GOING = ("karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler")
# virtual-kubelet, cmd/virtual-kubelet/internal/commands/root/node.go: there is no machine, so no file of a log on it.
VIRTUAL = ("type", "virtual-kubelet")
# By which somebody may know a node that no declared label fits, the most telling first.
TELLING = (*dict.fromkeys(node_groups.LABELS.values()), "node.kubernetes.io/instance-type")
SHOWN = 3


@dataclass(frozen=True)
class NodeFacts:
    """A node.

    Attributes:
        name: its name.
        labels: all of them.
        max_pods: that its kubelet takes; 0 if it does not say.
        taints: key, value and effect of each.
        ready: whether its kubelet says so.
        leaving: whether it takes no more pods: cordoned, being removed, or about to be.
    """

    name: str
    labels: Mapping[str, str]
    max_pods: int = 0
    taints: frozenset[tuple[str, str, str]] = frozenset()
    ready: bool = True
    leaving: bool = False


def facts(node: Mapping[str, Any]) -> NodeFacts:
    """A node as the API server shows it."""
    metadata, spec, status = node["metadata"], node.get("spec", {}), node.get("status", {})
    taints = frozenset((t["key"], t.get("value", ""), t["effect"]) for t in spec.get("taints") or [])
    conditions = {one["type"]: one["status"] for one in status.get("conditions") or []}
    going = any(key in GOING for key, _, _ in taints)
    return NodeFacts(
        name=str(metadata["name"]),
        labels=metadata.get("labels") or {},
        max_pods=int(status.get("capacity", {}).get("pods", 0)),
        taints=taints,
        ready=conditions.get("Ready") == "True",
        leaving=bool(spec.get("unschedulable") or metadata.get("deletionTimestamp") or going),
    )


def runs_agents(node: NodeFacts) -> bool:
    """Whether it is one that an agent could run on: not Windows, not Fargate, no virtual one."""
    labels, (key, value) = node.labels, VIRTUAL
    return (
        labels.get(OS_LABEL) == "linux"
        and labels.get(COMPUTE_TYPE_LABEL) != "fargate"
        and labels.get(key) != value
    )


def by_group(settings: Settings, nodes: Iterable[NodeFacts]) -> dict[str, list[NodeFacts]]:
    """Nodes that must have agents, by the declared group that they belong to; a group without any is there too."""
    able = [node for node in nodes if runs_agents(node)]
    return {
        name: [node for node in able if _is_of(name, group, node)]
        for name, group in settings.cluster.node_groups.items()
    }


def undeclared(settings: Settings, nodes: Iterable[NodeFacts]) -> list[NodeFacts]:
    """Nodes that could have agents, and belong to no declared group nor to one that is stated as somebody else's."""
    target = settings.cluster.target
    others = target.other_groups if isinstance(target, EksTarget) else ()
    groups = settings.cluster.node_groups.items()
    return [
        node
        for node in nodes
        if runs_agents(node)
        and not any(_is_of(name, group, node) for name, group in groups)
        and node.labels.get(node_groups.LABELS["managed"]) not in others
    ]


def label_of(name: str, group: NodeGroup) -> str:
    """The label by which a group's nodes are known, as kubectl's `-l` takes it."""
    selector = node_groups.selector(name, group)
    if len(selector.values) == 1:
        return f"{selector.key}={selector.values[0]}"
    return f"{selector.key} in ({', '.join(selector.values)})"


def unlike(name: str, group: NodeGroup, nodes: Sequence[NodeFacts]) -> str:
    """What nodes of no group have where this group's label was looked for; empty where there are no such nodes."""
    if not nodes:
        return ""
    wanted = node_groups.selector(name, group).key
    for key in (wanted, *TELLING):
        values = sorted({node.labels[key] for node in nodes if key in node.labels})
        if values:
            return f"{_of(nodes)} no declared group have {key}={' or '.join(values[:SHOWN])}"
    return f"{_of(nodes)} no declared group have no label {wanted}"


def named(nodes: Sequence[NodeFacts], shown: int = SHOWN) -> str:
    """The first of them by name, and how many more there are."""
    return listed([node.name for node in nodes], shown)


def _of(nodes: Sequence[NodeFacts]) -> str:
    return f"{len(nodes)} Linux node{'s' if len(nodes) > 1 else ''} of"


def _is_of(name: str, group: NodeGroup, node: NodeFacts) -> bool:
    selector = node_groups.selector(name, group)
    return node.labels.get(selector.key) in selector.values


def empty_groups(settings: Settings, nodes: Sequence[NodeFacts]) -> Iterator[tuple[str, NodeGroup]]:
    """Groups that no node belongs to, though they have some at least: their label is another, or they are gone."""
    found = by_group(settings, nodes)
    for name, group in settings.cluster.node_groups.items():
        if not found[name] and node_groups.nodes_min(group) > 0:
            yield name, group
