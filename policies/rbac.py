"""What a rule of a role grants, exactly as the API server's authorizer reads it.

Semantics: kubernetes/kubernetes `pkg/apis/rbac/v1/evaluation_helpers.go`. Verbs and API groups match by `*` or by the
exact word. Resources match by `*`, by the exact word, and `*/log` by subresource; `pods/*` and `*/*` are no wildcards
and grant nothing of that kind. A rule with resourceNames grants no list or watch without that name. Each rule counts by
itself: names in one rule narrow no other.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policies.values import Field, Truth

ANY = "*"


@dataclass(frozen=True, order=True)
class Action:
    """One thing that can be allowed.

    Attributes:
        subresource: `log` of `pods/log`; empty for the resource itself.
    """

    verb: str
    group: str
    resource: str
    subresource: str = ""

    @property
    def combined(self) -> str:
        """Resource and subresource as a role writes them."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def by_subresource(self) -> tuple[str, ...]:
        """The word that matches the subresource of any resource."""
        return (f"*/{self.subresource}",) if self.subresource else ()

    def label(self) -> str:
        """For messages: `list pods`, `create deployments.apps`."""
        return f"{self.verb} {self.combined}{f'.{self.group}' if self.group else ''}"


@dataclass(frozen=True)
class Grant:
    """An action that a rule allows.

    Attributes:
        action: the action.
        rule: where.
        certain: True, or None if part of the rule is not known.
        names: resourceNames, to which the grant is limited; empty if it is not.
    """

    action: Action
    rule: Field
    certain: Truth
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Words:
    """A list of words, of which some may not be known."""

    known: frozenset[str]
    open: bool

    def has(self, *wanted: str) -> Truth:
        """Whether one of these words is in the list."""
        return True if not self.known.isdisjoint(wanted) else None if self.open else False


def grants(rules: Field, actions: Iterable[Action]) -> Iterator[Grant]:
    """Which of these actions the rules allow, or could."""
    wanted = list(actions)
    if rules.unknown:
        for action in wanted:
            yield Grant(action, rules, None)
    for rule in rules.items():
        verbs, groups, resources = (_words(rule[key]) for key in ("verbs", "apiGroups", "resources"))
        names = _words(rule["resourceNames"])
        for action in wanted:
            truths = (
                verbs.has(ANY, action.verb),
                groups.has(ANY, action.group),
                resources.has(ANY, action.combined, *action.by_subresource),
            )
            if False not in truths:
                certain = None if names.open or None in truths else True
                yield Grant(action, rule, certain, tuple(sorted(names.known)))


def _words(field: Field) -> Words:
    open_ = field.unknown or any(item.unknown for item in field.items())
    return Words(frozenset(field.texts()), open_)
