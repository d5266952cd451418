"""Which pods the API server's admission lets into which namespace."""

from collections.abc import Callable

import pytest

from components.names import LAYER_NAMESPACE, NODES_NAMESPACE, POD_SECURITY_LABEL
from simulator.api import ApiError
from tests.support import manifests
from tests.support.deployment import Deployment
from tests.support.kube import Kube, Object

RESTRICTED = (LAYER_NAMESPACE, "shop", "search-index", "edge")
FORBIDDEN = (manifests.privileged, manifests.host_path, manifests.host_network, manifests.root)


@pytest.mark.parametrize("namespace", RESTRICTED)
@pytest.mark.parametrize("make", FORBIDDEN, ids=lambda make: make.__name__)
def test_a_pod_with_a_privilege_is_refused_beside_the_stores_and_in_a_tenants_namespace(
    deployed: Deployment, kube: Kube, namespace: str, make: Callable[[str], Object]
) -> None:
    with pytest.raises(ApiError, match='violates PodSecurity "restricted:latest"'):
        kube.create(make(namespace), dry_run=True)


@pytest.mark.parametrize("namespace", RESTRICTED)
def test_a_pod_without_privileges_is_admitted_there(deployed: Deployment, kube: Kube, namespace: str) -> None:
    kube.create(manifests.pod(namespace, "modest"), dry_run=True)


@pytest.mark.parametrize("make", FORBIDDEN, ids=lambda make: make.__name__)
def test_the_node_agents_namespace_alone_admits_them(
    deployed: Deployment, kube: Kube, make: Callable[[str], Object]
) -> None:
    kube.create(make(NODES_NAMESPACE), dry_run=True)
    levels = {
        namespace["metadata"]["name"]
        for namespace in kube.list("namespaces")
        if namespace["metadata"]["labels"].get(POD_SECURITY_LABEL) == "privileged"
    }
    assert levels == {NODES_NAMESPACE}


def test_the_node_agents_namespace_holds_no_secret_but_their_push_credential(
    deployed: Deployment, kube: Kube
) -> None:
    assert [item["metadata"]["name"] for item in kube.list("secrets", NODES_NAMESPACE)] == ["loki-push"]
