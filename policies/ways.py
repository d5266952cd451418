"""The ways to read all pods of a cluster: directly, or through a right that leads there."""

from dataclasses import dataclass

from policies.rbac import Action, Grant, grants
from policies.roles import CLUSTER_ROLE, Resolved, resolve
from policies.world import World

RBAC = "rbac.authorization.k8s.io"
LIST_PODS = Action("list", "", "pods")
WATCH_PODS = Action("watch", "", "pods")
# A watch starts with all objects that exist, so it is a list.
DIRECT = (LIST_PODS, WATCH_PODS)

ESCALATE = tuple(Action("escalate", RBAC, kind) for kind in ("clusterroles", "roles"))
BIND = tuple(Action("bind", RBAC, kind) for kind in ("clusterroles", "roles"))
# Workloads run as any service account of their namespace.
WORKLOADS = (
    *(Action("create", "", kind) for kind in ("pods", "replicationcontrollers")),
    *(
        Action("create", "apps", kind)
        for kind in ("deployments", "daemonsets", "statefulsets", "replicasets")
    ),
    *(Action("create", "batch", kind) for kind in ("jobs", "cronjobs")),
)
# Why each of them leads to the pods of the whole cluster.
INDIRECT = {
    **{
        Action(verb, "", "nodes", "proxy"): "the kubelet's API lists and enters every pod of each node"
        for verb in ("get", "create")
    },
    Action("get", "", "nodes", "pods"): "the kubelet's API lists every pod of each node",
    **dict.fromkeys(ESCALATE, "it can write any right into a role"),
    **dict.fromkeys(BIND, "it can bind itself to any role"),
    Action("create", RBAC, "clusterrolebindings"): "it can bind its rights to others cluster-wide",
    Action("create", RBAC, "rolebindings"): "it can bind its rights to others in every namespace",
    **{
        Action("impersonate", "", kind): "it can act as anyone who may list pods"
        for kind in ("users", "groups", "serviceaccounts")
    },
    Action("create", "", "serviceaccounts", "token"): "it can take the token of any service account",
    **dict.fromkeys(WORKLOADS, "its pods can run as any service account of any namespace"),
}
# Limited to names these still give all that the named role can be made to hold.
NAMED_IS_ENOUGH = frozenset(ESCALATE)
# What a RoleBinding can grant in its namespace: the others have no namespace.
CLUSTER_WIDE_ONLY = frozenset({"nodes", "clusterroles", "clusterrolebindings", "users", "groups"})


@dataclass(frozen=True)
class Way:
    """A grant that leads to the pods.

    Attributes:
        grant: the grant.
        certain: False if a part of it is not known, or if it depends on the names that it is limited to.
    """

    grant: Grant
    certain: bool

    def fact(self) -> str:
        """For tests: verb, group, resource, subresource and name, to be reviewed by the authorizer."""
        action, names = self.grant.action, self.grant.names
        return "|".join((action.verb, action.group, action.resource, action.subresource, *names[:1]))


def ways(resolved: Resolved, world: World, *, cluster_wide: bool) -> list[Way]:
    """The ways that a role gives, cluster-wide or in one namespace."""
    detours = [action for action in INDIRECT if cluster_wide or action.resource not in CLUSTER_WIDE_ONLY]
    found = [grant for rules in resolved.rules for grant in grants(rules, [*DIRECT, *detours])]
    return [way for grant in found if (way := _way(grant, world)) is not None]


def _way(grant: Grant, world: World) -> Way | None:
    """Whether a grant leads to the pods, given the names that it is limited to."""
    action, certain = grant.action, grant.certain is True
    if not grant.names:
        return Way(grant, certain)
    if action in DIRECT or (action.verb == "create" and not action.subresource):
        return None  # neither a list nor the making of an object has a name to be allowed by
    if action in NAMED_IS_ENOUGH:
        return Way(grant, certain)
    if action in BIND and action.resource == "clusterroles":
        roles = [resolve(CLUSTER_ROLE, name, "", world) for name in grant.names]
        if any(_leads(role) for role in roles):
            return Way(grant, certain)
        return None if all(role.complete for role in roles) else Way(grant, certain=False)
    return Way(grant, certain=False)


def _leads(role: Resolved) -> bool:
    """Whether a role to which one may bind oneself gives the pods, or any way to them."""
    found = [grant for rules in role.rules for grant in grants(rules, [*DIRECT, *INDIRECT])]
    return any(grant.certain and not grant.names for grant in found)
