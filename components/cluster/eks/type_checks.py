"""Instance types as EC2 describes them against the table that max-pods follows from, and against the AMI type. Pure."""

from collections.abc import Iterator

from components.cluster import instance_types, pod_slots
from components.cluster.eks import plans
from components.cluster.eks.facts import Facts, TypeFacts
from components.cluster.instance_types import InstanceType
from components.settings.eks import EksTarget
from components.settings.mistakes import Mistake
from components.settings.model import NodeGroup, Settings

TABLE = "components/cluster/instance_types.csv"


def type_mistakes(settings: Settings, target: EksTarget, facts: Facts) -> Iterator[Mistake]:
    """Types that region or zones do not have, or that are otherwise than max-pods was computed from."""
    for group_name, group in settings.cluster.node_groups.items():
        zones = _zones(group, target, facts)
        for i, name in enumerate(group.instance_types):
            path = f"cluster.nodeGroups.{group_name}.instanceTypes[{i}]"
            offered = facts.zones.get(name)
            if offered is not None and not offered:
                yield Mistake(
                    path,
                    f"{target.region} has no instance type '{name}'",
                    "Choose another one: aws ec2 describe-instance-type-offerings "
                    f"--region {target.region} --query 'InstanceTypeOfferings[].InstanceType'",
                )
            elif offered and zones and not offered & zones:
                yield Mistake(
                    path,
                    f"no zone of the group's subnets has '{name}' (the subnets are in {', '.join(sorted(zones))}; it "
                    f"is offered in {', '.join(sorted(offered))})",
                    "Choose another type, or subnets in these zones",
                )
            if name in facts.types:
                yield from _described(path, name, group, facts.types[name])


def _zones(group: NodeGroup, target: EksTarget, facts: Facts) -> frozenset[str]:
    """Of the group's subnets, where it is made here; empty where nothing is known."""
    if target.create is None or group.kind != "managed":
        return frozenset()
    subnets = group.eks.subnets or target.create.subnets
    return frozenset(facts.subnets[subnet].zone for subnet in subnets if subnet in facts.subnets)


def _described(path: str, name: str, group: NodeGroup, found: TypeFacts) -> Iterator[Mistake]:
    row = instance_types.lookup(name)
    if row is None:
        yield from _newer_than_the_table(path, name, group, found)
    else:
        differences = list(_differences(row, found))
        if differences:
            yield Mistake(
                path,
                f"EC2 describes '{name}' otherwise than {TABLE}, from which max-pods follows: {'; '.join(differences)}",
                "Make the table anew (toolchain/instance_types.py), or state maxPods for the group",
            )
    ami_type = plans.ami_type(group)
    wanted = "arm64" if "ARM_64" in ami_type else "x86_64"
    if group.kind == "managed" and wanted not in found.architectures:
        yield Mistake(
            path,
            f"'{name}' is {', '.join(found.architectures)}, and the group's AMI type {ami_type} is {wanted}",
            "Choose types of one architecture, and an AMI type that has it (eks.amiType)",
        )


def _differences(row: InstanceType, found: TypeFacts) -> Iterator[str]:
    """Only what max-pods depends on."""
    compared = (
        ("network interfaces", row.enis, found.enis),
        ("addresses per interface", row.ipv4_per_eni, found.ipv4_per_eni),
        ("vCPUs", row.vcpus, found.vcpus),
        ("hypervisor", row.hypervisor, found.hypervisor if not found.bare_metal else ""),
    )
    for what, ours, theirs in compared:
        if ours != theirs:
            yield f"{what} {theirs}, in the table {ours}"


def _newer_than_the_table(path: str, name: str, group: NodeGroup, found: TypeFacts) -> Iterator[Mistake]:
    """A type that the table lacks needs a stated maxPods: it is compared with what EKS will compute."""
    described = InstanceType(
        name=name,
        enis=found.enis,
        ipv4_per_eni=found.ipv4_per_eni,
        vcpus=found.vcpus,
        memory_mib=found.memory_mib,
        hypervisor=found.hypervisor,
        bare_metal=found.bare_metal,
        architecture=found.architectures[0] if found.architectures else "",
    )
    computed = pod_slots.of_type(group, described)
    if group.kind == "managed" and group.max_pods is not None and group.max_pods > computed:
        yield Mistake(
            f"{path.rpartition('.')[0]}.maxPods",
            f"is {group.max_pods}, but EKS gives a node of type '{name}' {computed}",
            f"Write {computed} or less",
        )
