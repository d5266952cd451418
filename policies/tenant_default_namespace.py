"""`tenant-default-namespace`: a tenant's objects say where they belong."""

from collections.abc import Iterator

from policies.config import RuleSettings
from policies.manifest import Manifest, Origin
from policies.rule import Rule, Severity
from policies.tenancy import DEFAULT_NAMESPACE
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

FIX = "State `metadata.namespace`: one of the tenant's namespaces"


def judge(manifest: Manifest, world: World, _settings: RuleSettings) -> Iterator[Finding]:
    """Judges objects of tenants' stacks and components: anywhere else an object in `default` is nobody's."""
    owner = world.tenancy.owner(manifest)
    namespace = manifest.namespace
    if not (owner.known and owner.whole_stack) or manifest.patch:
        return
    if namespace.text == DEFAULT_NAMESPACE:
        yield from _default(manifest, owner.label, world)
    elif namespace.empty and manifest.namespaced:
        why = f"it states no namespace, so where {owner.label} puts it depends on who applies it"
        yield undecided(manifest, namespace, why, f"{FIX}.")


def _default(manifest: Manifest, owner: str, world: World) -> Iterator[Finding]:
    """At preview the provider writes `default` for a namespace that is not known yet: nobody is accused of that."""
    if manifest.origin is not Origin.PREVIEW or (world.complete and manifest.literal):
        why = f"{owner} puts it into the namespace default, outside its quota, limits and network policies"
        yield violation(manifest, manifest.namespace, why, f"{FIX}.")
    else:
        why = "a namespace that is not known yet shows as default at preview, so this may be right or wrong"
        yield undecided(manifest, manifest.namespace, why, f"{FIX}, by a value that is known at preview.")


PAGE = """
## How it decides
Judged are objects of a tenant's own stack or component: in `default` nobody's quota, limits or network policies hold.

At preview the Kubernetes provider writes its default namespace in place of one that is not known yet, so `default` may
be the truth or not. If the object's metadata depends on no other resource the value was written down, and it is a
violation at once; otherwise the verdict at preview is *cannot be decided*, and the update decides.

## What it does not see
Objects without a namespace in files: where they land depends on who applies them (*cannot be decided*).

## Sources
pulumi-kubernetes `provider/pkg/provider/provider.go`, `Check`: an unknown namespace reads as an empty one.
"""

RULE = Rule(
    name="tenant-default-namespace",
    summary="A tenant puts nothing into the namespace default.",
    level=Level.MANDATORY,
    severity=Severity.MEDIUM,
    remediation=f"{FIX}.",
    page=PAGE,
    judge=judge,
    joins=True,
)
