"""The generated table of instance types, and how it is read."""

import csv
import subprocess
import sys
from collections import Counter
from datetime import date

import pytest

from components.cluster.instance_types import TABLE, closest, family, lookup
from toolchain.instance_types import COLUMNS, _row, _text


def lines() -> list[str]:
    return [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def test_the_head_names_source_version_date_and_licence() -> None:
    head = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    assert any("moto 5.2.5 of 2026-10-27" in line for line in head)
    assert any("Apache-2.0" in line for line in head)


def test_the_table_has_one_type_per_line_in_order_and_each_can_run_pods() -> None:
    rows = list(csv.DictReader(lines()))
    names = [row["type"] for row in rows]
    assert len(names) == len(set(names)) == 1395
    assert names == sorted(names)
    for row in rows:
        found = lookup(row["type"])
        assert found is not None
        assert min(found.enis, found.ipv4_per_eni, found.vcpus, found.memory_mib) >= 1
        assert found.ipv4_per_eni >= 2
        assert found.bare_metal == (found.hypervisor == "")
    assert Counter(row["hypervisor"] for row in rows) == {"nitro": 1167, "xen": 74, "": 154}


def test_only_the_default_card_counts() -> None:
    found = lookup("p5.48xlarge")  # 32 cards with 2 interfaces each
    assert found is not None
    assert found.enis == 2


def test_a_description_with_several_cards_becomes_a_row_of_the_default_card() -> None:
    cards = [
        {"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 7},
        {"NetworkCardIndex": 1, "MaximumNetworkInterfaces": 4},
    ]
    described = {
        "NetworkInfo": {
            "NetworkCards": cards,
            "DefaultNetworkCardIndex": 1,
            "MaximumNetworkInterfaces": 11,
            "Ipv4AddressesPerInterface": 30,
        },
        "VCpuInfo": {"DefaultVCpus": 96},
        "MemoryInfo": {"SizeInMiB": 2048},
        "BareMetal": True,
        "ProcessorInfo": {"SupportedArchitectures": ["i386", "x86_64"]},
    }
    assert _row("x9.metal", described) == ("x9.metal", 4, 30, 96, 2048, "", "yes", "x86_64")


def test_the_tables_columns_are_the_generators() -> None:
    assert tuple(lines()[0].split(",")) == COLUMNS
    assert _text([("x.y", 1, 2, 3, 4, "xen", "no", "arm64")], "1", date(2026, 1, 2)).endswith(
        f"{','.join(COLUMNS)}\nx.y,1,2,3,4,xen,no,arm64\n"
    )


@pytest.mark.parametrize(
    ("wrong", "first"),
    [
        ("t3.lrage", "t3.large"),
        ("T3.Large", "t3.large"),
        ("r5a.xl", "r5a.xlarge"),
        (" m5.large ", "m5.large"),
    ],
)
def test_a_misspelt_name_finds_the_meant_one_first(wrong: str, first: str) -> None:
    assert lookup(wrong) is None
    assert closest(wrong)[0] == first
    assert len(closest(wrong)) == 3
    assert closest(wrong, 1) == [first]


@pytest.mark.parametrize("nothing", ["", "nonsense", "größe", "🙂"])
def test_a_name_like_no_other_has_no_suggestion(nothing: str) -> None:
    assert closest(nothing) == []


def test_a_family_goes_from_small_to_large_without_bare_metal() -> None:
    sizes = "large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge"
    assert [found.name for found in family("m5")] == [f"m5.{size}" for size in sizes]
    assert family("none") == ()


def test_importing_reads_nothing() -> None:
    code = (
        "import builtins, io, pathlib\n"
        "def refuse(*_, **__): raise SystemExit('read at import')\n"
        "pathlib.Path.read_text = refuse\n"
        "import components.cluster.instance_types as table\n"
        "assert table._table.cache_info().currsize == 0\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
