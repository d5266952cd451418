"""What preflight says about tenants on a cluster: their namespaces, labels, Pod Security and priority classes."""

from dataclasses import replace
from typing import Any

import pytest

from components import names
from components.cluster.live import Live, LiveNamespace
from tests.support.environments import INCIDENT, changed
from tests.unit.cluster.test_preflight import NAMESPACES, ON_CLUSTER, UID, checked, live, mistakes


def test_adopting_a_namespace_that_does_not_exist_is_refused_since_it_would_be_created() -> None:
    cluster = live()
    there = {name: one for name, one in cluster.namespaces.items() if name not in ("shop", "mail-out")}
    found = mistakes(ON_CLUSTER, replace(cluster, namespaces=there))
    assert sorted(found) == ["tenants.mail", "tenants.shop"]
    assert "`namespace: create`" in found["tenants.shop"]
    assert "kubectl create namespace shop" in found["tenants.shop"]
    assert "'mail-out' does not exist" in found["tenants.mail"]


CREATED = changed(ON_CLUSTER, ("tenants.shop.namespace", "create"))


def test_a_namespace_to_create_may_be_absent_or_ours_and_never_somebody_elses() -> None:
    absent = replace(live(), namespaces={name: LiveNamespace() for name in NAMESPACES if name != "shop"})
    assert checked(CREATED, absent).identity == UID
    assert checked(CREATED, live({"shop": LiveNamespace(owner="dev", created=True)})).identity == UID
    found = mistakes(CREATED, live())
    assert list(found) == ["tenants.shop.namespace"]
    assert "was not made by this program" in found["tenants.shop.namespace"]
    assert "`namespace: adopt`" in found["tenants.shop.namespace"]


def test_an_adopted_namespace_does_not_become_one_that_we_created() -> None:
    """It carries our label since it was adopted; deleting it with its tenant would take what others have in it."""
    found = mistakes(CREATED, live({"shop": LiveNamespace(owner="dev")}))
    assert list(found) == ["tenants.shop.namespace"]


def test_a_namespace_that_we_created_does_not_become_an_adopted_one() -> None:
    """The engine would find the namespace gone from the program, and with `onRemove: delete` delete it."""
    found = mistakes(ON_CLUSTER, live({"shop": LiveNamespace(owner="dev", created=True)}))
    assert list(found) == ["tenants.shop.namespace"]
    assert "`namespace: create`" in found["tenants.shop.namespace"]


@pytest.mark.parametrize("raw", [ON_CLUSTER, CREATED])
def test_a_namespace_of_another_stack_is_refused_with_the_stacks_name(raw: dict[str, Any]) -> None:
    found = mistakes(raw, live({"shop": LiveNamespace(owner="prod", created=True)}))
    assert list(found) == ["tenants.shop"]
    assert "belongs to stack 'prod'" in found["tenants.shop"]


def test_a_namespace_that_is_being_deleted_is_refused() -> None:
    found = mistakes(ON_CLUSTER, live({"wiki": LiveNamespace(terminating=True)}))
    assert list(found) == ["tenants.wiki"]
    assert "is being deleted" in found["tenants.wiki"]


WITH_LABEL = changed(ON_CLUSTER, ("tenants.shop.labels", {"team": "shop"}))


@pytest.mark.parametrize(
    ("value", "foreign", "refused"),
    [("shop", True, False), ("blue", False, False), ("blue", True, True), (None, False, False)],
)
def test_a_label_that_somebody_else_gave_another_value_is_not_overwritten(
    value: str | None, foreign: bool, refused: bool
) -> None:
    labels = {"team": value} if value else {}
    cluster = live(
        {"shop": LiveNamespace(labels=labels, foreign_labels=frozenset(labels if foreign else ()))}
    )
    if refused:
        found = mistakes(WITH_LABEL, cluster)
        assert list(found) == ['tenants.shop.labels["team"]']
        assert "somebody else's label" in found['tenants.shop.labels["team"]']
    else:
        assert checked(WITH_LABEL, cluster).identity == UID


@pytest.mark.parametrize("key", ["shared.observability/tenant", "shared-observability_metrics"])
def test_a_label_that_discovery_reads_as_ours_is_refused_with_the_command_that_takes_it_off(key: str) -> None:
    labels = {key: "billing", names.TENANT_LABEL: "shop"}
    found = mistakes(ON_CLUSTER, live({"shop": LiveNamespace(labels=labels)}))
    assert list(found) == ["tenants.shop"]
    assert f"has the label {key}" in found["tenants.shop"]
    assert f"kubectl label namespace shop {key}-" in found["tenants.shop"]


# --- Pod Security ----------------------------------------------------------------------------------------------------


