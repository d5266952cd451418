"""The guard of ClusterRoleBindings: a tenant's accounts get no role by which they read the pods of the whole cluster.

CEL sees the binding and not the role, and a role's rules can change after it was bound. So what a tenant's accounts may
be bound to is a list of names: the built-in roles that list no pods, by the pack's own reading of their rules, and
those that the settings name. Each namespace of a tenant is a parameter of its own, found by its label: a new tenant
touches no policy.
"""

import json
from collections.abc import Sequence
from functools import cache

from components.names import CLUSTER_BINDINGS_GUARD, TENANT_LABEL
from policies import tenant_cluster_pod_list as pod_list
from policies.admission.guard import NOT_THE_API_SERVER, Check, Defect, Guard, Resources, one_of
from policies.builtin_roles import builtin_roles
from policies.manifest import Origin
from policies.roles import CLUSTER_ROLE, resolve
from policies.subjects import ACCOUNT_PREFIX, ACCOUNTS_PREFIX, EVERYONE
from policies.ways import ways
from policies.world import World


@cache
def listing_roles() -> tuple[str, ...]:
    """Built-in ClusterRoles that let whoever has them read all pods, directly or by a detour."""
    world = World(Origin.FILE)
    return tuple(
        name
        for name in builtin_roles()
        if ways(resolve(CLUSTER_ROLE, name, "", world), world, cluster_wide=True)
    )


def harmless_roles() -> tuple[str, ...]:
    """The other built-in ones."""
    return tuple(name for name in builtin_roles() if name not in listing_roles())


_NAMESPACE = "params.metadata.name"
_ACCOUNT = 's.kind == "ServiceAccount" && s.?namespace.orValue("") == ' + _NAMESPACE
_ACCOUNTS = f's.kind == "Group" && s.name == {json.dumps(ACCOUNTS_PREFIX)} + {_NAMESPACE}'
_USER = f's.kind == "User" && s.name.startsWith({json.dumps(ACCOUNT_PREFIX)} + {_NAMESPACE} + ":")'
_EVERYONE = f's.kind != "ServiceAccount" && s.name in {one_of(sorted(EVERYONE))}'


def of_cluster_roles(trusted: Sequence[str] = ()) -> Guard:
    """The guard.

    Args:
        trusted: names of ClusterRoles that were looked into.
    """
    listed, passed = one_of(listing_roles()), one_of([*harmless_roles(), *trusted])
    theirs = f"variables.new.exists(s, ({_ACCOUNT}) || ({_ACCOUNTS}) || ({_USER}))"
    everyone = f"variables.new.exists(s, {_EVERYONE})"
    role = "object.roleRef.name"
    unseen = f"!({role} in {listed}) && !({role} in {passed})"
    account, all_accounts = "an account of {tenant}", "every tenant's accounts"
    defects = (
        Defect(f"{theirs} && {role} in {listed}", f"it lets {account} read the pods of the whole cluster"),
        Defect(
            f"{theirs} && {unseen}", f"it gives {account} a cluster-wide role that nobody has looked into"
        ),
        Defect(
            f"{everyone} && {role} in {listed}", f"it lets {all_accounts} read the pods of the whole cluster"
        ),
        Defect(
            f"{everyone} && {unseen}",
            f"it gives {all_accounts} a cluster-wide role that nobody has looked into",
        ),
    )
    fix = f"{pod_list.FIX}; a role that was looked into can be stated in `layer.admission.trustedRoles`"
    return Guard(
        name=CLUSTER_BINDINGS_GUARD,
        resources=(Resources(("rbac.authorization.k8s.io",), ("clusterrolebindings",), "Cluster"),),
        conditions={"not-the-api-server": NOT_THE_API_SERVER},
        variables={
            "tenant": f"params.metadata.labels[{json.dumps(TENANT_LABEL)}]",
            "before": "oldObject == null ? [] : oldObject.?subjects.orValue([])",
            "new": "object.?subjects.orValue([]).filter(s, !(s in variables.before))",
        },
        checks=(Check(pod_list.RULE.name, defects, fix),),
        params="tenants",
    )
