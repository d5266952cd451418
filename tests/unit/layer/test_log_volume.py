"""Which tenants' limits are said to fill Loki's volume before lines expire."""

from typing import Any

import pytest

from components.layer import log_volume
from components.settings.model import FilesystemStore, LogStore
from tests.support.environments import INCIDENT, changed, parsed
from tests.unit.components.environments import environment

SHOP = "tenants.shop.limits"
Change = tuple[str, Any]


def warned(*changes: Change) -> list[str]:
    return log_volume.warnings(parsed(changed(INCIDENT, *changes)))


def test_days_are_the_volume_by_nine_tenths_and_the_compression_over_the_rate() -> None:
    """50 GiB x 0.9 x 5 = 225 GiB of lines, at 1 MiB/s."""
    assert log_volume.days_until_full("50Gi", 1) == pytest.approx(225 * 1024 / 86_400)


def test_nothing_is_said_of_what_is_shipped() -> None:
    assert warned() == []
    assert log_volume.days_until_full(FilesystemStore(kind="filesystem").size, 0.25) > 7
    assert LogStore().retention == "7d"


def test_a_rate_that_fills_the_volume_first_is_said_with_one_that_does_not() -> None:
    (line,) = warned((SHOP, {"logRateMB": 8}))
    assert line.startswith(f"{SHOP}.logRateMB: kept up, 8 MB/s fill Loki's volume of 50Gi in 0.3 days")
    assert "kept for 7 days;" in line
    assert "Write at most 0.38," in line
    assert warned((SHOP, {"logRateMB": 0.38})) == []


@pytest.mark.parametrize(
    "changes",
    [
        [("tenants.shop.retention", "24h"), (SHOP, {"logRateMB": 2})],
        [("layer.logs", {"store": {"kind": "filesystem", "size": "2Ti"}}), (SHOP, {"logRateMB": 8})],
        [("layer.logs", {"store": {"kind": "s3", "bucket": "lines", "region": "eu-west-1"}}), (SHOP, {"logRateMB": 8})],
        [("layer.logs", "off"), ("tenants.wiki.logs", None), (SHOP, {"logRateMB": 8})],
    ],
    ids=["short retention", "large volume", "bucket", "no logs"],
)  # fmt: skip
def test_a_shorter_retention_a_larger_volume_or_a_bucket_is_enough(changes: list[Change]) -> None:
    assert warned(*changes) == []


def test_a_longer_retention_is_a_tenants_own_matter_and_the_platform_is_one_too() -> None:
    found = warned(("tenants.mail.retention", "30d"), ("layer.logs", {"limits": {"logRateMB": 1}}))
    assert [line.partition(":")[0] for line in found] == [
        "layer.logs.limits.logRateMB",
        "tenants.mail.limits.logRateMB",
    ]


def test_it_is_a_warning_of_the_program_and_refuses_nothing() -> None:
    recorded = environment(changed(INCIDENT, (SHOP, {"logRateMB": 8})))
    assert [line for line in recorded.recorder.warnings if "fill Loki's volume" in line] == warned(
        (SHOP, {"logRateMB": 8})
    )
    assert recorded.of("Deployment")
