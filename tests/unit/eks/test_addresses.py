"""Addresses of subnets: the numbers of the formulas, and who shares what."""

from typing import Any

import pytest

from components.cluster.eks import addresses
from components.cluster.eks.facts import SubnetFacts
from components.cluster.instance_types import lookup
from components.settings.eks import EksTarget
from components.settings.model import Settings
from tests.support.environments import changed, parsed
from tests.unit.components import aws
from tests.unit.eks.test_plans import BASE, PREFIXES

SUBNETS = {subnet: SubnetFacts(zone, "vpc-1", 1000) for subnet, zone in aws.ZONES.items()}
OTHER = "subnet-0dddddddddddddddd"


def on_eks(*changes: tuple[str, Any]) -> tuple[Settings, EksTarget]:
    """Settings with a target on EKS."""
    settings = parsed(changed(BASE, *changes))
    assert isinstance(settings.cluster.target, EksTarget)
    return settings, settings.cluster.target


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # t3.large: 3 interfaces of 12 addresses; 35 pods, 2 of them hostNetwork.
        ([], 36),
        ([("cluster.target.create.vpcCni", {"warmIpTarget": 2})], 36),  # 3 + 33 + 2 is more than there are
        # 110 pods, 108 addresses: 7 prefixes, 1 warm, 3 interfaces' own.
        (PREFIXES, 3 + 16 * 8),
        ([*PREFIXES, ("cluster.target.create.vpcCni", {"warmPrefixTarget": 2})], 3 + 16 * 9),
    ],
)
def test_addresses_of_a_node(changes: list[tuple[str, Any]], expected: int) -> None:
    settings, target = on_eks(*changes)
    found = lookup("t3.large")
    assert found
    assert target.create
    assert addresses.of_node(settings.cluster.node_groups["web"], found, target.create) == expected


def test_a_subnet_holds_nodes_one_update_and_the_control_plane() -> None:
    settings, target = on_eks()
    assert target.create
    (need,) = addresses.needs(settings.cluster, target.create, SUBNETS, {"web": 5, "workers": 9, "batch": 1})
    # r5a.xlarge takes 4 x 15; the largest update starts 2 x 2 zones of them; 6 for EKS in each of two subnets.
    assert need.need == 5 * 36 + 10 * 60 + 4 * 60 + 2 * 6
    assert (need.free, need.fits) == (2000, True)
    line = addresses.line([need], 15)
    assert "for 15 nodes" in line
    assert f"{need.need} of 2000 free in {', '.join(sorted(aws.SUBNETS))}" in line


def test_groups_of_other_subnets_share_what_they_can_only_use_together() -> None:
    settings, target = on_eks(("cluster.nodeGroups.web.eks", {"subnets": [aws.SUBNETS[0]]}))
    assert target.create
    nodes = {"web": 5, "workers": 9, "batch": 1}
    found = {n.subnets: n for n in addresses.needs(settings.cluster, target.create, SUBNETS, nodes)}
    assert found[(aws.SUBNETS[0],)].groups == ("web",)
    assert found[(aws.SUBNETS[0],)].need == 5 * 36 + 2 * 36 + 6
    assert set(found[tuple(aws.SUBNETS)].groups) == {"web", "workers", "batch"}


def test_a_subnet_that_could_not_be_read_is_not_counted_with() -> None:
    settings, target = on_eks(("cluster.nodeGroups.web.eks", {"subnets": [OTHER]}))
    assert target.create
    found = addresses.needs(settings.cluster, target.create, SUBNETS, {"web": 5})
    assert [need.subnets for need in found] == [tuple(aws.SUBNETS)]
