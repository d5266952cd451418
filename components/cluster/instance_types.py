"""What EC2 instance types offer a node: interfaces, addresses, CPU and memory, from a generated table.

The table (`instance_types.csv`, its source, licence and date in its head) is written by `toolchain/instance_types.py`.
It is read at the first look-up and kept; importing this module reads nothing.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("instance_types.csv")
# Below this similarity (0 to 1, difflib's ratio) a name is no help as a suggestion.
SIMILAR = 0.6


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One EC2 instance type."""

    name: str
    enis: int
    """Network interfaces of the default network card: the VPC CNI uses no other card for pods."""
    ipv4_per_eni: int
    """IPv4 addresses of one interface, its primary one included."""
    vcpus: int
    memory_mib: int
    hypervisor: str
    """`nitro`, `xen`, or empty for bare metal."""
    bare_metal: bool
    architecture: str
    """`x86_64` or `arm64` (`…_mac` for Macs, which cannot join a cluster)."""

    @property
    def family(self) -> str:
        """The part before the dot, `m5` of `m5.large`."""
        return self.name.partition(".")[0]


def lookup(name: str) -> InstanceType | None:
    """The type of exactly this name, or None if the table does not have it."""
    return _table().get(name)


def closest(name: str, n: int = 3) -> list[str]:
    """At most `n` names of the table that look most like `name`, the best first; none if nothing is similar."""
    wanted = name.strip().lower()
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    scored = []
    for candidate in _table():
        matcher.set_seq1(candidate)
        if matcher.real_quick_ratio() >= SIMILAR and matcher.quick_ratio() >= SIMILAR:
            scored.append((-matcher.ratio(), candidate))
    return [candidate for score, candidate in sorted(scored)[:n] if -score >= SIMILAR]


def family(name: str) -> tuple[InstanceType, ...]:
    """All virtual types of a family (`m5`), from small to large by vCPU, then by memory."""
    members = [found for found in _table().values() if found.family == name and not found.bare_metal]
    return tuple(sorted(members, key=lambda found: (found.vcpus, found.memory_mib, found.name)))


@cache
def _table() -> Mapping[str, InstanceType]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {
        row["type"]: InstanceType(
            name=row["type"],
            enis=int(row["enis"]),
            ipv4_per_eni=int(row["ipv4_per_eni"]),
            vcpus=int(row["vcpus"]),
            memory_mib=int(row["memory_mib"]),
            hypervisor=row["hypervisor"],
            bare_metal=row["bare_metal"] == "yes",
            architecture=row["architecture"],
        )
        for row in rows
    }
