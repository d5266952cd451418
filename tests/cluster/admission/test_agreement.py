"""Wherever CEL covers a rule, the API server refuses exactly what `policies.check` calls a violation."""

import re
from typing import Any

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from policies.admission.bindings import harmless_roles, listing_roles
from policies.placement import PRESENT_EVERYWHERE, UNIVERSAL
from policies.subjects import EVERYONE
from simulator.api import ApiError, Object
from tests.cluster.admission.guarded import GUARDED, RULES, binding, workload
from tests.policies.generated import verdicts
from tests.support.kube import Kube

ACTION = "deny"
RBAC = "rbac.authorization.k8s.io"
KINDS = (
    "Pod",
    "Deployment",
    "DaemonSet",
    "StatefulSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
    "CronJob",
)
# Of a namespace that is nobody's only DaemonSets are guarded, and no priority is the pack's matter.
EVERYWHERE = {"daemonset-placement", "daemonset-tolerations"}
OF_TENANTS = {*EVERYWHERE, "workload-tolerations", "tenant-daemonset", "tenant-host-access"}
CHECKED = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

labels = st.sampled_from([*UNIVERSAL[:2], *PRESENT_EVERYWHERE[:2], "eks.amazonaws.com/nodegroup", "pool"])
flags = st.booleans()


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping with any of these fields."""
    return st.fixed_dictionaries({}, optional=fields)


expressions = st.one_of(
    st.builds(
        lambda k, o: {"key": k, "operator": o, "values": ["7"]}, labels, st.sampled_from(["In", "NotIn"])
    ),
    st.builds(lambda k, o: {"key": k, "operator": o}, labels, st.sampled_from(["Exists", "DoesNotExist"])),
    st.builds(lambda k, o: {"key": k, "operator": o, "values": ["1"]}, labels, st.sampled_from(["Gt", "Lt"])),
)
in_fields = st.builds(
    lambda o: {"key": "metadata.name", "operator": o, "values": ["web-0"]}, st.sampled_from(["In", "NotIn"])
)
terms = some(
    matchExpressions=st.lists(expressions, max_size=2),
    matchFields=st.lists(in_fields, min_size=1, max_size=1),
)
required = st.lists(terms, min_size=1, max_size=2).map(
    lambda found: {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": found}}
)
preferred = st.just(
    {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": {"matchExpressions": [{"key": "pool", "operator": "Exists"}]}}
        ]
    }
)
effects = st.sampled_from(["", "NoSchedule", "NoExecute", "PreferNoSchedule"])
tolerations = st.one_of(
    st.builds(lambda e: {"operator": "Exists", **({"effect": e} if e else {})}, effects),
    st.builds(lambda e: {"key": "", "operator": "Exists", "effect": e}, effects),
    st.builds(
        lambda s: {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": s},
        st.sampled_from([-1, 0, 300, 301]),
    ),
    st.builds(lambda e: {"key": "dedicated", "operator": "Exists", "effect": e}, effects),
    st.builds(lambda e: {"key": "dedicated", "operator": "Equal", "value": "x", "effect": e}, effects),
)
capabilities = st.sampled_from(["CHOWN", "CAP_CHOWN", "SYS_ADMIN", "CAP_NET_RAW", "NET_BIND_SERVICE", "ALL"])
security = some(
    privileged=flags,
    capabilities=some(add=st.lists(capabilities, max_size=2), drop=st.just(["ALL"])),
    runAsUser=st.just(0),
)
ports = st.lists(
    some(hostPort=st.sampled_from([0, 80])).map(lambda found: {"containerPort": 80, **found}), max_size=1
)
containers = some(securityContext=security, ports=ports).map(lambda found: {"image": "c", **found})
volumes: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"emptyDir": {}}, {"hostPath": {"path": "/"}}, {"configMap": {"name": "c"}}]
)


def named(items: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [{"name": f"{name}{number}", **item} for number, item in enumerate(items)]


pods = some(
    hostNetwork=flags,
    hostPID=flags,
    hostIPC=flags,
    nodeSelector=st.dictionaries(labels, st.just("x"), max_size=2),
    affinity=some(nodeAffinity=st.one_of(required, preferred)),
    tolerations=st.lists(tolerations, max_size=2),
    containers=st.lists(containers, min_size=1, max_size=2).map(lambda found: named(found, "c")),
    initContainers=st.lists(containers, min_size=1, max_size=1).map(lambda found: named(found, "i")),
    volumes=st.lists(volumes, max_size=2).map(lambda found: named(found, "v")),
)


def refused(kube: Kube, manifest: Object) -> set[str]:
    """Rules by which the guards refuse it.

    What the API server itself finds wrong, one host port for two containers for example, it says first, and no guard is
    asked: such a manifest is none to compare by.
    """
    try:
        kube.create(manifest, dry_run=True)
    except ApiError as error:
        _, guarded, said = error.message.partition(GUARDED)
        if not guarded:
            assume(error.reason != "Invalid")
            raise
        return {rule for rule in RULES if re.search(rf"(^|\. ){rule}: ", said)}
    return set()


def violated(manifest: Object) -> set[str]:
    return {rule for rule, verdict in verdicts(manifest) if verdict == "violation"}


def delayed(seconds: int) -> dict[str, Any]:
    """A pod whose eviction is delayed."""
    toleration = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
    return {"tolerations": [toleration], "containers": [{"name": "c", "image": "c"}]}


@CHECKED
@example(kind="Deployment", namespace="shop", pod=delayed(300))
@example(kind="Deployment", namespace="shop", pod=delayed(301))  # a rare find, and the bound of both
@example(kind="DaemonSet", namespace="agents", pod=delayed(300))
@given(kind=st.sampled_from(KINDS), namespace=st.sampled_from(["shop", "agents"]), pod=pods)
def test_workloads_are_refused_exactly_where_the_pack_finds_a_violation(
    guarded: Kube, kind: str, namespace: str, pod: dict[str, Any]
) -> None:
    manifest = workload(kind, namespace, "generated", **pod)
    covered = OF_TENANTS if namespace == "shop" else EVERYWHERE
    assert refused(guarded, manifest) == violated(manifest) & covered


subjects = st.one_of(
    st.builds(
        lambda ns: {"kind": "ServiceAccount", "name": "app", "namespace": ns},
        st.sampled_from(["shop", "agents", "shop-2"]),
    ),
    st.builds(
        lambda k, n: {"kind": k, "apiGroup": RBAC, "name": n},
        st.just("Group"),
        st.sampled_from(
            [*sorted(EVERYONE), "system:serviceaccounts:shop", "system:serviceaccounts:agents", "people"]
        ),
    ),
    st.builds(
        lambda n: {"kind": "User", "apiGroup": RBAC, "name": n},
        st.sampled_from(
            ["system:serviceaccount:shop:app", "system:serviceaccount:agents:app", "system:anonymous", "eve"]
        ),
    ),
)


@CHECKED
@given(role=st.sampled_from([*listing_roles(), *harmless_roles()]), who=st.lists(subjects, max_size=3))
def test_bindings_of_built_in_roles_are_refused_exactly_where_the_pack_finds_a_violation(
    guarded: Kube, role: str, who: list[Object]
) -> None:
    manifest = binding(role, *who)
    assert refused(guarded, manifest) == violated(manifest) & {"tenant-cluster-pod-list"}


@CHECKED
@given(who=st.lists(subjects, min_size=1, max_size=3))
def test_a_role_that_nobody_knows_is_refused_where_the_pack_cannot_decide(
    guarded: Kube, who: list[Object]
) -> None:
    """The one place where the guard is stricter: the pack could still be shown the role."""
    manifest = binding("of-their-own", *who)
    undecided = {rule for rule, verdict in verdicts(manifest) if verdict == "undecided"}
    assert refused(guarded, manifest) == undecided & {"tenant-cluster-pod-list"}
