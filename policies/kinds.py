"""Which kinds have no namespace, and which surely have one."""

CLUSTER_SCOPED = frozenset(
    {
        "APIService",
        "CertificateSigningRequest",
        "ClusterRole",
        "ClusterRoleBinding",
        "ComponentStatus",
        "CSIDriver",
        "CSINode",
        "CustomResourceDefinition",
        "FlowSchema",
        "IngressClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "RuntimeClass",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
    }
)
# The API server's own groups: each of their kinds that is not cluster-scoped has a namespace. Custom resources may not.
BUILT_IN_GROUPS = frozenset(
    {
        "",
        "apps",
        "autoscaling",
        "batch",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
    }
)


def needs_namespace(group: str, kind: str) -> bool:
    """Whether an object of this kind surely lands in a namespace."""
    return bool(kind) and group in BUILT_IN_GROUPS and kind not in CLUSTER_SCOPED
