"""EKS managed node groups: their rules, the max-pods that their nodes get, and who hears of them."""

import json
from dataclasses import dataclass
from typing import Any, Protocol

from moto.autoscaling.models import autoscaling_backends
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.eks.responses import EKSResponse

from tests.support.aws.eks_service.access import BY_ENTRIES, new_entry
from tests.support.aws.eks_service.addons import CNI
from tests.support.aws.eks_service.clusters import known_subnets
from tests.support.aws.eks_service.common import (
    ActionResult,
    Request,
    children,
    cluster_name,
    cluster_of,
    invalid,
    kept,
    param,
    refused,
    update,
)

ADDRESSES_OF_A_PREFIX = 16
HOST_NETWORK_PODS = 2  # aws-node and kube-proxy
SMALL_VCPUS = 30  # EKS caps max-pods at 110 up to here, at 250 above
_METHODS = ("create_nodegroup", "update_nodegroup_config", "delete_nodegroup", "delete_cluster")
_moto = {name: getattr(EKSResponse, name) for name in _METHODS}


@dataclass(frozen=True)
class GroupNodes:
    """The nodes that a group has now.

    Attributes:
        cluster: the name of its cluster.
        group: its own name.
        instance_types: of its nodes, in turn.
        labels: of its nodes, beside EKS's own.
        taints: of its nodes, in Kubernetes' spelling.
        count: how many.
        max_pods: of each, by the CNI's configuration when the group was made.
    """

    cluster: str
    group: str
    instance_types: tuple[str, ...]
    labels: dict[str, str]
    taints: tuple[dict[str, str], ...]
    count: int
    max_pods: int


class Listener(Protocol):
    """Hears of every change of a group; the nodes of a group that is gone are none."""

    def changed(self, nodes: GroupNodes) -> None:
        """The group has these nodes now."""


listeners: list[Listener] = []


def create_nodegroup(request: Request) -> ActionResult:
    for instance_type in param(request, "instanceTypes") or []:
        if instance_type not in INSTANCE_TYPES:
            raise invalid(f"[{instance_type}] is not a valid instance type")
    known_subnets(request, param(request, "subnets"))
    cluster = cluster_of(request)
    cni = children(request, "addons").get(CNI)
    if cni is None and not cluster.self_managed_addons:
        raise refused("NodeCreationFailure: Unhealthy nodes in the kubernetes cluster: no CNI plugin")
    answer = _moto["create_nodegroup"](request)
    group = _group(request)
    group.version = param(request, "version") or cluster.version
    group.update_config = param(request, "updateConfig") or {"maxUnavailable": 1}
    _scaling_group(request, group)
    group.stand_in_max_pods = max_pods(
        group.instance_types, json.loads((cni or {}).get("configurationValues") or "{}")
    )
    _admit_nodes(request, group.node_role)
    _tell(cluster.name, group)
    return answer


def update_nodegroup_config(request: Request) -> ActionResult:
    answer = _moto["update_nodegroup_config"](request)
    _tell(cluster_name(request), _group(request))
    return answer


def update_nodegroup_version(request: Request) -> ActionResult:
    """New nodes, one by one; of their max-pods nothing is documented but that EKS computes them for a new group."""
    group, template = _group(request), param(request, "launchTemplate")
    wanted = param(request, "version") or cluster_of(request).version
    if wanted > cluster_of(request).version:
        raise invalid(f"Nodegroup version {wanted} is newer than the cluster's")
    group.version = wanted
    if template:
        group.launch_template = {**group.launch_template, **template}
    return update("VersionUpdate")


def delete_nodegroup(request: Request) -> ActionResult:
    cluster, group = cluster_of(request), _group(request)
    answer = _moto["delete_nodegroup"](request)
    _forget_scaling_group(request, group)
    if not any(other.node_role == group.node_role for other in cluster.nodegroups.values()):
        kept(cluster, "access").pop(group.node_role, None)
    _tell(cluster.name, group, there=False)
    return answer


def delete_cluster(request: Request) -> ActionResult:
    if cluster_of(request).deletion_protection:
        raise refused("The cluster has deletion protection enabled")
    return _moto["delete_cluster"](request)


def max_pods(instance_types: list[str], cni: dict[str, Any]) -> int:
    """What EKS puts into the user data of a group's nodes: the least of its types, capped.

    By the user guide's "How maxPods is determined" and the calculator script that it names: interfaces of the default
    network card, less one with custom networking, times the addresses beside each one's own, times 16 with prefixes
    where the hypervisor is nitro.
    """
    environment = cni.get("env", {})
    return min(_max_pods_of(INSTANCE_TYPES[name], environment) for name in instance_types)


def _max_pods_of(found: dict[str, Any], environment: dict[str, str]) -> int:
    network = found["NetworkInfo"]
    default = network.get("DefaultNetworkCardIndex", 0)
    cards = {card["NetworkCardIndex"]: card for card in network["NetworkCards"]}
    interfaces = cards[default]["MaximumNetworkInterfaces"]
    if environment.get("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG") == "true":
        interfaces -= 1
    addresses = interfaces * (network["Ipv4AddressesPerInterface"] - 1)
    nitro = found.get("Hypervisor") == "nitro" or found.get("BareMetal", False)
    if environment.get("ENABLE_PREFIX_DELEGATION") == "true" and nitro:
        addresses *= ADDRESSES_OF_A_PREFIX
    cap = 110 if found["VCpuInfo"]["DefaultVCpus"] <= SMALL_VCPUS else 250
    return int(min(addresses + HOST_NETWORK_PODS, cap))


def _group(request: Request) -> Any:
    return request.eks_backend.describe_nodegroup(cluster_name(request), param(request, "nodegroupName"))


def _scaling_group(request: Request, group: Any) -> None:
    """The Auto Scaling group that EKS makes, without instances: it is there for its tags."""
    template = param(request, "launchTemplate")
    if template is None:
        return
    autoscaling_backends[request.current_account][request.region].create_auto_scaling_group(
        name=group.resources["autoScalingGroups"][0]["name"],
        availability_zones=[],
        desired_capacity=0,
        max_size=0,
        min_size=0,
        launch_config_name="",
        launch_template={"LaunchTemplateId": template["id"], "Version": template["version"]},
        vpc_zone_identifier=",".join(group.subnets),
        default_cooldown=None,
        health_check_period=None,
        health_check_type=None,
        load_balancers=[],
        target_group_arns=[],
        placement_group=None,
        termination_policies=[],
        tags=[],
    )


def _forget_scaling_group(request: Request, group: Any) -> None:
    backend = autoscaling_backends[request.current_account][request.region]
    backend.autoscaling_groups.pop(group.resources["autoScalingGroups"][0]["name"], None)


def _admit_nodes(request: Request, role: str) -> None:
    """EKS makes the access entry of its managed nodes' role itself."""
    by_entries = cluster_of(request).access_config["authenticationMode"] in BY_ENTRIES
    if by_entries and role not in children(request, "access"):
        new_entry(request, role, "EC2_LINUX")


def _tell(cluster: str, group: Any, *, there: bool = True) -> None:
    nodes = GroupNodes(
        cluster,
        group.nodegroup_name,
        tuple(group.instance_types),
        dict(group.labels),
        tuple(_as_kubernetes(taint) for taint in group.taints),
        group.scaling_config["desiredSize"] if there else 0,
        group.stand_in_max_pods,
    )
    for listener in listeners:
        listener.changed(nodes)


def _as_kubernetes(taint: dict[str, str]) -> dict[str, str]:
    """NO_SCHEDULE is NoSchedule on the node."""
    return {**taint, "effect": taint["effect"].title().replace("_", "")}
