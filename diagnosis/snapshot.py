"""What the cluster says about the layer's objects, its nodes and the tenants' namespaces, read once."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.cluster.kubectl import Kubectl
from components.names import COLLECTOR, LAYER_NAMESPACE, NODES_NAMESPACE, TENANT_GRAFANA
from components.settings.model import Settings
from components.settings.tenant import all_namespaces

Object = Mapping[str, Any]
KINDS = "daemonsets,deployments,replicasets,pods,persistentvolumeclaims,services"
# Of a tenant's namespace only what tells why its pods are refused: they are the team's own, and may be many.
REFUSED = "FailedCreate"
MADE = "SuccessfulCreate"
# What tenant stacks run in these namespaces; all of it is named and labelled after these.
OWN = (COLLECTOR, TENANT_GRAFANA)
OWN_SELECTOR = f"app.kubernetes.io/name in ({', '.join(OWN)})"
OWN_KINDS = "deployments,replicasets,pods"


@dataclass(frozen=True)
class Snapshot:
    """Objects of one moment.

    Attributes:
        nodes: all nodes.
        objects: the layer's objects, of both its namespaces, and the workloads of tenant stacks.
        events: warnings in the layer's namespaces and about those workloads, and refused pods in the tenants'.
        namespaces: the layer's namespaces that exist.
        made: events of pods that were made in the tenants' namespaces; read only where some were refused.
    """

    nodes: Sequence[Object]
    objects: Sequence[Object]
    events: Sequence[Object]
    namespaces: frozenset[str]
    made: Sequence[Object] = ()

    def of_kind(self, kind: str) -> Iterator[Object]:
        """The layer's objects of one kind."""
        return (item for item in self.objects if item["kind"] == kind)

    def events_of(self, item: Object, reason: str = "") -> list[Object]:
        """Warnings about one object, the newest last; of one reason if given."""
        about = [
            event
            for event in self.events
            if event["involvedObject"].get("uid") == item["metadata"]["uid"]
            and reason in ("", event.get("reason", ""))
        ]
        return sorted(about, key=when)


def when(event: Object) -> str:
    """The moment of an event, the last one if it stands for several; such texts sort as time does."""
    return str(event.get("lastTimestamp") or event.get("eventTime") or event["metadata"]["creationTimestamp"])


def take(kubectl: Kubectl, settings: Settings) -> Snapshot:
    """Reads the cluster; changes nothing.

    Raises:
        ClusterUnreachableError: if it does not answer.
    """
    ours = (LAYER_NAMESPACE, NODES_NAMESPACE)
    tenants = all_namespaces(settings.tenants)
    warnings = kubectl.objects("events", "--all-namespaces", "--field-selector", "type=Warning")
    events = [event for event in warnings if _matters(event, ours, tenants)]
    refused = any(event["metadata"]["namespace"] in tenants for event in events)
    made = ("events", "--all-namespaces", "--field-selector", f"reason={MADE}")
    nodes_and_namespaces = kubectl.objects("nodes,namespaces")
    return Snapshot(
        nodes=[item for item in nodes_and_namespaces if item["kind"] == "Node"],
        objects=[
            *(item for namespace in ours for item in kubectl.objects(KINDS, "--namespace", namespace)),
            *kubectl.objects(OWN_KINDS, "--all-namespaces", "--selector", OWN_SELECTOR),
        ],
        events=events,
        namespaces=frozenset(ours)
        & {item["metadata"]["name"] for item in nodes_and_namespaces if item["kind"] == "Namespace"},
        made=[event for event in kubectl.objects(*made) if event["metadata"]["namespace"] in tenants]
        if refused
        else [],
    )


def _matters(event: Object, ours: Sequence[str], tenants: Collection[str]) -> bool:
    namespace = event["metadata"]["namespace"]
    refused = event.get("reason") == REFUSED
    return namespace in ours or (namespace in tenants and (refused or is_own(event["involvedObject"])))


def is_own(reference: Object) -> bool:
    """Whether something in a tenant's namespace belongs to a workload of its tenant stack."""
    return str(reference.get("name", "")).startswith(OWN)
