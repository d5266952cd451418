"""What duplicate agents cost a live cluster: pod slots, per group of nodes, and what removing them gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policies.agents import agents
from policies.landing import group_of
from policies.pods import DAEMON_SET
from policies.values import Field
from policies.world import World

ENDED = ("Succeeded", "Failed")


@dataclass
class Slots:
    """The pod slots of a group of nodes."""

    nodes: int = 0
    slots: int = 0
    taken: int = 0
    duplicates: int = 0
    waiting: int = 0

    def label(self, group: str) -> str:
        """One line for people."""
        free = self.slots - self.taken
        waiting = f", {self.waiting} more of them are Pending" if self.waiting else ""
        return (
            f"node group {group}: {self.nodes} nodes, {self.slots} pod slots, {self.taken} taken, "
            f"{self.duplicates} of them by duplicate agents{waiting}; "
            f"without duplicates {free + self.duplicates} slots are free instead of {free}"
        )


def cost(
    world: World, nodes: Sequence[Mapping[str, Any]], pods: Sequence[Mapping[str, Any]]
) -> dict[str, Slots]:
    """The slots of each group of nodes; of several agents with one role, one per node is no duplicate."""
    roles = {
        (agent.manifest.namespace.text, agent.manifest.name): agent.roles
        for agent in agents(world)
        if agent.manifest.kind == DAEMON_SET
    }
    groups = {str(node["metadata"]["name"]): group_of(node) for node in nodes}
    found: dict[str, Slots] = {}
    for node in nodes:
        slots = found.setdefault(group_of(node), Slots())
        slots.nodes += 1
        slots.slots += int(node.get("status", {}).get("allocatable", {}).get("pods", 0))
    seen: set[tuple[str, str]] = set()
    for pod in sorted(map(Field, pods), key=_age):
        if pod.at("status", "phase").text in ENDED:
            continue
        name = _node(pod)
        if name not in groups:
            continue
        slots, placed = found[groups[name]], not pod.at("spec", "nodeName").absent
        slots.taken += placed
        mine = roles.get(_daemon_set(pod), frozenset[str]())
        # What shares a role with an agent that is there already is the duplicate; what adds none adds nothing.
        if mine and all((name, role) in seen for role in mine):
            slots.duplicates += placed
            slots.waiting += not placed
        seen |= {(name, role) for role in mine}
    return found


def report(found: Mapping[str, Slots]) -> list[str]:
    """Lines for people; none if there are no duplicates."""
    if not any(slots.duplicates or slots.waiting for slots in found.values()):
        return []
    return [slots.label(group) for group, slots in sorted(found.items())]


def _age(pod: Field) -> tuple[bool, str, str]:
    """Pods that run first, then the older ones."""
    created = pod.at("metadata", "creationTimestamp").text or ""
    return (pod.at("spec", "nodeName").absent, created, pod.at("metadata", "name").text or "")


def _daemon_set(pod: Field) -> tuple[str | None, str]:
    owners = [
        o["name"].text or ""
        for o in pod.at("metadata", "ownerReferences").items()
        if o["kind"].text == DAEMON_SET
    ]
    return (pod.at("metadata", "namespace").text, owners[0] if owners else "")


def _node(pod: Field) -> str:
    """The node that it runs on or, for a DaemonSet's pod that waits, the one that it was made for."""
    if not pod.at("spec", "nodeName").absent:
        return pod.at("spec", "nodeName").text or ""
    terms = pod.at("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for term in terms["nodeSelectorTerms"].items():
        for wanted in term["matchFields"].items():
            if wanted["key"].text == "metadata.name":
                return (wanted["values"].texts() or [""])[0]
    return ""
