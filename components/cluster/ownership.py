"""Which objects we are about to make, and which of them somebody else has already.

The provider's create is an upsert: without this check an object that exists would silently become ours, and be deleted
with us. Everything in the layer's own namespaces is covered by the namespaces themselves.
"""

from collections.abc import Iterator

from components import names
from components.cluster.live import Live, ObjectRef
from components.settings.mistakes import Mistake
from components.settings.model import Settings
from components.settings.tenant import namespaces_of

GUARD_KINDS = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")


def cluster_scoped() -> list[ObjectRef]:
    """Objects outside any namespace of ours or of a tenant; StorageClasses only on EKS, where alone they are read."""
    roles = (names.ALLOY_ROLE, names.PROMETHEUS_ROLE, names.KUBE_STATE_METRICS_ROLE)
    return [
        ObjectRef("PriorityClass", "", names.AGENTS_PRIORITY_CLASS),
        ObjectRef("PriorityClass", "", names.AGENTS_PRIORITY_CLASS_WAITING),
        *(ObjectRef(kind, "", role) for kind in ("ClusterRole", "ClusterRoleBinding") for role in roles),
        *(ObjectRef(kind, "default", names.PROMETHEUS_ROLE) for kind in ("Role", "RoleBinding")),
        ObjectRef("StorageClass", "", names.VOLUME_CLASS),
        ObjectRef("StorageClass", "", names.AUTO_MODE_VOLUME_CLASS),
        *(ObjectRef(kind, "", guard) for kind in GUARD_KINDS for guard in names.GUARDS),
    ]


COLLECTOR_KINDS = ("ServiceAccount", "Role", "RoleBinding", "Secret", "Deployment")
GRAFANA_KINDS = ("ServiceAccount", "Secret", "Deployment", "Service", "Ingress")


def in_tenant_namespace(namespace: str) -> list[ObjectRef]:
    """Objects that the tenant stack may add to a namespace.

    But for configurations, which are named after their content: one of that name that exists says the same.
    """
    return [
        ObjectRef("ResourceQuota", namespace, names.PODS_QUOTA),
        ObjectRef("ResourceQuota", namespace, names.PRIORITY_QUOTA),
        *(ObjectRef(kind, namespace, names.COLLECTOR) for kind in COLLECTOR_KINDS),
        *(ObjectRef(kind, namespace, names.TENANT_GRAFANA) for kind in GRAFANA_KINDS),
        ObjectRef("Secret", namespace, names.READ_SECRET),
    ]


def foreign_objects(settings: Settings, live: Live, stack: str) -> Iterator[Mistake]:
    """A mistake for each object that exists without this stack's label."""
    for namespace in (names.LAYER_NAMESPACE, names.NODES_NAMESPACE):
        if namespace in live.namespaces and live.namespaces[namespace].owner != stack:
            yield _foreign(
                ObjectRef("Namespace", "", namespace), live.namespaces[namespace].owner, stack, "layer"
            )
    for ref in cluster_scoped():
        if ref in live.owners and live.owners[ref] != stack:
            yield _foreign(ref, live.owners[ref], stack, "layer")
    for name, tenant in settings.tenants.items():
        for namespace in namespaces_of(name, tenant):
            for ref in in_tenant_namespace(namespace):
                if ref in live.owners and live.owners[ref] != stack:
                    yield _foreign(ref, live.owners[ref], stack, f"tenants.{name}")


def _foreign(ref: ObjectRef, owner: str, stack: str, path: str) -> Mistake:
    whose = f"belongs to stack '{owner}'" if owner else "was not made by this program"
    where = f" --namespace {ref.namespace}" if ref.namespace else ""
    command = f"kubectl label {ref.kind.lower()} {ref.name}{where} {names.OWNER_LABEL}={stack} --overwrite"
    return Mistake(
        path,
        f"{ref} exists and {whose}; deploying would take it over, and removing it later would delete it",
        f"Rename or delete it, or, if it is meant to become this stack's, say so: {command}",
    )
