"""What the API server's quota admission refuses in a tenant's namespace."""

import pytest

from components.names import AGENTS_PRIORITY_CLASS, PODS_QUOTA, PRIORITY_QUOTA
from simulator import teams
from simulator.api import ApiError
from tests.cluster.deployed.environment import ALLOWED_CLASS, EDGE, OTHER_CLASS, OWN_PODS, settings
from tests.support import manifests
from tests.support.deployment import Deployment
from tests.support.kube import Kube

NAMESPACES = teams.namespaces(settings())
SYSTEM_CLASS = "system-node-critical"


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_tenants_daemon_set_is_refused(deployed: Deployment, kube: Kube, namespace: str) -> None:
    with pytest.raises(ApiError, match=f"exceeded quota: {PODS_QUOTA}, requested: count/daemonsets.apps=1"):
        kube.create(manifests.daemon_set(namespace), dry_run=True)


def test_each_namespace_has_the_pods_that_its_tenant_states(deployed: Deployment, kube: Kube) -> None:
    quotas = {namespace: kube.get("resourcequotas", PODS_QUOTA, namespace) for namespace in NAMESPACES}
    hard = {namespace: quota["status"]["hard"]["pods"] for namespace, quota in quotas.items()}
    assert hard == {
        "shop": "120",
        "billing": "80",
        "search-api": "70",
        "search-index": "40",
        "mobile": "90",
        "reports": "60",
        "edge": str(EDGE["pods"]),
    }


def test_a_pod_above_the_quota_is_refused(deployed: Deployment, kube: Kube) -> None:
    names = [f"extra-{i}" for i in range(int(EDGE["pods"]) - teams.REPLICAS - OWN_PODS)]
    try:
        for name in names:
            kube.create(manifests.pod("edge", name))
        with pytest.raises(ApiError, match=f"exceeded quota: {PODS_QUOTA}, requested: pods=1, used: pods=6"):
            kube.create(manifests.pod("edge", "one-too-many"))
    finally:
        for name in names:
            kube.delete("pods", name, "edge", now=True)


@pytest.mark.parametrize("name", [OTHER_CLASS, AGENTS_PRIORITY_CLASS, SYSTEM_CLASS])
@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_pod_with_a_priority_class_that_its_tenant_may_not_use_is_refused(
    deployed: Deployment, kube: Kube, namespace: str, name: str
) -> None:
    with pytest.raises(ApiError, match=f"exceeded quota: {PRIORITY_QUOTA}, requested: pods=1"):
        kube.create(manifests.pod(namespace, "important", priorityClassName=name), dry_run=True)


def test_a_priority_class_that_is_allowed_to_one_tenant_is_allowed_to_that_one_only(
    deployed: Deployment, kube: Kube
) -> None:
    kube.create(manifests.pod("edge", "important", priorityClassName=ALLOWED_CLASS), dry_run=True)
    with pytest.raises(ApiError, match=f"exceeded quota: {PRIORITY_QUOTA}"):
        kube.create(manifests.pod("shop", "important", priorityClassName=ALLOWED_CLASS), dry_run=True)


def test_the_agents_class_is_above_every_tenants_and_below_the_clusters_own(
    deployed: Deployment, kube: Kube
) -> None:
    values = {item["metadata"]["name"]: item["value"] for item in kube.list("priorityclasses")}
    assert values[ALLOWED_CLASS] < values[AGENTS_PRIORITY_CLASS] < values["system-cluster-critical"]
