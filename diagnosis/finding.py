"""One thing that is not as it should be: what, where, why, and what to do."""

import re
from dataclasses import dataclass

from components.names import PREFIX


@dataclass(frozen=True, order=True)
class Finding:
    """One object that is not ready.

    Attributes:
        subject: kind, namespace and name.
        node: the node that it concerns, or empty.
        reason: in the scheduler's, the admission's or the kubelet's own words.
        remedy: what to do.
        tenant: whether it is a tenant's, and so no fault of the deployment.
        growth: whether it is about nodes that come and go, and so no fault of the deployment either.
    """

    subject: str
    node: str
    reason: str
    remedy: str
    tenant: bool = False
    growth: bool = False

    @property
    def fails(self) -> bool:
        """Whether a deployment that leaves it has failed."""
        return not (self.tenant or self.growth)


_PODS_ON_NODE = "kubectl get pods -A -o wide --field-selector spec.nodeName={node}"
# What the parts of Kubernetes say, and what helps. The first that matches counts; the braces are filled in.
_REMEDIES = {
    r"Too many pods": (
        f"The node has no pod slot left. See what takes them: {_PODS_ON_NODE}. Then: layer.agents.preempt: true, fewer "
        "pods (a tenant's `pods`), one agent less (layer.hostMetrics: alloy), or a larger max-pods (docs/pod-budget.md)"
    ),
    r"untolerated taint": (
        "The node has a taint that its group does not declare. Declare it under cluster.nodeGroups.<group>.taints and "
        "deploy, or remove it: kubectl taint node {node} <key>-"
    ),
    r"Insufficient (cpu|memory|ephemeral-storage)": (
        "Requests of the node's pods leave too little. See: kubectl describe node {node}. Then move or shrink what "
        "takes most, or use a larger instance type for the group"
    ),
    r"didn't have free ports": (
        f"Another pod has the port: a second node exporter on the node. Find it: {_PODS_ON_NODE}. Then remove it, or "
        "use it: layer.hostMetrics: {{kind: existing, selector: ...}}; or layer.hostMetrics: alloy, which needs no port"
    ),
    rf"ValidatingAdmissionPolicy '{PREFIX}-": (
        "A guard of this project refuses it, and its message says what to change. What is right all the same is stated "
        "in layer.admission.exemptions (docs/guards.md); a loose guard, until all is mended: layer.admission: warn"
    ),
    r"violates PodSecurity": (
        "The namespace's Pod Security level was changed. See: kubectl get namespace {namespace} --show-labels. "
        "Back to what was deployed: make repair"
    ),
    r"exceeded quota": (
        "A quota of the namespace is used up. See: kubectl get resourcequota -n {namespace}. A tenant's is its `pods`; "
        "in the layer's namespaces none is ours"
    ),
    r"ImagePull|ErrImage|InvalidImageName|pull image": (
        "The image cannot be pulled: the registry, its credentials or the way to it; the message names the image"
    ),
    r"CrashLoopBackOff|exited|OOMKilled": (
        "The container ends. Its last words: kubectl logs -n {namespace} {name} --all-containers --previous"
    ),
    r"PersistentVolumeClaim|no storage class|ProvisioningFailed|volume": (
        "The volume cannot be had. See: kubectl describe persistentvolumeclaim -n {namespace}. A cluster without a "
        "default StorageClass needs layer.storageClass"
    ),
    r"NotReady|unreachable": "The node itself is not ready: kubectl describe node {node}. Its agent starts when it is",
    r"didn't match|didn't satisfy|NodeAffinity": (
        "No node of the groups that the pod may use is there. Compare kubectl get nodes --show-labels with "
        "cluster.nodeGroups and layer.runsOn"
    ),
    r"forbidden": (
        "An admission controller refuses the pod, and its message says why: exempt the layer's namespaces, or change "
        "the rule"
    ),
}
_FALLBACK = "See: kubectl describe {kind} -n {namespace} {name}"


def remedy_for(reason: str, about: str, node: str = "") -> str:
    """What helps against a reason given by Kubernetes.

    Args:
        reason: the message.
        about: the object that it is about, as `Kind namespace/name`.
        node: that it concerns, or empty.
    """
    kind, _, path = about.partition(" ")
    namespace, _, name = path.partition("/")
    text = next((remedy for pattern, remedy in _REMEDIES.items() if re.search(pattern, reason)), _FALLBACK)
    return text.format(node=node or "<node>", kind=kind.lower(), namespace=namespace, name=name)
