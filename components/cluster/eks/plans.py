"""What a cluster of our own consists of: add-ons in their order, and managed node groups. Pure.

The order is what matters: EKS computes a managed group's max-pods from the VPC CNI's configuration at the moment when
the group is created, and changing it later changes no node. So vpc-cni comes before every node group; with it what a
node needs to become ready (kube-proxy, and the agent that gives the CNI its role). These are DaemonSets, which are
active without nodes; the others are Deployments, which are not.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from components.cluster import instance_types, node_groups, pod_slots
from components.names import PREFIX
from components.settings.eks import EksTarget
from components.settings.model import Cluster, NodeGroup, NodeRange

VPC_CNI, KUBE_PROXY, POD_IDENTITY = "vpc-cni", "kube-proxy", "eks-pod-identity-agent"
COREDNS, EBS_CSI, METRICS_SERVER = "coredns", "aws-ebs-csi-driver", "metrics-server"
EFFECTS: Final = {
    "NoSchedule": "NO_SCHEDULE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
}
CAPACITY: Final = {"onDemand": "ON_DEMAND", "spot": "SPOT"}
AMI_TYPES: Final = {"x86_64": "AL2023_x86_64_STANDARD", "arm64": "AL2023_ARM_64_STANDARD"}
BOTTLEROCKET_SYSTEM_GIB = 4
TEMPLATE = "k8s.io/cluster-autoscaler/node-template"


@dataclass(frozen=True)
class Role:
    """A role that an add-on's pods take."""

    policy: str
    """One of AWS's own, by name."""
    account: str
    """Service account, in kube-system."""


@dataclass(frozen=True)
class AddOnPlan:
    """One EKS add-on."""

    name: str
    configuration: Mapping[str, Any] = field(default_factory=dict)
    role: Role | None = None

    @property
    def values(self) -> str | None:
        """Its configuration as EKS takes it; keys sorted, so that two previews are equal."""
        return json.dumps(self.configuration, sort_keys=True) if self.configuration else None


@dataclass(frozen=True)
class ManagedGroup:
    """A managed node group as EKS is told."""

    name: str
    ami_type: str
    capacity: str
    instance_types: tuple[str, ...]
    minimum: int
    maximum: int
    max_unavailable: int
    disk_gib: int
    subnets: tuple[str, ...]
    labels: Mapping[str, str]
    taints: tuple[tuple[str, str, str], ...]
    """Key, value and EKS's word for the effect."""
    pod_addresses: str
    """`secondary` or `prefix`: what max-pods of its nodes was computed for when it was made."""
    tags: Mapping[str, str]
    """On its Auto Scaling group: what a Cluster Autoscaler reads where the group has no node to look at."""

    @property
    def is_scaled(self) -> bool:
        """Whether somebody else decides how many nodes there are."""
        return self.minimum != self.maximum

    @property
    def volumes(self) -> dict[str, int]:
        """GiB by device. Bottlerocket's system is a volume of its own; the other holds images and pods."""
        if self.ami_type.startswith("BOTTLEROCKET"):
            return {"/dev/xvda": BOTTLEROCKET_SYSTEM_GIB, "/dev/xvdb": self.disk_gib}
        return {"/dev/xvda": self.disk_gib}

    @property
    def unchangeable(self) -> dict[str, Any]:
        """What EKS cannot change: the engine would delete the group with all its nodes, and make it anew."""
        return {
            "instanceTypes": list(self.instance_types),
            "amiType": self.ami_type,
            "capacity": self.capacity,
            "subnets": list(self.subnets),
        }


def uses_prefixes(cluster: Cluster) -> bool:
    """Whether the VPC CNI gives prefixes: as soon as one group is made for them. Others are then groups that were
    made before, whose nodes keep their max-pods (`checks.py`)."""
    return any(pod_slots.uses_prefixes(group) for group in managed(cluster).values())


def managed(cluster: Cluster) -> dict[str, NodeGroup]:
    """The managed node groups, by name."""
    return {name: group for name, group in cluster.node_groups.items() if group.kind == "managed"}


