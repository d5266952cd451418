"""`tenant-cluster-pod-list`: no tenant reads the pods of the whole cluster, directly or by a detour."""

from collections.abc import Iterable, Iterator

from pydantic import Field as Setting

from components.wording import listed
from policies.config import RuleSettings
from policies.manifest import Manifest, Origin
from policies.roles import CLUSTER_ROLE, resolve, widens
from policies.rule import Rule, Severity
from policies.subjects import TenantSubject, tenant_subjects
from policies.tenancy import Owner
from policies.values import Field
from policies.verdict import Finding, Level, undecided, violation
from policies.ways import DIRECT, INDIRECT, Way, ways
from policies.world import World

FIX = (
    "Bind a Role in the tenant's own namespace instead (`pods` get, list, watch and `pods/log` get are enough for a "
    "collector of its own); what needs the whole cluster belongs into the shared layer"
)
CLUSTER_ROLE_BINDING, ROLE_BINDING = "ClusterRoleBinding", "RoleBinding"
SYSTEM_NAMESPACE = "kube-system"
# A message that lists more ways than these explains nothing.
MOST_WAYS = 3


class PodListSettings(RuleSettings):
    """Roles that are not here, and roles that nobody is bound to."""

    trusted_roles: tuple[str, ...] = Setting(
        default=(), description="names of ClusterRoles outside this stack that were looked into"
    )
    unbound_roles: bool = Setting(
        default=False, description="judge ClusterRoles of a tenant's stack to which nothing here is bound"
    )


def judge(manifest: Manifest, world: World, settings: PodListSettings) -> Iterator[Finding]:
    """Judges bindings, and what ClusterRoles of tenants do by themselves."""
    if manifest.group != "rbac.authorization.k8s.io":
        return
    owner = world.tenancy.owner(manifest)
    if manifest.kind == CLUSTER_ROLE and owner.known and owner.whole_stack:
        yield from _role(manifest, owner, world, settings)
    if manifest.kind in (CLUSTER_ROLE_BINDING, ROLE_BINDING):
        subjects = list(tenant_subjects(manifest, world.tenancy, owner))
        if manifest.kind == ROLE_BINDING:
            subjects = [subject for subject in subjects if _reaches(manifest, subject, owner, world)]
        if subjects:
            yield from _binding(manifest, subjects, world, settings)


def _role(manifest: Manifest, owner: Owner, world: World, settings: PodListSettings) -> Iterator[Finding]:
    for label in widens(manifest):
        why = f"by this label {owner.label} adds rights to a built-in role, for everyone who has that role"
        yield violation(manifest, label, why, "Remove the label.")
    bound = any(
        _refers_to(binding, manifest) for binding in world.of_kind(CLUSTER_ROLE_BINDING, ROLE_BINDING)
    )
    if settings.unbound_roles and world.complete and not bound:
        resolved = resolve(CLUSTER_ROLE, manifest.name, "", world)
        found = ways(resolved, world, cluster_wide=True)
        yield from _report(manifest, manifest.root["rules"], found, _anyone(manifest, owner), "")


def _anyone(manifest: Manifest, owner: Owner) -> TenantSubject:
    return TenantSubject(manifest.root, f"whomever {owner.label} binds to it", True, owner.tenant)


def _refers_to(binding: Manifest, role: Manifest) -> bool:
    reference = binding.root["roleRef"]
    return reference["kind"].text == CLUSTER_ROLE and reference["name"].text == role.name


def _reaches(manifest: Manifest, subject: TenantSubject, owner: Owner, world: World) -> bool:
    """Whether a RoleBinding reaches beyond the tenant's own namespaces, or could."""
    namespace = manifest.namespace.text
    if namespace is None or subject.everyone or subject.certain is None:
        return namespace is not None or manifest.namespace.unknown
    own = world.tenancy.namespaces_of(subject.tenant) | {subject.tenant}
    if owner.whole_stack:
        own |= {found.name for found in world.of_kind("Namespace")} - set(world.settings.layer_namespaces)
    known_owner = _protected(namespace, world) or world.tenancy.of_namespace(namespace) is not None
    # A namespace of which nothing is known yet can still turn out to be the tenant's own.
    return namespace not in own and (known_owner or (world.complete and not owner.whole_stack))


def _protected(namespace: str, world: World) -> bool:
    return namespace == SYSTEM_NAMESPACE or namespace in world.settings.layer_namespaces


def _binding(
    manifest: Manifest, subjects: list[TenantSubject], world: World, settings: PodListSettings
) -> Iterator[Finding]:
    subject = min(subjects, key=lambda found: (found.certain is None, found.everyone))
    reference, namespace = _reference(manifest, world), manifest.namespace.text or ""
    cluster_wide = manifest.kind == CLUSTER_ROLE_BINDING
    scope = "" if cluster_wide else namespace
    if not cluster_wide and subject.certain and not subject.everyone and _protected(namespace, world):
        why = f"it gives {subject.label} rights in the namespace {namespace}, which is not its own"
        yield violation(manifest, manifest.namespace, why, f"{FIX}.", scope=scope)
        return
    if not cluster_wide and manifest.namespace.unknown:
        yield from _unresolved(manifest, subject, "the binding's namespace is not known yet")
        return
    kind, name = reference["kind"].text, reference["name"].text
    if kind is None or name is None:
        yield from _unresolved(manifest, subject, "the role is not known yet")
        return
    if kind == CLUSTER_ROLE and name in settings.trusted_roles:
        return
    resolved = resolve(kind, name, namespace, world)
    found = ways(resolved, world, cluster_wide=cluster_wide)
    reported = list(_report(manifest, manifest.root["roleRef"], found, subject, scope))
    yield from reported
    dangling = (
        resolved.missing and manifest.origin is Origin.CLUSTER
    )  # a cluster that was read has all its roles
    if not (reported or resolved.complete or dangling):
        what = "is not here" if resolved.missing else "is put together in the cluster"
        yield from _unresolved(manifest, subject, f"the {kind} {what}")


