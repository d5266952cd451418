"""Refused pods of tenants: only those that are refused now, of each workload the last message."""

from dataclasses import dataclass
from typing import Any

import pytest
from typing_extensions import override

from components.cluster.kubectl import Kubectl
from diagnosis.findings import findings
from diagnosis.snapshot import Snapshot, take
from tests.support.environments import INCIDENT, parsed
from tests.unit.diagnosis.test_findings import NODES, event, healthy, item

SETTINGS = parsed(INCIDENT)
OLD, NEW = "web-5b8d9c", "web-7f6c4d"


def at(minute: int, name: str, message: str = "quota", kind: str = "ReplicaSet") -> dict[str, Any]:
    """An event about a workload in the tenant's namespace."""
    told = event(item(kind, "shop", name), f"refused: exceeded quota: {message}")
    return {**told, "type": "Warning", "lastTimestamp": f"2026-11-30T17:{minute:02}:00Z"}


def made(minute: int, name: str, kind: str = "ReplicaSet") -> dict[str, Any]:
    return {**at(minute, name, kind=kind), "type": "Normal", "reason": "SuccessfulCreate"}


CASES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]] = {
    "no pod made since": ([at(10, OLD)], [made(9, OLD)], ["quota"]),
    "made after the refusal": ([at(10, OLD)], [made(11, OLD)], []),
    "made in the same second: one of several": ([at(10, OLD)], [made(10, OLD)], ["quota"]),
    "refused again after that": ([at(12, OLD, "again"), at(10, OLD)], [made(11, OLD)], ["again"]),
    "the last of several": ([at(11, OLD, "used 9"), at(12, OLD, "used 10")], [], ["used 10"]),
    "mended by another ReplicaSet": ([at(10, OLD)], [made(11, NEW)], []),
    "another workload's pod": ([at(10, OLD)], [made(11, "api-5b8d9c")], ["quota"]),
    "another kind's pod": ([at(10, "web", kind="Job")], [made(11, "web", "StatefulSet")], ["quota"]),
    "a Job": ([at(10, "web", kind="Job")], [made(11, "web", "Job")], []),
}


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_counts_until_a_pod_of_the_workload_is_made(case: str) -> None:
    refused, successes, expected = CASES[case]
    namespaces = frozenset({"observability", "observability-nodes"})
    found = findings(SETTINGS, Snapshot(NODES, healthy(), refused, namespaces, successes))
    assert [each.reason.rpartition(": ")[2] for each in found] == expected
    assert all(each.tenant for each in found)


@dataclass(frozen=True)
class StandInKubectl(Kubectl):
    """Stands in for a reader of a cluster: answers with events only, and refuses any other question about them."""

    warnings: tuple[dict[str, Any], ...] = ()

    @override
    def objects(self, *arguments: str) -> list[dict[str, Any]]:
        if arguments[0] != "events":
            return []
        assert arguments[1:3] == ("--all-namespaces", "--field-selector")
        elsewhere = {**made(11, "b"), "metadata": {"namespace": "elsewhere"}}
        answers = {"type=Warning": list(self.warnings), "reason=SuccessfulCreate": [made(11, OLD), elsewhere]}
        return answers[arguments[3]]


def test_pods_that_were_made_are_read_where_some_were_refused() -> None:
    assert take(StandInKubectl("", "", (at(10, OLD),)), SETTINGS).made == [made(11, OLD)]
    assert take(StandInKubectl("", ""), SETTINGS).made == []
