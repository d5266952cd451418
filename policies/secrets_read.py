"""`secrets-read`: nobody reads the secrets of the whole cluster without a stated reason."""

from collections.abc import Iterator

from pydantic import Field as Setting

from policies.config import RuleSettings
from policies.manifest import Manifest, Origin
from policies.rbac import Action, grants
from policies.roles import CLUSTER_ROLE, resolve
from policies.rule import Rule, Severity
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

FIX = (
    "Bind a Role in the namespaces whose secrets it needs, name the secrets by `resourceNames`, or exempt the binding "
    "with the reason"
)
READS = tuple(Action(verb, "", "secrets") for verb in ("get", "list", "watch"))
SYSTEM = "system:"


class SecretsReadSettings(RuleSettings):
    """Roles that were looked into."""

    trusted_roles: tuple[str, ...] = Setting(default=(), description="ClusterRoles that may read secrets")


def judge(manifest: Manifest, world: World, settings: SecretsReadSettings) -> Iterator[Finding]:
    """Judges ClusterRoleBindings; those of the cluster's own components are the cluster's business."""
    if (
        manifest.kind != "ClusterRoleBinding"
        or manifest.name.startswith(SYSTEM)
        or manifest.root["subjects"].empty
    ):
        return
    reference = manifest.root["roleRef"]
    name = reference["name"].text
    if reference.unknown or reference["name"].unknown:
        yield undecided(manifest, reference, "the role is not known yet", f"{FIX}.")
        return
    if name is None or name in settings.trusted_roles or _is_for_administrators(manifest):
        return
    resolved = resolve(CLUSTER_ROLE, name, "", world)
    found = [grant for rules in resolved.rules for grant in grants(rules, READS) if not grant.names]
    certain = [grant for grant in found if grant.certain]
    if certain:
        verbs = ", ".join(dict.fromkeys(grant.action.verb for grant in certain))
        why = f"it lets its subjects {verbs} secrets in every namespace, tokens of all service accounts among them"
        yield violation(manifest, reference, why, f"{FIX}.", ways=";".join(g.action.label() for g in certain))
    elif found or not (resolved.complete or (resolved.missing and manifest.origin is Origin.CLUSTER)):
        yield undecided(manifest, reference, "whether its role reads secrets cannot be seen", f"{FIX}.")


def _is_for_administrators(manifest: Manifest) -> bool:
    """`system:masters` may do everything without any role."""
    return all(subject["name"].text == "system:masters" for subject in manifest.root["subjects"].items())


PAGE = """
## How it decides
Judged are ClusterRoleBindings, but those named `system:...`, and those for `system:masters` alone. The role's rules are
read as the authorizer reads them; `list` and `watch` return the data like `get`. A rule with `resourceNames` passes.

## What it does not see
Roles of other stacks (*cannot be decided*; `trustedRoles`), and secrets that are mounted.
"""

RULE = Rule(
    name="secrets-read",
    summary="Nobody reads secrets in every namespace.",
    level=Level.ADVISORY,
    severity=Severity.HIGH,
    remediation=f"{FIX}.",
    page=PAGE,
    settings=SecretsReadSettings,
    judge=judge,
    joins=True,
)
