"""Discovered pods for tests of the configurations."""

from collections.abc import Mapping

from components import names
from components.layer.config import relabel

SHOP = {names.TENANT_LABEL: "shop", names.LOGS_LABEL: "node", names.METRICS_LABEL: "true"}


def pod(
    *,
    namespace: str = "shop",
    name: str = "web-0",
    ip: str = "10.0.0.7",
    of_namespace: Mapping[str, str] = SHOP,
    annotations: Mapping[str, str] | None = None,
    more: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The labels of one target of Prometheus' and Alloy's role `pod`, for a pod with one container and no port."""
    labels = {
        "__address__": ip,
        relabel.NAMESPACE: namespace,
        relabel.POD: name,
        relabel.POD_IP: ip,
        relabel.POD_NODE: "node-1",
        relabel.POD_PHASE: "Running",
        relabel.POD_UID: "8a0f1a0c-6f0e-4c9c-9a3d-0d0f3f6f2b11",
        relabel.CONTAINER: "app",
        "__meta_kubernetes_pod_container_init": "false",
        **{f"__meta_kubernetes_{key}": value for key, value in (more or {}).items()},
    }
    for kind, values in (("namespace_label", of_namespace), ("pod_annotation", annotations or {})):
        for key, value in values.items():
            labels[relabel.meta(kind, key)] = value
    return labels


def port(labels: Mapping[str, str], number: int, name: str = "", *, container: str = "app") -> dict[str, str]:
    """The same pod's target for a declared port."""
    host = labels[relabel.POD_IP]
    bracketed = f"[{host}]" if ":" in host else host
    return {
        **labels,
        "__address__": f"{bracketed}:{number}",
        relabel.CONTAINER: container,
        relabel.CONTAINER_PORT_NAME: name,
        relabel.CONTAINER_PORT_PROTOCOL: "TCP",
        "__meta_kubernetes_pod_container_port_number": str(number),
    }


SCRAPED = {"prometheus.io/scrape": "true", "prometheus.io/port": "8080"}
