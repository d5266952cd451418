"""How many pods the tenants' namespaces hold, and what our quotas allow there now."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from components.cluster.kubectl import Kubectl
from components.names import PODS_QUOTA
from components.quantities import parse

RUNNING = "status.phase!=Succeeded,status.phase!=Failed"


@dataclass(frozen=True)
class PodCount:
    """Pods of one namespace.

    Attributes:
        pods: that have not ended: what a quota of pods counts (kubernetes, pkg/quota/v1/evaluator/core/pods.go).
        quota: that our quota allows; None where there is none yet.
    """

    pods: int = 0
    quota: int | None = None


def read(
    kubectl: Kubectl, namespaces: Collection[str], objects: Iterable[Mapping[str, Any]]
) -> dict[str, PodCount]:
    """Pods of these namespaces: as our quota says, else counted.

    Args:
        kubectl: reads the cluster.
        namespaces: of tenants, that exist.
        objects: ResourceQuotas among them.

    Raises:
        ClusterUnreachableError: if the cluster does not answer.
    """
    found = {
        item["metadata"]["namespace"]: _of_quota(item)
        for item in objects
        if item["kind"] == "ResourceQuota" and item["metadata"]["name"] == PODS_QUOTA
    }
    unknown = sorted(namespace for namespace in namespaces if found.get(namespace) is None)
    counted = _count(kubectl, unknown) if unknown else {}
    return {
        namespace: found.get(namespace) or PodCount(counted.get(namespace, 0)) for namespace in namespaces
    }


def _of_quota(item: Mapping[str, Any]) -> PodCount | None:
    """None while its controller has not counted yet."""
    used = (item.get("status", {}).get("used") or {}).get("pods")
    hard = (item.get("spec", {}).get("hard") or {}).get("pods")
    return None if used is None or hard is None else PodCount(_number(used), _number(hard))


def _number(text: str) -> int:
    """From 1000 on the API server may write `1k`."""
    return int(parse(str(text)) or 0)


def _count(kubectl: Kubectl, namespaces: list[str]) -> Counter[str]:
    """Of each pod only its namespace reaches us: a cluster may have thousands."""
    where = ("--namespace", namespaces[0]) if len(namespaces) == 1 else ("--all-namespaces",)
    columns = ("--no-headers", "--output", "custom-columns=NAMESPACE:.metadata.namespace")
    answer = kubectl.call("get", "pods", *where, "--field-selector", RUNNING, *columns)
    return Counter(answer.text.split())
