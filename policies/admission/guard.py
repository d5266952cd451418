"""What a guard is: one ValidatingAdmissionPolicy as plain data, and how its texts become CEL.

The API server tells only the first validation that denies, so under `deny` a guard has one, whose message is that of
all its rules; under `warn` each rule warns by itself.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from components.names import LAYER_NAMESPACE, NODES_NAMESPACE, TENANT_LABEL

Action = Literal["deny", "warn"]
Params = Literal["exemptions", "tenants"]

# Namespaces in which no workload is judged: no guard may keep the cluster's own parts or the layer from coming up.
SPARED_NAMESPACES = ("kube-system", "kube-public", "kube-node-lease", LAYER_NAMESPACE, NODES_NAMESPACE)
NAMESPACE_NAME = "kubernetes.io/metadata.name"
# The API server's own loopback client: it brings the built-in roles and bindings up to date at each start.
API_SERVER = "system:apiserver"
NOT_THE_API_SERVER = f"request.userInfo.username != {json.dumps(API_SERVER)}"


@dataclass(frozen=True)
class Resources:
    """Requests that a guard gets to see.

    Attributes:
        groups: API groups; `*` for all.
        resources: plural names, with `/subresource` where one is meant; `*` for all of the groups.
        operations: CREATE and UPDATE; what is applied for the first time is created.
        scope: `Namespaced` or `Cluster`: no namespace selector keeps what is cluster-scoped out.
    """

    groups: tuple[str, ...]
    resources: tuple[str, ...]
    scope: Literal["Namespaced", "Cluster"]
    operations: tuple[str, ...] = ("CREATE", "UPDATE")


@dataclass(frozen=True)
class Defect:
    """One thing that is wrong.

    Attributes:
        test: CEL that is true where it is so.
        why: for people; `{tenant}` stands for the tenant of the namespace.
    """

    test: str
    why: str


@dataclass(frozen=True)
class Check:
    """What one rule says about a request.

    Attributes:
        rule: its name, the pack's where the pack has it.
        defects: all that it looks for.
        fix: what to do instead.
        when: CEL: whether this request changes what the rule reads. What exists already is nobody's fault now.
        unless: CEL: whether whoever asks may do it all the same. Of its own, since no message may ask the authorizer.
    """

    rule: str
    defects: tuple[Defect, ...]
    fix: str
    when: str = "true"
    unless: str = ""

    @property
    def variable(self) -> str:
        """Name of the CEL variable that holds the message, empty if nothing is wrong."""
        return self.rule.replace("-", "_")


@dataclass(frozen=True)
class Selector:
    """One condition on the labels of a request's namespace."""

    key: str
    operator: Literal["Exists", "DoesNotExist", "NotIn"]
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Guard:
    """One policy.

    Attributes:
        name: of the policy and of its binding.
        resources: what it gets to see.
        namespaces: conditions on the labels of the namespace; none means every one.
        checks: what it looks for.
        variables: CEL by name, each of which may use those before it.
        conditions: CEL by name, which all have to hold; else the request passes unseen.
        params: what else it is given: the layer's namespace with the exemptions, or each namespace of a tenant in turn.
    """

    name: str
    resources: tuple[Resources, ...]
    checks: tuple[Check, ...]
    namespaces: tuple[Selector, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    params: Params | None = None

    def all_variables(self) -> dict[str, str]:
        """Its variables, and two for each rule: what is wrong, and the message."""
        found = dict(self.variables)
        for check in self.checks:
            found |= _texts(check, exemptible=self.params == "exemptions")
        together = ", ".join(f"variables.{check.variable}" for check in self.checks if not check.unless)
        found["all"] = f"[{together}]{_NOT_EMPTY}"
        return found

    def validations(self, action: Action) -> list[tuple[str, str]]:
        """Expression and message expression of each validation."""
        alone = self.checks if action == "warn" else [check for check in self.checks if check.unless]
        found = [_validation(check) for check in alone]
        if len(alone) < len(self.checks):
            found.append(("variables.all.size() == 0", 'variables.all.join(" ")'))
        return found


TENANTS = Selector(TENANT_LABEL, "Exists")
NO_TENANTS = Selector(TENANT_LABEL, "DoesNotExist")
NOT_SPARED = Selector(NAMESPACE_NAME, "NotIn", SPARED_NAMESPACES)
_NOT_EMPTY = '.filter(m, m != "")'


def text(value: str) -> str:
    """A text as CEL: quoted, with `{tenant}` replaced by the tenant's name."""
    parts = [json.dumps(part, ensure_ascii=False) for part in value.split("{tenant}")]
    return ' + "tenant " + variables.tenant + '.join(parts)


def one_of(values: Sequence[str]) -> str:
    """A list of texts as CEL."""
    return json.dumps(list(values), ensure_ascii=False)


def exemption_line(rule: str, namespace: str, name: str, reason: str) -> str:
    """One exemption as it stands in the annotation; nothing before the reason has a blank in it."""
    return f"{rule} {namespace}/{name} {' '.join(reason.split())}"


def _validation(check: Check) -> tuple[str, str]:
    message = f"variables.{check.variable}"
    may = f" || {check.unless}" if check.unless else ""
    return f'{message} == ""{may}', message


def _texts(check: Check, *, exemptible: bool) -> dict[str, str]:
    found = ", ".join(f'{defect.test} ? {text(defect.why)} : ""' for defect in check.defects)
    line = f"{json.dumps(check.rule + ' ')} + variables.place"
    spared = f" && !variables.exempt.exists(line, line.startsWith({line}))" if exemptible else ""
    what = f"{check.variable}_found"
    begin, end = json.dumps(f"{check.rule}: "), json.dumps(f". {check.fix}.")
    return {
        what: f"({check.when}){spared} ? [{found}]{_NOT_EMPTY} : []",
        check.variable: f'variables.{what}.size() == 0 ? "" : {begin} + variables.{what}.join("; ") + {end}',
    }