def before_nodes(cluster: Cluster, target: EksTarget) -> list[AddOnPlan]:
    """Add-ons without which no node becomes ready, or a group gets the wrong max-pods."""
    return [
        *([AddOnPlan(POD_IDENTITY)] if target.identity == "podIdentity" else []),
        AddOnPlan(VPC_CNI, _vpc_cni(cluster, target), Role("AmazonEKS_CNI_Policy", "aws-node")),
        AddOnPlan(KUBE_PROXY),
    ]


def after_nodes(cluster: Cluster) -> list[AddOnPlan]:
    """Add-ons that need a node to become active."""
    tags = {"controller": {"extraVolumeTags": {f"{PREFIX}/cluster": cluster.name}}}
    role = Role("service-role/AmazonEBSCSIDriverPolicy", "ebs-csi-controller-sa")
    return [AddOnPlan(COREDNS), AddOnPlan(EBS_CSI, tags, role), AddOnPlan(METRICS_SERVER)]


def add_ons(cluster: Cluster, target: EksTarget) -> list[AddOnPlan]:
    """All of them."""
    return [*before_nodes(cluster, target), *after_nodes(cluster)]


def _vpc_cni(cluster: Cluster, target: EksTarget) -> dict[str, Any]:
    """Values are texts: the add-on's schema refuses true and 1. Targets of addresses and of prefixes exclude each other
    (the first win), so only one kind is said."""
    create = target.create
    wanted = create.vpc_cni if create else None
    prefixes = uses_prefixes(cluster)
    env = {"ENABLE_PREFIX_DELEGATION": str(prefixes).lower()}
    if wanted and wanted.warm_ip_target:
        env["WARM_IP_TARGET"] = str(wanted.warm_ip_target)
        if wanted.minimum_ip_target:
            env["MINIMUM_IP_TARGET"] = str(wanted.minimum_ip_target)
    elif prefixes:
        env["WARM_PREFIX_TARGET"] = str((wanted and wanted.warm_prefix_target) or 1)
    return {"env": env, "enableNetworkPolicy": str(cluster.enforces_network_policies).lower()}


def ami_type(group: NodeGroup) -> str:
    """As stated, else Amazon Linux 2023 for the instance types' architecture."""
    found = (instance_types.lookup(name) for name in group.instance_types)
    architecture = next((one.architecture for one in found if one), "x86_64")
    return group.eks.ami_type or AMI_TYPES.get(architecture, AMI_TYPES["x86_64"])


def managed_groups(cluster: Cluster, target: EksTarget) -> list[ManagedGroup]:
    """The groups to make; labels and taints are exactly those that placement uses."""
    return [_managed_group(name, group, target) for name, group in managed(cluster).items()]


def _managed_group(name: str, group: NodeGroup, target: EksTarget) -> ManagedGroup:
    selector = node_groups.selector(name, group)
    # EKS sets its own label itself, and refuses to be told.
    labels = {} if selector.key == node_groups.LABELS["managed"] else {selector.key: selector.values[0]}
    create = target.create
    return ManagedGroup(
        name=name,
        ami_type=ami_type(group),
        capacity=CAPACITY[group.eks.capacity],
        instance_types=group.instance_types,
        minimum=node_groups.nodes_min(group),
        maximum=node_groups.nodes_max(group),
        max_unavailable=group.eks.max_unavailable,
        disk_gib=group.eks.disk_gib,
        subnets=group.eks.subnets or (create.subnets if create else ()),
        labels=labels,
        pod_addresses="prefix" if pod_slots.uses_prefixes(group) else "secondary",
        taints=tuple((t.key, t.value, EFFECTS[t.effect]) for t in (*group.taints, *group.startup_taints)),
        tags=_autoscaler_tags(name, group) if isinstance(group.nodes, NodeRange) else {},
    )


def _autoscaler_tags(name: str, group: NodeGroup) -> dict[str, str]:
    """A Cluster Autoscaler takes 110 pods for a node that it has not seen, unless the tag says otherwise
    (cloudprovider/aws/aws_manager.go). Tags of a node group do not reach its Auto Scaling group."""
    selector = node_groups.selector(name, group)
    return {
        f"{TEMPLATE}/resources/pods": str(node_groups.max_pods(group)),
        f"{TEMPLATE}/label/{selector.key}": selector.values[0],
        **{f"{TEMPLATE}/taint/{t.key}": f"{t.value}:{t.effect}" for t in group.taints},
    }
