"""The numbers on docs/eks.md are the program's."""

import re

from commands.docs import DOCS
from components.cluster import node_groups
from components.cluster.eks import addresses
from components.cluster.instance_types import lookup
from components.settings.eks import EksTarget
from components.settings.model import NodeGroup
from tests.support.environments import parsed
from tests.unit.eks.test_plans import BASE

PAGE = (DOCS / "eks.md").read_text(encoding="utf-8")
AGENTS, NODES = 2, 3


def group(name: str, way: str) -> NodeGroup:
    """A managed group of three nodes of a type."""
    written = {"instanceTypes": [name], "nodes": NODES, "podAddresses": way}
    return NodeGroup.model_validate(written, strict=False)


def test_slots_of_three_fleets() -> None:
    rows = re.findall(r"\| 3 x ([\w.]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", PAGE)
    assert len(rows) == 3
    for name, *told in rows:
        counted = []
        for way in ("secondary", "prefix"):
            slots = node_groups.max_pods(group(name, way))
            counted += [slots, NODES * (slots - node_groups.SYSTEM_PODS - AGENTS)]
        assert [int(number) for number in told] == counted


def test_addresses_of_a_node() -> None:
    target = parsed(BASE).cluster.target
    assert isinstance(target, EksTarget)
    assert target.create
    rows = re.findall(r"^\| ([a-z]\w+\.\w+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 3
    for name, *told in rows:
        found = lookup(name)
        assert found
        ways = ("secondary", "prefix")
        counted = [addresses.of_node(group(name, way), found, target.create) for way in ways]
        assert [int(number) for number in told] == counted
