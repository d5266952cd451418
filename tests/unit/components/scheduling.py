"""What the scheduler decides about labels and taints, in Python: does a pod with this placement land on that node."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.cluster.placement import OS_LABEL, Placement, Requirement, Toleration

LINUX = {OS_LABEL: "linux"}
FARGATE = {"eks.amazonaws.com/compute-type": "fargate"}


@dataclass(frozen=True)
class NodeTaint:
    """A taint of a node."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"


@dataclass(frozen=True)
class Node:
    """A node as the scheduler sees it."""

    labels: Mapping[str, str]
    taints: tuple[NodeTaint, ...] = ()


def lands(placement: Placement, node: Node) -> bool:
    """Node selector and affinity hold, and every taint but a mere preference is tolerated."""
    return (
        all(node.labels.get(key) == value for key, value in placement.node_selector)
        and any(all(_holds(requirement, node) for requirement in term) for term in placement.terms)
        and all(_tolerated(taint, placement) for taint in node.taints if taint.effect != "PreferNoSchedule")
    )


def _holds(requirement: Requirement, node: Node) -> bool:
    value = node.labels.get(requirement.key)
    if requirement.operator == "In":
        return value in requirement.values
    assert requirement.operator == "NotIn"
    return value not in requirement.values


def _tolerated(taint: NodeTaint, placement: Placement) -> bool:
    return Toleration(taint.key, taint.value, taint.effect) in placement.tolerations


def placement_of(pod: Mapping[str, Any]) -> Placement:
    """The placement that a pod's specification states; fails where it states one in any other form.

    A toleration without a key, one of all effects, or `Exists` is such a form.
    """
    (affinity,) = pod["affinity"].values()
    assert set(pod["affinity"]) == {"nodeAffinity"}
    assert set(affinity) == {"requiredDuringSchedulingIgnoredDuringExecution"}
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    for term in terms:
        assert set(term) == {"matchExpressions"}
    for toleration in pod.get("tolerations", []):
        assert set(toleration) == {"key", "operator", "value", "effect"}
        assert toleration["operator"] == "Equal"
        assert toleration["key"]
        assert toleration["effect"]
    return Placement(
        terms=tuple(
            tuple(Requirement(r["key"], r["operator"], tuple(r["values"])) for r in term["matchExpressions"])
            for term in terms
        ),
        tolerations=tuple(Toleration(t["key"], t["value"], t["effect"]) for t in pod.get("tolerations", [])),
        node_selector=tuple(pod["nodeSelector"].items()),
    )
