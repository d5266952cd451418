"""What follows from a node group's settings: its nodes' label, their number, max-pods, and who may use it."""

from collections.abc import Collection

from components.cluster import pod_slots
from components.settings.model import Cluster, NodeGroup, NodeRange, Selector
from components.taints import is_hard

# The label that each kind of group puts on its nodes, with the group's name as value.
LABELS = {
    "managed": "eks.amazonaws.com/nodegroup",
    "nodePool": "karpenter.sh/nodepool",
    "autoMode": "karpenter.sh/nodepool",
}
# aws-node, kube-proxy, ebs-csi-node, eks-pod-identity-agent and eks-node-monitoring-agent; in Auto Mode all five are
# part of the node and no pods.
SYSTEM_PODS = 5
# Of those five only ebs-csi-node has an address of its own.
SYSTEM_ADDRESSES = 1


def selector(name: str, group: NodeGroup) -> Selector:
    """The label by which the group's nodes are known: as stated, else the kind's own label with the group's name."""
    if group.selector is not None:
        return group.selector
    if group.kind not in LABELS:
        raise ValueError(f"node group '{name}' of kind {group.kind} states no selector")
    return Selector(key=LABELS[group.kind], values=(name,))


def allowed_groups(cluster: Cluster, runs_on: Collection[str]) -> tuple[str, ...]:
    """Names of the groups that pods with this `runsOn` may use, in the order of the settings.

    Empty means all groups without taints; `PreferNoSchedule` keeps no pod out and does not count as one.
    """
    if runs_on:
        return tuple(name for name in cluster.node_groups if name in runs_on)
    return tuple(name for name, group in cluster.node_groups.items() if not is_tainted(group))


def is_tainted(group: NodeGroup) -> bool:
    """Whether pods without tolerations are kept out."""
    return any(is_hard(taint.effect) for taint in group.taints)


def max_pods(group: NodeGroup) -> int:
    """max-pods of one node (see `pod_slots`)."""
    return pod_slots.of_group(group).max_pods


def system_pods(group: NodeGroup) -> int:
    """The cluster's own pods per node: as stated, else 5, and 0 in Auto Mode."""
    if group.system_pods is not None:
        return group.system_pods
    return 0 if group.kind == "autoMode" else SYSTEM_PODS


def system_addresses(group: NodeGroup) -> int:
    """Addresses that the cluster's own pods take per node.

    Of a stated number only aws-node and kube-proxy are certain to be hostNetwork, and in Auto Mode none is.
    """
    if group.kind == "autoMode":
        return system_pods(group)
    if group.system_pods is None:
        return SYSTEM_ADDRESSES
    return max(group.system_pods - pod_slots.HOST_NETWORK_BASE, 0)


def nodes_min(group: NodeGroup) -> int:
    """Nodes that the group has at least."""
    return group.nodes.min if isinstance(group.nodes, NodeRange) else group.nodes


def nodes_max(group: NodeGroup) -> int:
    """Nodes that the group has at most."""
    return group.nodes.max if isinstance(group.nodes, NodeRange) else group.nodes
