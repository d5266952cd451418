"""The objects of a stack as they are in its cluster, read by kubectl."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from components.cluster.kubectl import Kubectl
from components.names import LAYER_NAMESPACE, NODES_NAMESPACE, OWNER_LABEL
from diagnosis.drift import Declared, Drift, Manifest, Ref, drifts, is_by_design, ref

# Every kind that this program makes: an object of one of these with our label is ours.
KINDS = (
    *("namespaces", "serviceaccounts", "services", "persistentvolumeclaims", "resourcequotas"),
    *("daemonsets.apps", "deployments.apps", "ingresses.networking.k8s.io", "poddisruptionbudgets.policy"),
    *(
        f"{kind}.rbac.authorization.k8s.io"
        for kind in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
    ),
    "priorityclasses.scheduling.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
)
# Looked for in the layer's own namespaces only: whoever deploys need not be able to list everybody's Secrets.
KINDS_OF_THE_LAYER = ("configmaps", "secrets", "networkpolicies.networking.k8s.io")


def labelled(kubectl: Kubectl, stack: str) -> list[Manifest]:
    """Every object with the stack's label.

    Raises:
        ClusterUnreachableError: if the cluster does not answer.
    """
    options = ("--selector", f"{OWNER_LABEL}={stack}", "--show-managed-fields")
    found = kubectl.objects(",".join(KINDS), "--all-namespaces", *options)
    for namespace in (LAYER_NAMESPACE, NODES_NAMESPACE):
        found += kubectl.objects(",".join(KINDS_OF_THE_LAYER), "--namespace", namespace, *options)
    return list(found)


def left_behind(kubectl: Kubectl, stack: str) -> list[Ref]:
    """Objects with the stack's label after a destroy, but for those that are meant to stay.

    Secrets and configurations in teams' namespaces are not listed, as everywhere; the layer's went with its namespaces,
    in which whoever destroys has no rights any more.

    Raises:
        ClusterUnreachableError: if the cluster does not answer.
    """
    options = ("--all-namespaces", "--selector", f"{OWNER_LABEL}={stack}")
    found = kubectl.objects(",".join(KINDS), *options)
    return sorted(ref(item) for item in found if not is_by_design(item))


def live(kubectl: Kubectl, state: Sequence[Declared], ours: Iterable[Manifest]) -> dict[Ref, Manifest]:
    """The declared objects that exist; those that were not found by their label are asked for by name.

    Raises:
        ClusterUnreachableError: if the cluster does not answer.
    """
    found = {ref(item): item for item in ours}
    missing = [item for item in state if item.ref not in found]
    return found | {ref(item): item for item in _by_name(kubectl, missing)}


def _by_name(kubectl: Kubectl, items: Sequence[Declared]) -> list[Manifest]:
    if not items:
        return []
    asked = {"apiVersion": "v1", "kind": "List", "items": [_named(item) for item in items]}
    options = ("--output", "json", "--ignore-not-found", "--show-managed-fields")
    answer = json.loads(
        kubectl.call("get", "--filename", "-", *options, stdin=json.dumps(asked)).text or "{}"
    )
    return list(answer["items"]) if "items" in answer else [answer] if answer else []


def _named(item: Declared) -> Manifest:
    where = {"namespace": item.ref.namespace} if item.ref.namespace else {}
    metadata = {"name": item.ref.name, **where}
    return {"apiVersion": item.manifest["apiVersion"], "kind": item.ref.kind, "metadata": metadata}


@dataclass(frozen=True)
class Seen:
    """What one reading of the cluster found.

    Attributes:
        ours: the objects with the stack's label, with their managers.
        declared: the declared objects that exist.
    """

    ours: Sequence[Manifest]
    declared: Mapping[Ref, Manifest]


def read(kubectl: Kubectl, stack: str, state: Sequence[Declared]) -> Seen:
    """Everything of a stack in its cluster.

    Raises:
        ClusterUnreachableError: if the cluster does not answer.
    """
    ours = labelled(kubectl, stack)
    return Seen(ours, live(kubectl, state, ours))


def found_drifts(kubectl: Kubectl, stack: str, state: Sequence[Declared]) -> list[Drift]:
    """Every object that is not as declared.

    Raises:
        ClusterUnreachableError: if the cluster does not answer.
    """
    seen = read(kubectl, stack, state)
    return drifts(state, seen.declared, seen.ours)
