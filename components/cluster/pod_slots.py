"""max-pods of a node: how many pods its kubelet takes, and how many of them can have an address of their own.

Two limits per node. Slots: every pod that has not ended takes one of max-pods, hostNetwork and static ones too.
Addresses: what the VPC CNI can hand out; a hostNetwork pod takes none.

Formulas, with E interfaces of the default network card and A IPv4 addresses per interface, as in the node images'
`nodeadm/internal/kubelet/eni_max_pods.go` and the EKS max-pods calculator:
    secondary IPs        E x (A - 1) + 2            the 2 are aws-node and kube-proxy, both hostNetwork
    custom networking    (E - 1) x (A - 1) + 2      the primary interface gives no addresses to pods
    prefix delegation    E x (A - 1) x 16 + 2       nitro only; others keep their secondary IPs
    recommended cap      110 up to 30 vCPUs, 250 above

What a node really gets depends on who starts it:
    managed    EKS computes the formula of the CNI's mode, caps it and injects it; with several types the smallest.
               Nothing is injected where a launch template names an AMI: state `maxPods`.
    autoMode   min(110, formula), prefix delegation by default.
    nodePool   Karpenter knows no prefixes and no cap: E x (A - 1) + 2; custom networking needs RESERVED_ENIS=1.
    other      the image's default: the secondary-IP formula, whatever the CNI's mode is, without a cap.
A stated `maxPods` wins. Left out: Windows nodes (one interface, A - 1) and Fargate (one pod per node, no DaemonSets),
where no node agent runs; IPv6 clusters, where addresses are no limit: state `maxPods`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from components.cluster.instance_types import InstanceType, closest, lookup
from components.settings.model import NodeGroup

HOST_NETWORK_BASE = 2  # aws-node and kube-proxy
PREFIX = 16  # addresses in the /28 that prefix delegation gives in place of one address
SMALL_CAP, LARGE_CAP = 110, 250
SMALL_VCPUS = 30


@dataclass(frozen=True, slots=True)
class NodeSlots:
    """The limits of one node of a group."""

    max_pods: int
    addresses: int | None
    """Pods that can have an address of their own; None if nothing is known that limits them."""
    rule: str
    """How max-pods came about, with the numbers."""
    notes: tuple[str, ...] = ()
    """What the reader should know about the numbers, each one sentence."""


def supports_prefixes(found: InstanceType) -> bool:
    """Whether the CNI can delegate prefixes to this type: nitro, virtual or bare metal (CNI 1.9 and 1.11)."""
    return found.hypervisor == "nitro" or found.bare_metal


def pod_addresses(found: InstanceType, *, prefix: bool = False, custom: bool = False) -> int:
    """IPv4 addresses that the CNI can give to pods of one node."""
    interfaces = max(found.enis - custom, 0)
    return interfaces * (found.ipv4_per_eni - 1) * (PREFIX if prefix and supports_prefixes(found) else 1)


def formula(found: InstanceType, *, prefix: bool = False, custom: bool = False) -> int:
    """max-pods by the formula of the CNI's mode, not capped."""
    return pod_addresses(found, prefix=prefix, custom=custom) + HOST_NETWORK_BASE


def recommended_cap(found: InstanceType) -> int:
    """The cap that EKS puts on managed nodes: 110 up to 30 vCPUs, 250 above."""
    return SMALL_CAP if found.vcpus <= SMALL_VCPUS else LARGE_CAP


def uses_prefixes(group: NodeGroup) -> bool:
    """Whether the group's CNI delegates prefixes: as stated, else in Auto Mode only."""
    return (group.pod_addresses or ("prefix" if group.kind == "autoMode" else "secondary")) == "prefix"


def of_type(group: NodeGroup, found: InstanceType) -> int:
    """max-pods that a node of this type gets in this group, unless `maxPods` is stated."""
    prefix, custom = uses_prefixes(group), group.custom_networking
    if group.kind == "managed":
        return min(formula(found, prefix=prefix, custom=custom), recommended_cap(found))
    if group.kind == "autoMode":
        return min(formula(found, prefix=prefix, custom=custom), SMALL_CAP)
    return formula(found, custom=custom and group.kind == "nodePool")


def of_group(group: NodeGroup) -> NodeSlots:
    """The limits of the group's nodes; with several instance types the smallest of each.

    Raises:
        ValueError: an instance type that the table does not have, or no type at all, and no `maxPods`.
    """
    if group.max_pods is not None:
        return NodeSlots(
            group.max_pods, _stated_addresses(group), "stated by maxPods", tuple(_stated_notes(group))
        )
    types = [_known(name) for name in group.instance_types]
    if not types:
        raise ValueError("neither instanceTypes nor maxPods is stated")
    smallest = min(types, key=lambda found: of_type(group, found))
    addresses = min(_addresses(group, found) for found in types)
    return NodeSlots(of_type(group, smallest), addresses, _rule(group, smallest), tuple(_notes(group, types)))


def _known(name: str) -> InstanceType:
    found = lookup(name)
    if found is None:
        near = ", ".join(closest(name)) or "none"
        raise ValueError(f"unknown instance type '{name}' (closest: {near}); state maxPods")
    return found


def _addresses(group: NodeGroup, found: InstanceType) -> int:
    return pod_addresses(found, prefix=uses_prefixes(group), custom=group.custom_networking)


def _stated_addresses(group: NodeGroup) -> int | None:
    """With `maxPods` the CNI's mode is known only if it is stated too; then, and for known types, addresses limit."""
    types = [lookup(name) for name in group.instance_types]
    known = [found for found in types if found is not None]
    if not (group.pod_addresses or group.custom_networking) or not known or len(known) < len(types):
        return None
    return min(_addresses(group, found) for found in known)


def _rule(group: NodeGroup, found: InstanceType) -> str:
    """The formula with the numbers of the type that decides: `t3.large: 3 x 11 + 2 = 35`."""
    got = of_type(group, found)
    managed = group.kind in ("managed", "autoMode")
    prefix = managed and uses_prefixes(group) and supports_prefixes(found)
    custom = group.custom_networking and group.kind != "other"
    plain = formula(found, prefix=prefix, custom=custom)
    interfaces = f"({found.enis} - 1)" if custom else f"{found.enis}"
    text = f"{found.name}: {interfaces} x {found.ipv4_per_eni - 1}{f' x {PREFIX}' if prefix else ''} + 2 = {plain}"
    return text if got == plain else f"{text}, capped at {got}"


def _notes(group: NodeGroup, types: list[InstanceType]) -> Iterator[str]:
    xen = [found.name for found in types if not supports_prefixes(found)]
    if uses_prefixes(group) and xen:
        yield f"{', '.join(xen)} cannot use prefixes (not nitro) and keeps secondary IPs"
    if group.kind == "nodePool" and uses_prefixes(group):
        yield "Karpenter does not count prefixes: set kubelet.maxPods in its EC2NodeClass and maxPods here"
    if group.kind == "nodePool" and group.custom_networking:
        yield "with custom networking Karpenter needs RESERVED_ENIS=1, or nodes take more pods than addresses"
    if group.kind == "other" and (uses_prefixes(group) or group.custom_networking):
        yield "the image's default max-pods ignores the CNI's mode: set it in the node's user data and maxPods here"


def _stated_notes(group: NodeGroup) -> Iterator[str]:
    if _stated_addresses(group) is None:
        yield "addresses are not checked: maxPods is stated without podAddresses or known instanceTypes"
