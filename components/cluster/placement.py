"""Where pods may run: on exactly the declared node groups, by required affinity and the tolerations these need.

Pure: `components/objects.py` turns a placement into Kubernetes objects.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from components.cluster import node_groups
from components.settings.model import Cluster, NodeGroup, Taint
from components.taints import is_hard

OS_LABEL = "kubernetes.io/os"
COMPUTE_TYPE_LABEL = "eks.amazonaws.com/compute-type"


@dataclass(frozen=True, order=True)
class Requirement:
    """One condition on a node's labels: `In` or `NotIn` a list of values."""

    key: str
    operator: str
    values: tuple[str, ...]


@dataclass(frozen=True, order=True)
class Toleration:
    """Tolerates exactly one taint: key, value and effect all have to match."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True)
class Placement:
    """Where a pod may run.

    Attributes:
        terms: node selector terms, of which one must hold; within a term all requirements must hold.
        tolerations: the taints of these nodes, and no others.
        node_selector: labels that a node must have in any case. Linux: a Windows node can belong to a declared group.
    """

    terms: tuple[tuple[Requirement, ...], ...]
    tolerations: tuple[Toleration, ...]
    node_selector: tuple[tuple[str, str], ...] = ((OS_LABEL, "linux"),)


def for_node_agents(cluster: Cluster) -> Placement:
    """All declared groups; startup taints are tolerated too, since an agent must be there before they are removed."""
    return _placement(cluster.node_groups, lambda group: (*group.taints, *group.startup_taints))


def for_pods(cluster: Cluster, runs_on: Iterable[str]) -> Placement:
    """The groups named, or all groups without taints if none is.

    Args:
        cluster: the declared groups.
        runs_on: names of groups; unknown ones were refused by the settings.
    """
    allowed = node_groups.allowed_groups(cluster, tuple(runs_on))
    groups = {name: cluster.node_groups[name] for name in allowed}
    return _placement(groups, lambda group: group.taints)


def _placement(
    groups: Mapping[str, NodeGroup], taints: Callable[[NodeGroup], tuple[Taint, ...]]
) -> Placement:
    values: dict[str, set[str]] = {}
    for name, group in groups.items():
        selector = node_groups.selector(name, group)
        values.setdefault(selector.key, set()).update(selector.values)
    # Fargate's virtual nodes run no DaemonSet pod, and a group of kind `other` may have a label that they share.
    not_fargate = Requirement(COMPUTE_TYPE_LABEL, "NotIn", ("fargate",))
    terms = tuple((Requirement(key, "In", tuple(sorted(values[key]))), not_fargate) for key in sorted(values))
    tolerations = {
        Toleration(taint.key, taint.value, taint.effect)
        for group in groups.values()
        for taint in taints(group)
        if is_hard(taint.effect)
    }
    return Placement(terms, tuple(sorted(tolerations)))