def _reference(manifest: Manifest, world: World) -> Field:
    """The role; a patch of subjects says none, but the binding that it patches does."""
    reference = manifest.root["roleRef"]
    if reference.absent and manifest.patch:
        for other in world.find(manifest.kind, manifest.name, manifest.namespace.text or ""):
            if not other.root["roleRef"].absent:
                return other.root["roleRef"]
    return reference


def _unresolved(manifest: Manifest, subject: TenantSubject, reason: str) -> Iterator[Finding]:
    why = f"whether it lets {subject.label} read pods beyond its own cannot be seen, since {reason}"
    fix = f"{FIX}; a ClusterRole that was looked into can be stated in `trustedRoles`."
    yield undecided(manifest, manifest.root["roleRef"], why, fix)


def _report(
    manifest: Manifest,
    path: Field,
    found: Iterable[Way],
    subject: TenantSubject,
    scope: str,
) -> Iterator[Finding]:
    """One finding for each object: the direct way if there is one, else the detours."""
    known = list(found)
    certain = [way for way in known if way.certain and subject.certain]
    direct = [way for way in certain if way.grant.action in DIRECT]
    chosen = direct or certain or known
    if not chosen:
        return
    where = f"in the namespace {scope}, which is not its own" if scope else "in the whole cluster"
    labels = list(dict.fromkeys(way.grant.action.label() for way in chosen))
    text = listed(labels, MOST_WAYS)
    detour = "" if direct or chosen[0].grant.action in DIRECT else f" ({INDIRECT[chosen[0].grant.action]})"
    facts = {"scope": scope, "ways": ";".join(way.fact() for way in chosen)}
    if certain:
        yield violation(manifest, path, f"it lets {subject.label} {text} {where}{detour}", f"{FIX}.", **facts)
    else:
        why = f"it could let {subject.label} {text} {where}{detour}, depending on values or names that are not known"
        yield undecided(manifest, path, why, f"{FIX}.", **facts)


PAGE = """
## How it decides
Judged are bindings whose subject is a tenant's: a service account of its namespace, in any of its spellings (kind
`ServiceAccount`, user `system:serviceaccount:NS:NAME`, group `system:serviceaccounts:NS`), groups that hold every
account (`system:serviceaccounts`, `system:authenticated`, ...), the tenant's people as the settings name them, and
every subject that a tenant's own stack binds.

The role behind it is looked up in the stack, then among the API server's built-in roles (`view`, `edit`, `admin`,
`system:kube-scheduler`, ... all read pods). Its rules are read as the authorizer reads them, each by itself: `*` and
exact words only, the core API group or `*`, `watch` like `list`, and a rule with `resourceNames` grants neither. `*` in
another API group, `pods/*`, `*/*`, `*/log` and `pods/log` list no pods and pass.

Detours count too: `nodes/proxy` and `nodes/pods` (the kubelet lists every pod), `escalate`, `bind`, the making of role
bindings, `impersonate`, tokens of any service account, and workloads in every namespace, which run as any account.
`bind` on named roles is judged by those roles. A RoleBinding counts if it is in somebody else's namespace: in
`kube-system` and the layer's with any right, elsewhere with pods or a detour.

An aggregated ClusterRole has the rules of whatever its selectors match in the cluster: those of this stack and the
built-in ones are looked into; if they grant nothing, the verdict is *cannot be decided*. A tenant's ClusterRole with a
label `rbac.authorization.k8s.io/aggregate-to-view` (`-edit`, `-admin`) widens a built-in role and is refused.

The finding is on the binding. A ClusterRole of a tenant's stack to which nothing is bound here is judged with
`unboundRoles: true`.

## What it does not see
Roles of other stacks (*cannot be decided*; `trustedRoles` states those that were looked into), bindings made by hand or
by another stack, rights of webhook authorizers and of EKS access policies, metrics of pods (`metrics.k8s.io`).

## Sources
kubernetes/kubernetes `pkg/apis/rbac/v1/evaluation_helpers.go`,
`plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go`. Compared with the real authorizer by SubjectAccessReview:
`tests/policies/cluster/`.
"""

RULE = Rule(
    name="tenant-cluster-pod-list",
    summary="No tenant may list or watch the pods of the whole cluster, directly or by a detour.",
    level=Level.MANDATORY,
    severity=Severity.CRITICAL,
    remediation=f"{FIX}.",
    page=PAGE,
    settings=PodListSettings,
    judge=judge,
    joins=True,
)
