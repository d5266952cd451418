"""The rules behind a binding: of roles that are known here, built-in ones, and aggregated ones."""

from collections.abc import Iterator
from dataclasses import dataclass

from policies.builtin_roles import AGGREGATE_TO, GROUP, WIDENED, builtin_roles, labels_of_builtin
from policies.manifest import Manifest, Origin
from policies.selectors import selector_matches
from policies.values import Field, Truth, any_of
from policies.world import World

CLUSTER_ROLE, ROLE = "ClusterRole", "Role"


@dataclass(frozen=True)
class Resolved:
    """What is known of a role.

    Attributes:
        rules: lists of rules, each of which counts.
        complete: whether there can be no more.
        missing: whether the role is not here at all.
    """

    rules: tuple[Field, ...]
    complete: bool = True
    missing: bool = False


def resolve(kind: str, name: str, namespace: str, world: World) -> Resolved:
    """The rules of a role, from all that is known."""
    found = world.find(kind, name, namespace if kind == ROLE else "")
    parts = [_rules(role, world) for role in found]
    if kind == CLUSTER_ROLE and name in builtin_roles() and not any(_is_live(role) for role in found):
        parts.append(Resolved((Field(builtin_roles()[name], f"ClusterRole {name}"),)))
    if not parts:
        return Resolved((), complete=False, missing=True)
    only_patches = all(role.patch for role in found) and found and name not in builtin_roles()
    complete = all(part.complete for part in parts) and not only_patches
    return Resolved(tuple(rules for part in parts for rules in part.rules), complete)


def widens(role: Manifest) -> Iterator[Field]:
    """Labels by which the role's rules become part of view, edit or admin, for everyone who has those."""
    for name in WIDENED:
        label = role.labels[f"{GROUP}/{AGGREGATE_TO}{name}"]
        if label.unknown or label.text == "true":
            yield label


def _is_live(role: Manifest) -> bool:
    return role.origin is Origin.CLUSTER


def _rules(role: Manifest, world: World) -> Resolved:
    """An aggregated role's own rules are overwritten by those of the roles that its selectors match in the cluster."""
    aggregation = role.root["aggregationRule"]
    if aggregation.absent or _is_live(role):
        return Resolved((role.root["rules"],))
    matched = [other for other in world.of_kind(CLUSTER_ROLE) if _matches(aggregation, other) is not False]
    rules = [other.root["rules"] for other in matched if other.root["aggregationRule"].absent]
    built_in = [
        Field(rules_of_it, f"ClusterRole {name}")
        for name, rules_of_it in builtin_roles().items()
        if _selects(aggregation, labels_of_builtin(name))
    ]
    return Resolved((*rules, *built_in), complete=False)


def _matches(aggregation: Field, role: Manifest) -> Truth:
    labels = role.labels
    if labels.unknown:
        return None
    return any_of(selector_matches(s, labels) for s in aggregation["clusterRoleSelectors"].items())


def _selects(aggregation: Field, labels: dict[str, str]) -> bool:
    return any(
        selector_matches(s, Field(labels)) is True for s in aggregation["clusterRoleSelectors"].items()
    )
