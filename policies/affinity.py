"""What a pod demands of a node's labels, as the scheduler and the DaemonSet controller read it.

Semantics: kubernetes/kubernetes, component-helpers/scheduling/corev1/nodeaffinity and pkg/controller/daemon. Terms
of a required node affinity are alternatives, expressions inside a term all have to hold, an empty term matches no
node, and nodeSelector has to hold as well. Preferred affinity filters nothing. Pod (anti-)affinity is no placement
of a DaemonSet: its controller pins each pod to a node by name, so those filters only leave pods Pending.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from policies.pods import Pod
from policies.values import Field

REQUIRED = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")


@dataclass(frozen=True)
class Demand:
    """One condition on a node.

    Attributes:
        key: label key, or `metadata.name`; None if it is not known.
        operator: In, NotIn, Exists, DoesNotExist, Gt or Lt; None if it is not known; other texts are invalid.
        values: None if they are not known.
        field: where it is.
    """

    key: str | None
    operator: str | None
    values: tuple[str, ...] | None
    field: Field
    is_field: bool = False


@dataclass(frozen=True)
class Demands:
    """All conditions of a pod.

    Attributes:
        selector: nodeSelector's, all of which have to hold.
        terms: alternatives; None if there is no required affinity.
        unknown: fields of which nothing is known, any of which could hold conditions.
    """

    selector: tuple[Demand, ...]
    terms: tuple[tuple[Demand, ...], ...] | None
    unknown: tuple[Field, ...]


def demands(pod: Pod) -> Demands:
    """Reads nodeSelector and required node affinity."""
    selector, required = pod.spec["nodeSelector"], pod.spec.at(*REQUIRED)
    terms = required["nodeSelectorTerms"]
    blind = [field for field in (selector, required) if field.unknown]
    if not required.unknown and terms.unknown:
        blind.append(terms)
    read = tuple(tuple(_term(term)) for term in terms.items() if not _matches_nothing(term))
    has_terms = any(True for _ in terms.items())
    return Demands(tuple(_selector(selector)), read if has_terms else None, tuple(blind))


def _selector(selector: Field) -> Iterator[Demand]:
    for key, value in selector.members():
        yield Demand(key, "In", None if value.unknown else (value.text or "",), value)


def _term(term: Field) -> Iterator[Demand]:
    if term.unknown:
        yield Demand(None, None, None, term)
    for part in ("matchExpressions", "matchFields"):
        if term[part].unknown and not term.unknown:
            yield Demand(None, None, None, term[part])
        for expression in term[part].items():
            yield _demand(expression, is_field=part == "matchFields")


def _demand(expression: Field, *, is_field: bool) -> Demand:
    key, operator, values = expression["key"], expression["operator"], expression["values"]
    return Demand(
        None if key.unknown else key.text or "",
        None if operator.unknown else operator.text or "",
        None if values.has_unknown else tuple(values.texts()),
        expression,
        is_field,
    )


def _matches_nothing(term: Field) -> bool:
    """An empty term is valid and matches no node."""
    return not term.unknown and term["matchExpressions"].empty and term["matchFields"].empty
