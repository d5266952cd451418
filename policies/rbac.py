"""What a rule of a role grants, exactly as the API server's authorizer reads it.

Semantics: kubernetes/kubernetes `pkg/apis/rbac/v1/evaluation_helpers.go`. Verbs and API groups match by `*` or by the
exact word. Resources match by `*`, by the exact word, and `*/log` by subresource; `pods/*` and `*/*` are no wildcards
and grant nothing of that kind. A rule with resourceNames grants no list or watch without that name. Each rule counts by
itself: names in one rule narrow no other.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policies.values import Field, Truth, all_of, any_of, contains

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


def grants(rules: Field, actions: Iterable[Action]) -> Iterator[Grant]:
    """Which of these actions the rules allow, or could."""
    wanted = list(actions)
    if rules.unknown:
        for action in wanted:
            yield Grant(action, rules, None)
    for rule in rules.items():
        for action in wanted:
            allowed = allows(rule, action)
            if allowed is not False:
                names = rule["resourceNames"]
                certain = None if names.has_unknown else allowed
                yield Grant(action, rule, certain, tuple(names.texts()))


def allows(rule: Field, action: Action) -> Truth:
    """Whether one rule allows an action, on some objects at least."""
    return all_of(
        [
            _word(rule["verbs"], action.verb),
            _word(rule["apiGroups"], action.group),
            _resource(rule["resources"], action),
        ]
    )


def _word(listed: Field, wanted: str) -> Truth:
    return any_of([contains(listed, ANY), contains(listed, wanted)])


def _resource(listed: Field, action: Action) -> Truth:
    matching = [ANY, action.combined]
    if action.subresource:
        matching.append(f"*/{action.subresource}")
    return any_of(contains(listed, word) for word in matching)
