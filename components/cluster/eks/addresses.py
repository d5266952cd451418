"""Addresses of subnets: the other half of the pod budget, since a pod slot without an address is none. Pure.

What a node takes, with E interfaces of A addresses each (the VPC CNI's WARM_ENI_TARGET=1 keeps a whole interface free):
    secondary IPs        E x A
    warm addresses       E + pods + WARM_IP_TARGET, E x A at most
    prefix delegation    E + 16 x (prefixes that the pods need + WARM_PREFIX_TARGET); prefixes are /28 without a gap
An update of a managed group starts more nodes before it drains any: twice the number of zones, or `maxUnavailable` if
that is more (EKS user guide, "Understand each phase of node updates"). EKS wants 6 free addresses in each subnet of the
control plane ("VPC and subnet requirements").
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from components.cluster import pod_slots
from components.cluster.eks import plans
from components.cluster.eks.facts import SubnetFacts
from components.cluster.instance_types import InstanceType, lookup
from components.settings.eks import EksCreate
from components.settings.model import Cluster, NodeGroup

CONTROL_PLANE = 6


@dataclass(frozen=True)
class SubnetNeed:
    """What one set of subnets has to have."""

    subnets: tuple[str, ...]
    groups: tuple[str, ...]
    need: int
    free: int

    @property
    def fits(self) -> bool:
        """Whether it has."""
        return self.need <= self.free


def of_node(group: NodeGroup, found: InstanceType, create: EksCreate) -> int:
    """Addresses that one node of this type takes at its most."""
    cni, pods = create.vpc_cni, max(pod_slots.of_type(group, found) - pod_slots.HOST_NETWORK_BASE, 0)
    most = found.enis * found.ipv4_per_eni
    if pod_slots.uses_prefixes(group) and pod_slots.supports_prefixes(found):
        prefixes = ceil(pods / pod_slots.PREFIX) + (cni.warm_prefix_target or 1)
        slots = found.enis * (found.ipv4_per_eni - 1)
        return found.enis + pod_slots.PREFIX * min(prefixes, slots)
    return min(most, found.enis + pods + cni.warm_ip_target) if cni.warm_ip_target else most


def of_group(group: NodeGroup, create: EksCreate, nodes: int) -> int:
    """Addresses of so many nodes, of the type that takes the most; 0 where no type is known."""
    types = (lookup(name) for name in group.instance_types)
    return nodes * max((of_node(group, found, create) for found in types if found), default=0)


def needs(
    cluster: Cluster,
    create: EksCreate,
    subnets: Mapping[str, SubnetFacts],
    nodes: Mapping[str, int],
) -> list[SubnetNeed]:
    """Every set of subnets that some group uses, with all groups that can use nothing else.

    Args:
        cluster: the groups.
        create: the cluster's subnets, and how many addresses the CNI keeps ready.
        subnets: by id; a set of which one could not be read is left out.
        nodes: how many nodes of each group to count.
    """
    chosen = {name: group.eks.subnets or create.subnets for name, group in plans.managed(cluster).items()}
    sets = {tuple(sorted(set(of_group))) for of_group in (*chosen.values(), create.subnets)}
    found = []
    for together in sorted(sets):
        if not all(subnet in subnets for subnet in together):
            continue
        inside = {name: cluster.node_groups[name] for name, s in chosen.items() if set(s) <= set(together)}
        zones = len({subnets[subnet].zone for subnet in together})
        counted = sum(of_group(group, create, nodes.get(name, 0)) for name, group in inside.items())
        surge = max((_surge(group, create, zones) for group in inside.values()), default=0)
        plane = CONTROL_PLANE * len(set(together) & set(create.subnets))
        free = sum(subnets[subnet].free for subnet in together)
        found.append(SubnetNeed(together, tuple(inside), counted + surge + plane, free))
    return found


def _surge(group: NodeGroup, create: EksCreate, zones: int) -> int:
    """While one group is updated; two at a time is nobody's plan."""
    return of_group(group, create, max(2 * zones, group.eks.max_unavailable))


def line(found: Iterable[SubnetNeed], nodes: int) -> str:
    """What preview says beside the table of pod slots."""
    parts = (f"{need.need} of {need.free} free in {', '.join(need.subnets)}" for need in found)
    return (
        f"Addresses of subnets, for {nodes} nodes at their most and one group's update: {'; '.join(parts)}."
    )
