"""max-pods: the numbers of known types, and what a node gets by who starts it."""

from typing import Any

import pytest

from components.cluster import pod_slots
from components.cluster.instance_types import InstanceType, lookup
from components.cluster.pod_slots import NodeSlots, formula, of_group, pod_addresses, recommended_cap
from components.settings.model import NodeGroup

# Type, vCPUs, GiB, interfaces and addresses per interface as published by AWS (node images' table, EC2's descriptions);
# max-pods with secondary IPs, with custom networking, with prefixes and the recommended cap (None: not nitro), and on a
# managed node group.
KNOWN: list[tuple[str, int, float, int, int, int, int, int | None, int]] = [
    ("t3.micro", 2, 1, 2, 2, 4, 3, 34, 4),
    ("t3.small", 2, 2, 3, 4, 11, 8, 110, 11),
    ("t3.medium", 2, 4, 3, 6, 17, 12, 110, 17),
    ("t3.large", 2, 8, 3, 12, 35, 24, 110, 35),
    ("t3.xlarge", 4, 16, 4, 15, 58, 44, 110, 58),
    ("t3.2xlarge", 8, 32, 4, 15, 58, 44, 110, 58),
    ("t3a.small", 2, 2, 2, 4, 8, 5, 98, 8),
    ("t3a.medium", 2, 4, 3, 6, 17, 12, 110, 17),
    ("t4g.medium", 2, 4, 3, 6, 17, 12, 110, 17),
    ("t4g.large", 2, 8, 3, 12, 35, 24, 110, 35),
    ("m4.large", 2, 8, 2, 10, 20, 11, None, 20),
    ("m5.large", 2, 8, 3, 10, 29, 20, 110, 29),
    ("m5.xlarge", 4, 16, 4, 15, 58, 44, 110, 58),
    ("m5.2xlarge", 8, 32, 4, 15, 58, 44, 110, 58),
    ("m5.4xlarge", 16, 64, 8, 30, 234, 205, 110, 110),
    ("m5.24xlarge", 96, 384, 15, 50, 737, 688, 250, 250),
    ("m6i.large", 2, 8, 3, 10, 29, 20, 110, 29),
    ("m6i.xlarge", 4, 16, 4, 15, 58, 44, 110, 58),
    ("m6i.2xlarge", 8, 32, 4, 15, 58, 44, 110, 58),
    ("m6a.large", 2, 8, 3, 10, 29, 20, 110, 29),
    ("m6g.large", 2, 8, 3, 10, 29, 20, 110, 29),
    ("m7g.medium", 1, 4, 2, 4, 8, 5, 98, 8),
    ("m7g.large", 2, 8, 3, 10, 29, 20, 110, 29),
    ("m7g.xlarge", 4, 16, 4, 15, 58, 44, 110, 58),
    ("m7i.large", 2, 8, 3, 10, 29, 20, 110, 29),
    ("m7i.xlarge", 4, 16, 4, 15, 58, 44, 110, 58),
    ("m8g.large", 2, 8, 3, 10, 29, 20, 110, 29),
    ("r5.large", 2, 16, 3, 10, 29, 20, 110, 29),
    ("r5a.xlarge", 4, 32, 4, 15, 58, 44, 110, 58),
    ("r6i.large", 2, 16, 3, 10, 29, 20, 110, 29),
    ("r6i.xlarge", 4, 32, 4, 15, 58, 44, 110, 58),
    ("c5.large", 2, 4, 3, 10, 29, 20, 110, 29),
    ("c5.xlarge", 4, 8, 4, 15, 58, 44, 110, 58),
    ("c6i.large", 2, 4, 3, 10, 29, 20, 110, 29),
    ("c6i.2xlarge", 8, 16, 4, 15, 58, 44, 110, 58),
    ("c7g.large", 2, 4, 3, 10, 29, 20, 110, 29),
    ("c7g.xlarge", 4, 8, 4, 15, 58, 44, 110, 58),
    ("g4dn.xlarge", 4, 16, 3, 10, 29, 20, 110, 29),
    ("g4dn.12xlarge", 48, 192, 8, 30, 234, 205, 250, 234),
    ("g5.xlarge", 4, 16, 4, 15, 58, 44, 110, 58),
    ("g6.xlarge", 4, 16, 4, 15, 58, 44, 110, 58),
    ("inf2.xlarge", 4, 16, 4, 15, 58, 44, 110, 58),
    ("i3.large", 2, 15.25, 3, 10, 29, 20, None, 29),
    ("p5.48xlarge", 192, 2048, 2, 50, 100, 51, 250, 100),
    ("c6in.32xlarge", 128, 256, 8, 50, 394, 345, 250, 250),
]


def known(name: str) -> InstanceType:
    found = lookup(name)
    assert found is not None
    return found


def group(**fields: Any) -> NodeGroup:
    return NodeGroup(nodes=1, **fields)


def of(*types: str, **fields: Any) -> NodeSlots:
    return of_group(group(instance_types=types, **fields))


