"""Twelve tenants that come and go: enough objects for a deployment to be in the middle of, by a count of them."""

from components.names import OWNER_LABEL, PODS_QUOTA, PRIORITY_QUOTA, TENANT_LABEL
from simulator import teams
from tests.support.deployment import Change
from tests.support.kube import Kube

NAMES = tuple(f"load-{i}" for i in range(12))
QUOTAS = len(NAMES) * 2
MIDDLE = QUOTAS // 3


def namespaces(kube: Kube) -> None:
    """What the tenants adopt."""
    kube.apply(*(teams.namespace(name) for name in NAMES))


def come() -> list[Change]:
    """All twelve, with one pod each; none of these is a Grafana, whose start would be waited for."""
    return [(f"tenants.{name}", {"pods": 1, "dashboards": False}) for name in NAMES]


def go() -> list[Change]:
    """All twelve leave."""
    return [(f"tenants.{name}", None) for name in NAMES]


def quotas(kube: Kube) -> list[str]:
    """Quotas of ours that their namespaces have, as `namespace/name`."""
    found = kube.list("resourcequotas", labelSelector=OWNER_LABEL)
    places = [item["metadata"] for item in found if item["metadata"]["namespace"] in NAMES]
    return sorted(f"{place['namespace']}/{place['name']}" for place in places)


def all_there(kube: Kube) -> bool:
    """Whether each namespace has its label and exactly its two quotas, with their values."""
    wanted = sorted(f"{name}/{quota}" for name in NAMES for quota in (PODS_QUOTA, PRIORITY_QUOTA))
    limits = {kube.get("resourcequotas", PODS_QUOTA, name)["spec"]["hard"]["pods"] for name in NAMES}
    labels = {kube.get("namespaces", name)["metadata"]["labels"].get(TENANT_LABEL) for name in NAMES}
    return quotas(kube) == wanted and limits == {"1"} and labels == set(NAMES)


def all_gone(kube: Kube) -> bool:
    """Whether the namespaces are as they were before the tenants came."""
    found = [kube.get("namespaces", name)["metadata"]["labels"] for name in NAMES]
    return quotas(kube) == [] and all(set(labels) == {"kubernetes.io/metadata.name"} for labels in found)
