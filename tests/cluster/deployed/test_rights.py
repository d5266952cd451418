"""What every account of the layer and of the tenants may do, by the cluster's own authorizer.

Its rules review tells all rights of an account in a namespace, so that the table below is exact; single questions then
ask for what must never be.
"""

from collections.abc import Iterable

import pytest

from components import names
from components.tenant import signals
from simulator import teams
from simulator.api import ApiError
from tests.cluster.deployed.environment import OWN_PODS, settings
from tests.support.deployment import Deployment
from tests.support.kube import Kube

LAYER, NODES = names.LAYER_NAMESPACE, names.NODES_NAMESPACE
TENANTS = tuple(teams.namespaces(settings()))
HOMES = tuple(signals.home_namespace(name, tenant) for name, tenant in settings().tenants.items())
EVERYWHERE = (*TENANTS, LAYER, NODES, "default", "kube-system")
Account = tuple[str, str]
Right = str
READ, LIST = ("get", "list", "watch"), ("list", "watch")


def rights(verbs: Iterable[str], *resources: str) -> set[Right]:
    """Rights in the form in which they are compared: `list pods`, `get deployments.apps`."""
    return {f"{verb} {resource}" for verb in verbs for resource in resources}


STATE = (
    *("limitranges", "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes", "pods"),
    *("replicationcontrollers", "resourcequotas", "services"),
    *("daemonsets.apps", "deployments.apps", "replicasets.apps", "statefulsets.apps"),
    *("horizontalpodautoscalers.autoscaling", "cronjobs.batch", "jobs.batch", "poddisruptionbudgets.policy"),
    *("storageclasses.storage.k8s.io", "volumeattachments.storage.k8s.io"),
)
CLUSTER_WIDE: dict[Account, set[Right]] = {
    (NODES, "alloy"): rights(READ, "pods", "namespaces"),
    (NODES, "node-exporter"): set(),
    (LAYER, "prometheus"): rights(READ, "nodes", "pods", "namespaces")
    | {"get nodes/metrics", "get /metrics"},
    (LAYER, "kube-state-metrics"): rights(LIST, *STATE),
    (LAYER, "loki"): set(),
    (LAYER, "gateway"): set(),
    **{(namespace, names.TENANT_GRAFANA): set() for namespace in HOMES},
    ("edge", names.COLLECTOR): set(),
    **{(namespace, "default"): set() for namespace in (*TENANTS, LAYER, NODES)},
}
IN_ONE_NAMESPACE: dict[tuple[Account, str], set[Right]] = {
    ((LAYER, "prometheus"), "default"): rights(READ, "services", "endpointslices.discovery.k8s.io"),
    (("edge", names.COLLECTOR), "edge"): rights(READ, "pods") | {"get pods/log"},
}
# What no account may do anywhere: verb, resource.
NEVER = (
    *[(verb, "secrets") for verb in ("get", "list", "watch", "create", "patch", "delete")],
    *[(verb, "configmaps") for verb in ("get", "list", "create", "patch")],
    *[(verb, "namespaces") for verb in ("create", "update", "patch", "delete")],
    *[("create", resource) for resource in ("pods", "daemonsets.apps", "deployments.apps", "jobs.batch")],
    *[("create", resource) for resource in ("pods/exec", "pods/attach", "pods/portforward", "pods/eviction")],
    *[
        ("create", resource)
        for resource in ("serviceaccounts/token", "rolebindings.rbac.authorization.k8s.io")
    ],
    *[(verb, "clusterroles.rbac.authorization.k8s.io") for verb in ("bind", "escalate", "create")],
    *[(verb, "nodes/proxy") for verb in ("get", "create")],
    *[("impersonate", resource) for resource in ("users", "groups", "serviceaccounts")],
    *[(verb, "resourcequotas") for verb in ("update", "patch", "delete")],
    *[("patch", "nodes"), ("delete", "pods"), ("*", "*")],
)