@pytest.mark.parametrize("row", KNOWN, ids=[row[0] for row in KNOWN])
def test_a_known_type_has_its_published_numbers(row: tuple[Any, ...]) -> None:
    name, vcpus, gib, enis, addresses, standard, custom, prefix, managed = row
    found = known(name)
    assert (found.vcpus, found.memory_mib / 1024, found.enis, found.ipv4_per_eni) == (
        vcpus,
        gib,
        enis,
        addresses,
    )
    assert formula(found) == standard
    assert formula(found, custom=True) == custom
    assert of(name).max_pods == managed
    assert of(name, pod_addresses="prefix").max_pods == (managed if prefix is None else prefix)
    assert (prefix is None) == (not pod_slots.supports_prefixes(found))


@pytest.mark.parametrize(("name", "pods"), [("t2.medium", 17), ("i4i.24xlarge", 437), ("t3.nano", 4)])
def test_the_formula_gives_what_the_node_images_list(name: str, pods: int) -> None:
    assert formula(known(name)) == pods


@pytest.mark.parametrize(("vcpus", "cap"), [(1, 110), (30, 110), (31, 250), (192, 250)])
def test_the_cap_is_110_up_to_30_vcpus_and_250_above(vcpus: int, cap: int) -> None:
    assert recommended_cap(InstanceType("x.large", 4, 15, vcpus, 1024, "nitro", False, "x86_64")) == cap


def test_with_custom_networking_the_primary_interface_gives_no_addresses() -> None:
    assert of("m5.large", custom_networking=True).max_pods == 20
    assert of("m5.large", custom_networking=True, pod_addresses="prefix").addresses == 2 * 9 * 16
    assert pod_addresses(InstanceType("x.large", 1, 10, 2, 1024, "nitro", False, "x86_64"), custom=True) == 0


def test_several_types_count_with_the_smallest_whatever_their_order() -> None:
    assert of("r5a.xlarge", "t3.large", "m5.24xlarge").max_pods == 35
    assert (
        of("t3.large", "r5a.xlarge").rule == of("r5a.xlarge", "t3.large").rule == "t3.large: 3 x 11 + 2 = 35"
    )


def test_of_several_types_the_fewest_addresses_count_too() -> None:
    assert of("m5.24xlarge", "t3.small", "t3.large", kind="other", custom_networking=True).addresses == 2 * 3


def test_a_managed_group_is_capped_and_says_so() -> None:
    assert of("m5.24xlarge").max_pods == 250
    assert of("m5.24xlarge").rule == "m5.24xlarge: 15 x 49 + 2 = 737, capped at 250"
    assert of("t3.large", pod_addresses="prefix").rule == "t3.large: 3 x 11 x 16 + 2 = 530, capped at 110"


def test_karpenter_neither_caps_nor_counts_prefixes() -> None:
    assert of("m5.24xlarge", kind="nodePool").max_pods == 737
    prefixes = of("c7g.medium", kind="nodePool", pod_addresses="prefix")
    assert (prefixes.max_pods, prefixes.addresses) == (8, 2 * 3 * 16)
    assert "maxPods" in prefixes.notes[0]
    custom = of("m5.large", kind="nodePool", custom_networking=True)
    assert (custom.max_pods, custom.addresses) == (20, 18)
    assert "RESERVED_ENIS=1" in custom.notes[0]


def test_auto_mode_uses_prefixes_up_to_110_unless_told_otherwise() -> None:
    assert of("m5.24xlarge", kind="autoMode").max_pods == 110
    assert of("m7g.medium", kind="autoMode").max_pods == 98
    assert of("m5.large", kind="autoMode", pod_addresses="secondary").max_pods == 29


def test_other_nodes_have_the_images_default_whatever_the_cni_does() -> None:
    assert of("m5.24xlarge", kind="other").max_pods == 737
    custom = of("m5.large", kind="other", custom_networking=True)
    assert (custom.max_pods, custom.addresses) == (29, 18)
    assert of("m5.large", kind="other", pod_addresses="prefix").max_pods == 29
    assert "maxPods" in custom.notes[0]


def test_a_stated_max_pods_wins_and_needs_no_known_type() -> None:
    assert of("t3.large", max_pods=20).max_pods == 20
    assert of("t99.mega", max_pods=64).max_pods == 64
    assert of(max_pods=64).max_pods == 64


def test_a_stated_max_pods_leaves_addresses_open_unless_the_mode_is_stated_too() -> None:
    assert of("t3.large", max_pods=110).addresses is None
    assert "not checked" in of("t3.large", max_pods=110).notes[0]
    assert of("t3.large", max_pods=110, pod_addresses="secondary").addresses == 33
    assert of("t3.large", max_pods=110, pod_addresses="prefix").addresses == 33 * 16
    assert of("t3.large", "t99.mega", max_pods=110, pod_addresses="prefix").addresses is None


def test_a_type_without_nitro_keeps_secondary_ips_and_says_so() -> None:
    found = of("m4.large", pod_addresses="prefix")
    assert (found.max_pods, found.addresses) == (20, 18)
    assert "m4.large" in found.notes[0]


def test_bare_metal_takes_prefixes() -> None:
    assert of("c5.metal", pod_addresses="prefix").max_pods == 250
    assert of("c5.metal", pod_addresses="prefix").addresses == 15 * 49 * 16


def test_an_unknown_type_names_the_closest_and_the_way_out() -> None:
    with pytest.raises(ValueError, match=r"'t3\.larg'.*t3\.large.*maxPods"):
        of("t3.larg")


def test_neither_types_nor_max_pods_is_an_error() -> None:
    with pytest.raises(ValueError, match="neither instanceTypes nor maxPods"):
        of()