def test_pods_that_the_level_would_not_admit_are_listed_with_the_settings_that_leave_them() -> None:
    unfit = ("web-0: allowPrivilegeEscalation != false", "db-0 (and 2 other pods): runAsNonRoot != true")
    found = mistakes(ON_CLUSTER, live({"shop": LiveNamespace(unfit_pods=unfit)}))
    assert list(found) == ["tenants.shop.podSecurity"]
    assert all(pod in found["tenants.shop.podSecurity"] for pod in unfit)
    assert "`podSecurity: baseline` or `keep`" in found["tenants.shop.podSecurity"]


@pytest.mark.parametrize(
    ("wanted", "now", "foreign", "set_to"),
    [
        ("restricted", "", False, "restricted"),
        ("restricted", "restricted", False, "restricted"),  # set by us before: it stays declared
        ("restricted", "restricted", True, None),  # theirs, and as strict: it is not ours to take away later
        ("baseline", "restricted", True, None),  # never loosened
        ("baseline", "baseline", True, None),
        ("baseline", "restricted", False, "baseline"),  # ours to loosen
        ("keep", "", False, None),
        ("keep", "privileged", True, None),
    ],
)
def test_a_level_is_set_where_nobody_else_has_set_one(
    wanted: str, now: str, foreign: bool, set_to: str | None
) -> None:
    raw = changed(ON_CLUSTER, ("tenants.shop.podSecurity", wanted))
    labels = {names.POD_SECURITY_LABEL: now} if now else {}
    whose = frozenset(labels) if foreign else frozenset()
    found = checked(raw, live({"shop": LiveNamespace(labels=labels, foreign_labels=whose)}))
    assert found.pod_security.get("shop") == set_to
    assert found.pod_security["billing"] == "restricted"


@pytest.mark.parametrize(
    ("wanted", "theirs", "advice"),
    [
        ("restricted", "baseline", "`podSecurity: baseline`"),
        ("restricted", "privileged", "`podSecurity: keep`"),
        ("baseline", "privileged", "`podSecurity: keep`"),
    ],
)
def test_a_weaker_level_of_somebody_else_is_not_raised_since_it_would_be_gone_with_the_tenant(
    wanted: str, theirs: str, advice: str
) -> None:
    raw = changed(ON_CLUSTER, ("tenants.shop.podSecurity", wanted))
    labels = {names.POD_SECURITY_LABEL: theirs}
    unfit = ("web-0: runAsNonRoot != true",)  # of no matter while it is not raised
    their = LiveNamespace(labels=labels, foreign_labels=frozenset(labels), unfit_pods=unfit)
    found = mistakes(raw, live({"shop": their}))
    assert list(found) == ["tenants.shop.podSecurity"]
    text = found["tenants.shop.podSecurity"]
    assert f"enforce {theirs}" in text
    assert advice in text
    assert f"kubectl label namespace shop {names.POD_SECURITY_LABEL}={wanted} --overwrite" in text


# --- priorities ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [names.AGENTS_PRIORITY, 2_000_000_000])
def test_a_class_that_would_displace_the_node_agents_cannot_be_allowed_to_a_tenant(value: int) -> None:
    raw = changed(ON_CLUSTER, ("tenants.shop.priorityClasses", ["low", "urgent"]))
    found = mistakes(raw, live(priorities={"low": 10, "urgent": value}))
    assert list(found) == ["tenants.shop.priorityClasses[1]"]
    assert str(value) in found["tenants.shop.priorityClasses[1]"]


KNOWN_CLASSES = [
    "system-cluster-critical", "system-node-critical", names.AGENTS_PRIORITY_CLASS, names.AGENTS_PRIORITY_CLASS_WAITING,
]  # fmt: skip


@pytest.mark.parametrize("name", KNOWN_CLASSES)
@pytest.mark.parametrize(("raw", "cluster"), [(INCIDENT, None), (ON_CLUSTER, live())])
def test_the_agents_own_class_and_kubernetes_own_are_refused_before_any_of_them_is_seen(
    raw: dict[str, Any], cluster: Live | None, name: str
) -> None:
    found = mistakes(changed(raw, ("tenants.shop.priorityClasses", [name])), cluster)
    assert list(found) == ["tenants.shop.priorityClasses[0]"]


def test_a_class_below_the_node_agents_may_be_allowed_and_one_that_does_not_exist_yet_too() -> None:
    raw = changed(ON_CLUSTER, ("tenants.shop.priorityClasses", ["low", "later"]))
    assert checked(raw, live(priorities={"low": names.AGENTS_PRIORITY - 1})).identity == UID


def test_the_clusters_default_class_has_to_be_allowed_or_the_quota_would_refuse_every_pod() -> None:
    cluster = live(priorities={"standard": 100}, default_priority_class="standard")
    allowed = {
        f"tenants.{name}.priorityClasses": ["standard"] for name in ("shop", "billing", "search", "mail")
    }
    found = mistakes(changed(ON_CLUSTER, *allowed.items()), cluster)
    assert list(found) == ["tenants.wiki.priorityClasses"]
    assert "`priorityClasses: [standard]`" in found["tenants.wiki.priorityClasses"]