def granted(kube: Kube, account: Account, where: str) -> set[Right]:
    """All rights of an account in a namespace, cluster-wide ones included."""
    spec = {"spec": {"namespace": where}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    status = kube.as_service_account(*account).request("POST", path, spec)["status"]
    assert not status["incomplete"], status
    found = {
        f"{verb} {resource}{'.' if group else ''}{group}"
        for rule in status["resourceRules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    urls = {
        f"{verb} {url}"
        for rule in status["nonResourceRules"]
        for verb in rule["verbs"]
        for url in rule["nonResourceURLs"]
    }
    return found | urls


@pytest.fixture(scope="module")
def everybodys(kube: Kube) -> set[Right]:
    """What the cluster itself allows every account: discovery, and asking about oneself."""
    return granted(kube, ("kube-public", "nobody"), "kube-public")


def test_there_are_no_accounts_but_those_of_the_table(deployed: Deployment, kube: Kube) -> None:
    found = {
        (item["metadata"]["namespace"], item["metadata"]["name"])
        for namespace in (*TENANTS, LAYER, NODES)
        for item in kube.list("serviceaccounts", namespace)
    }
    assert found == set(CLUSTER_WIDE)


@pytest.mark.parametrize("account", CLUSTER_WIDE, ids="/".join)
def test_an_account_has_exactly_its_rights_in_every_namespace(
    deployed: Deployment, kube: Kube, everybodys: set[Right], account: Account
) -> None:
    for where in EVERYWHERE:
        wanted = CLUSTER_WIDE[account] | IN_ONE_NAMESPACE.get((account, where), set())
        assert granted(kube, account, where) - everybodys == wanted, where


@pytest.mark.parametrize("account", CLUSTER_WIDE, ids="/".join)
def test_an_account_may_nowhere_do_what_nobody_may(
    deployed: Deployment, kube: Kube, account: Account
) -> None:
    places = (None, account[0], "shop", "kube-system")
    allowed = [
        (verb, resource, where)
        for verb, resource in NEVER
        for where in places
        if kube.may(*account, verb, resource, where)
    ]
    assert allowed == []


@pytest.mark.parametrize("account", [key for key in CLUSTER_WIDE if key[0] in TENANTS], ids="/".join)
def test_no_account_of_a_tenant_sees_a_pod_outside_its_namespace(
    deployed: Deployment, kube: Kube, account: Account
) -> None:
    others = [namespace for namespace in (*TENANTS, LAYER, NODES) if namespace != account[0]]
    for verb, resource in (("list", "pods"), ("get", "pods"), ("watch", "pods"), ("get", "pods/log")):
        assert [where for where in (None, *others) if kube.may(*account, verb, resource, where)] == []


def test_a_tenants_collector_lists_the_pods_of_its_namespace_and_is_refused_elsewhere(
    deployed: Deployment, kube: Kube
) -> None:
    collector = kube.as_service_account("edge", names.COLLECTOR)
    assert len(collector.list("pods", "edge")) == teams.REPLICAS + OWN_PODS
    for where in ("shop", None):
        with pytest.raises(ApiError, match="pods is forbidden"):
            collector.list("pods", where)


def test_a_tenants_account_cannot_choose_its_namespaces_tenant(deployed: Deployment, kube: Kube) -> None:
    change = {"metadata": {"labels": {names.TENANT_LABEL: "billing"}}}
    for account in ("default", names.COLLECTOR):
        with pytest.raises(ApiError, match='cannot patch resource "namespaces"'):
            kube.as_service_account("edge", account).patch("namespaces", "edge", change)


def test_the_tenants_have_no_cluster_wide_role(deployed: Deployment, kube: Kube) -> None:
    for kind in ("clusterroles", "clusterrolebindings"):
        ours = kube.list(kind, labelSelector=names.OWNER_LABEL)
        assert {item["metadata"]["name"] for item in ours} == {
            names.ALLOY_ROLE,
            names.PROMETHEUS_ROLE,
            names.KUBE_STATE_METRICS_ROLE,
        }
    subjects = {
        subject.get("namespace")
        for binding in kube.list("clusterrolebindings")
        for subject in binding.get("subjects", [])
    }
    assert subjects.isdisjoint(TENANTS)
