"""Quotas that would be full from the start: pods that run are counted before a namespace gets one, or a lower one."""

from collections.abc import Mapping
from typing import Any

import pytest
from typing_extensions import override

from components import names
from components.cluster.kubectl import Answer
from components.cluster.live import LiveNamespace, ObjectRef
from components.cluster.live_pods import PodCount, read
from tests.support.environments import changed
from tests.unit.cluster.test_ownership import Recorded
from tests.unit.cluster.test_preflight import ON_CLUSTER, UID, checked, live, mistakes

# In INCIDENT `shop` has 120 pods and a Grafana of its own, `mail` two namespaces.
GRAFANA = ObjectRef("Deployment", "shop", names.TENANT_GRAFANA)
OURS = {GRAFANA: "dev"}


@pytest.mark.parametrize(
    ("pods", "quota", "owners", "fits"),
    [
        (119, None, {}, True),
        (120, None, {}, False),  # and the Grafana
        (120, None, OURS, True),  # which is one of them
        (121, None, OURS, False),
        (130, 120, OURS, True),  # deployed so before: nothing changes
        (130, 110, OURS, True),  # raised, if not enough
        (121, 140, OURS, False),  # lowered below what runs
        (120, 140, OURS, True),
    ],
)
def test_a_quota_that_is_new_or_lowered_has_room_for_what_runs_and_what_is_added(
    pods: int, quota: int | None, owners: Mapping[ObjectRef, str], fits: bool
) -> None:
    raw = changed(ON_CLUSTER, ("tenants.shop.pods", 120))
    cluster = live({"shop": LiveNamespace(owner="dev", pods=pods, quota=quota)}, owners=owners)
    if fits:
        assert checked(raw, cluster).identity == UID
        return
    found = mistakes(raw, cluster)
    assert list(found) == ["tenants.shop.pods"]
    assert f"is a quota of 120, but namespace 'shop' has {pods} pods" in found["tenants.shop.pods"]
    assert "Write 121 or more" in found["tenants.shop.pods"]


def test_each_of_several_namespaces_is_compared_with_its_own_number() -> None:
    found = mistakes(ON_CLUSTER, live({"mail-out": LiveNamespace(pods=500)}))
    assert list(found) == ["tenants.mail.namespaces.mail-out.pods"]


def test_a_namespace_that_is_not_there_yet_has_no_pods() -> None:
    created = changed(ON_CLUSTER, ("tenants.new", {"pods": 1, "namespace": "create"}))
    assert checked(created, live()).identity == UID


# --- reading ---


class Counted(Recorded):
    """Answers with the pods' namespaces."""

    @override
    def call(self, *arguments: str, **_: Any) -> Answer:
        self.asked.append(arguments)
        return Answer("shop\nshop\nwiki\nother\n", ())


def quota(namespace: str, used: str | None, name: str = names.PODS_QUOTA) -> dict[str, Any]:
    status = {"used": {"pods": used}} if used is not None else {}
    metadata = {"name": name, "namespace": namespace}
    return {"kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": "2k"}}, "status": status}


def test_where_our_quota_counts_nothing_else_is_asked() -> None:
    asked = Counted()
    assert read(asked, ["shop"], [quota("shop", "1k")]) == {"shop": PodCount(1000, 2000)}
    assert asked.asked == []


@pytest.mark.parametrize("objects", [[], [quota("shop", "7", name="theirs")], [quota("shop", None)]])
def test_where_it_does_not_count_pods_that_have_not_ended_are_counted(objects: list[dict[str, Any]]) -> None:
    asked = Counted()
    found = read(asked, ["shop", "wiki", "billing"], objects)
    assert found == {"shop": PodCount(2), "wiki": PodCount(1), "billing": PodCount(0)}
    (question,) = asked.asked
    assert "--all-namespaces" in question
    assert "status.phase!=Succeeded,status.phase!=Failed" in question


def test_for_one_namespace_that_joins_the_others_are_not_read() -> None:
    asked = Counted()
    read(asked, ["shop", "wiki"], [quota("shop", "7")])
    assert asked.asked[0][:4] == ("get", "pods", "--namespace", "wiki")
