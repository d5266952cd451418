"""Whether a pod can run on the nodes of a group, and whether two pods can meet on one node. Three-valued.

Of a declared group only some labels are known: its selector, the operating system, its instance types and what the
other selectors exclude. A condition on any other label cannot be decided.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from components.cluster.node_groups import LABELS, selector
from components.settings.model import NodeGroup
from components.taints import is_hard
from policies.affinity import Demand, demands
from policies.pods import Pod
from policies.values import Field, Truth, all_of, any_of, negate

OS, INSTANCE_TYPE = "kubernetes.io/os", "node.kubernetes.io/instance-type"

Taint = tuple[str, str, str]
"""Key, value and effect."""


@dataclass(frozen=True)
class NodeKind:
    """Nodes that are alike.

    Attributes:
        name: of the group.
        labels: values that a label can have on these nodes; an empty set means that they lack it.
        taints: that keep pods off.
        all_labels: whether these are all labels (a live node), or only those that are known.
    """

    name: str
    labels: Mapping[str, frozenset[str]]
    taints: tuple[Taint, ...]
    all_labels: bool = False


def of_group(name: str, group: NodeGroup) -> NodeKind:
    """What the settings say of a group's nodes."""
    known = selector(name, group)
    labels = {label: frozenset[str]() for label in LABELS.values()} if group.selector is None else {}
    labels |= {OS: frozenset({"linux"}), known.key: frozenset(known.values)}
    if group.instance_types:
        labels[INSTANCE_TYPE] = frozenset(group.instance_types)
    taints = tuple((t.key, t.value, t.effect) for t in group.taints if is_hard(t.effect))
    return NodeKind(name, labels, taints)


def of_node(raw: Mapping[str, Any]) -> NodeKind:
    """What the API server says of a node."""
    node = Field(raw)
    labels = {key: frozenset({value.text or ""}) for key, value in node.at("metadata", "labels").members()}
    taints = tuple(
        (taint["key"].text or "", taint["value"].text or "", taint["effect"].text or "")
        for taint in node.at("spec", "taints").items()
        if is_hard(taint["effect"].text)
    )
    return NodeKind(node.at("metadata", "name").text or "", labels, taints, all_labels=True)


def group_of(node: Mapping[str, Any]) -> str:
    """The node's group: its managed group or NodePool, else its instance type."""
    labels = node["metadata"].get("labels") or {}
    for key in (*dict.fromkeys(LABELS.values()), INSTANCE_TYPE):
        if labels.get(key):
            return str(labels[key])
    return "(no group)"


def lands(pod: Pod, node: NodeKind) -> Truth:
    """Whether the pod can run on such a node."""
    wanted = demands(pod)
    checks = [_holds(demand, node) for demand in wanted.selector]
    if wanted.terms is not None:
        checks.append(any_of(all_of(_holds(d, node) for d in term) for term in wanted.terms))
    checks += [None for _ in wanted.unknown]
    checks += [tolerated(pod.spec["tolerations"], taint) for taint in node.taints]
    return all_of(checks)


def tolerated(tolerations: Field, taint: Taint) -> Truth:
    """Whether one of the tolerations matches the taint."""
    if tolerations.unknown:
        return None
    return any_of(_tolerates(toleration, taint) for toleration in tolerations.items())


def disjoint(one: Pod, other: Pod) -> bool:
    """Whether the two surely never meet on one node: every pair of their alternatives contradicts itself."""
    ones, others = _alternatives(one), _alternatives(other)
    return all(any(_contradict(a, b) for a, b in product(x, y)) for x, y in product(ones, others))


def _tolerates(toleration: Field, taint: Taint) -> Truth:
    if toleration.unknown:
        return None
    key, value, effect = taint
    operator, wanted = toleration["operator"], toleration["effect"]
    same_effect = wanted.empty or _equal(wanted, effect)
    same_key = _equal(toleration["key"], key)
    exists = None if operator.unknown else operator.text == "Exists"
    same_value = any_of([exists, _equal(toleration["value"], value)])
    keyless = all_of([toleration["key"].empty, exists])
    return all_of([same_effect, any_of([keyless, all_of([same_key, same_value])])])


def _equal(field: Field, wanted: str) -> Truth:
    return None if field.unknown else (field.text or "") == wanted


def _holds(demand: Demand, node: NodeKind) -> Truth:
    if demand.key is None or demand.operator is None:
        return None
    if demand.is_field:
        values = frozenset({node.name}) if node.all_labels else None
    else:
        values = node.labels.get(demand.key, frozenset() if node.all_labels else None)
    return None if values is None else _compare(demand, values)


def _compare(demand: Demand, values: frozenset[str]) -> Truth:
    """The condition on a label of which the possible values are known; none means that the label is absent."""
    operators: dict[str, Callable[[], Truth]] = {
        "Exists": lambda: bool(values),
        "DoesNotExist": lambda: not values,
        "In": lambda: _among(demand.values, values),
        "NotIn": lambda: negate(_among(demand.values, values)),
        "Gt": lambda: _number(demand, values),
        "Lt": lambda: _number(demand, values),
    }
    return operators.get(demand.operator or "", lambda: False)()


def _among(wanted: tuple[str, ...] | None, values: frozenset[str]) -> Truth:
    if wanted is None:
        return None
    inside = values & set(wanted)
    return False if not inside else True if inside == values else None


def _number(demand: Demand, values: frozenset[str]) -> Truth:
    try:
        (bound,) = (int(value) for value in demand.values or ())
        numbers = [int(value) for value in values]
    except ValueError:
        return False
    if not numbers:
        return False
    results = {number > bound if demand.operator == "Gt" else number < bound for number in numbers}
    return results.pop() if len(results) == 1 else None


def _alternatives(pod: Pod) -> list[tuple[Demand, ...]]:
    wanted = demands(pod)
    return [(*wanted.selector, *term) for term in (wanted.terms or ((),))]


def _contradict(one: Demand, other: Demand) -> bool:
    """Whether no node can meet both conditions."""
    if one.key is None or one.key != other.key or one.is_field != other.is_field:
        return False
    return _excludes(one, other) or _excludes(other, one)


def _excludes(one: Demand, other: Demand) -> bool:
    if one.values is None or (other.values is None and other.operator in ("In", "NotIn")):
        return False
    if one.operator == "In" and other.operator == "In":
        return not set(one.values) & set(other.values or ())
    if one.operator == "In" and other.operator == "NotIn":
        return set(one.values) <= set(other.values or ())
    return one.operator in ("In", "Exists", "Gt", "Lt") and other.operator == "DoesNotExist"


def kinds_of(groups: Mapping[str, NodeGroup]) -> Iterable[NodeKind]:
    """All declared groups."""
    return [of_group(name, group) for name, group in groups.items()]
