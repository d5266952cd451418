"""DaemonSets that are not ours, as far as they concern ours: where they run, and which take the exporter's port."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.cluster.kubectl import Kubectl
from components.names import NODE_EXPORTER_PORT, OWNER_LABEL


@dataclass(frozen=True, order=True)
class DaemonSet:
    """One that somebody else made.

    Attributes:
        namespace: its namespace.
        name: its name.
        nodes: on how many nodes it wants a pod.
        priority_class: of its pods; empty for the cluster's default.
        port_on: nodes on which its pods hold node-exporter's port of the node.
    """

    namespace: str
    name: str
    nodes: int = 0
    priority_class: str = ""
    port_on: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What a person reads."""
        return f"{self.namespace}/{self.name}"


def read(kubectl: Kubectl) -> tuple[DaemonSet, ...]:
    """All of them; pods are read only where one takes the port.

    Raises:
        ClusterUnreachableError: if the cluster does not answer.
    """
    items = [
        item
        for item in kubectl.objects("daemonsets", "--all-namespaces")
        if OWNER_LABEL not in (item["metadata"].get("labels") or {})
    ]
    holders = [item for item in items if takes_port(item["spec"]["template"]["spec"], NODE_EXPORTER_PORT)]
    on = {item["metadata"]["uid"]: _nodes_of(kubectl, item) for item in holders}
    return tuple(sorted(_facts(item, on.get(item["metadata"]["uid"], frozenset())) for item in items))


def _facts(item: Mapping[str, Any], port_on: frozenset[str]) -> DaemonSet:
    return DaemonSet(
        namespace=item["metadata"]["namespace"],
        name=item["metadata"]["name"],
        nodes=int(item.get("status", {}).get("desiredNumberScheduled", 0)),
        priority_class=item["spec"]["template"]["spec"].get("priorityClassName", ""),
        port_on=tuple(sorted(port_on)),
    )


def takes_port(pod: Mapping[str, Any], port: int) -> bool:
    """Whether a pod takes this port of its node: as a hostPort, which in the node's network every containerPort is.

    What a container listens on without declaring it, the scheduler does not see either.
    """
    return port in {number for container in _containers(pod) for number in _host_ports(pod, container)}


def _containers(pod: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*(pod.get("initContainers") or []), *pod["containers"]]


def _host_ports(pod: Mapping[str, Any], container: Mapping[str, Any]) -> Iterator[int]:
    for port in container.get("ports") or []:
        if port.get("protocol", "TCP") == "TCP":
            yield port.get("hostPort") or (port["containerPort"] if pod.get("hostNetwork") else 0)


def _nodes_of(kubectl: Kubectl, item: Mapping[str, Any]) -> frozenset[str]:
    pods = kubectl.objects("pods", "--namespace", item["metadata"]["namespace"])
    return frozenset(
        str(pod["spec"]["nodeName"])
        for pod in pods
        if pod["spec"].get("nodeName")
        and item["metadata"]["uid"]
        in {owner["uid"] for owner in pod["metadata"].get("ownerReferences") or []}
    )
