"""Node agents as tests count them: by the nodes that their pods are bound to, never by what a DaemonSet desires."""

from collections import Counter

from components.names import ALLOY, NODE_EXPORTER, NODES_NAMESPACE
from simulator import nodes
from simulator.api import Object
from tests.support import manifests
from tests.support.kube import Kube

AGENTS = (ALLOY, NODE_EXPORTER)


def nodes_of(kube: Kube, agent: str) -> Counter[str]:
    """How many ready pods of an agent each node has."""
    found = kube.running(NODES_NAMESPACE, f"app.kubernetes.io/name={agent}")
    return Counter(pod["spec"]["nodeName"] for pod in found)


def add_full_node(kube: Kube, node: Object, namespace: str) -> list[str]:
    """Adds a node that is full of a tenant's pods before any agent can be there; gives the pods' names.

    They are bound to it before it exists: the scheduler counts them from its first moment.
    """
    name, slots = node["metadata"]["name"], int(node["status"]["allocatable"]["pods"])
    names = [f"{name}-app-{i}" for i in range(slots)]
    for pod in names:
        kube.create(manifests.pod(namespace, pod, nodeName=name))
    nodes.Nodes(kube).add(node)
    return names


def wanted_node(pod: Object) -> str:
    """The node that an agent waits for: it is in no message, only in the affinity that its controller wrote."""
    affinity = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return str(affinity["nodeSelectorTerms"][0]["matchFields"][0]["values"][0])
