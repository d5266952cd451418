"""What is refused before anything is registered, from constructed clusters and outputs, with its way out."""

from typing import Any

import pytest

from components import config_history, names
from components.cluster.live import Live, LiveNamespace
from components.cluster.preflight import RENDERED, Preflight, check, mebibytes, volumes
from components.settings.mistakes import SettingsError
from tests.support.environments import INCIDENT, changed, parsed

ON_CLUSTER = changed(INCIDENT, ("cluster.target", {"kind": "kubeconfig", "path": "k", "context": "c"}))
NAMESPACES = ("shop", "billing", "search", "mail-in", "mail-out", "wiki")
UID = "uid-of-this-cluster"
DEPLOYED = {
    "target": {"kind": "kubeconfig", "identity": UID},
    "volumes": {"prometheus": "50Gi", "loki": "50Gi"},
}


def live(namespaces: dict[str, LiveNamespace] | None = None, **more: Any) -> Live:
    """A cluster in which the tenants' namespaces exist and nothing of ours does, with changes."""
    found = {**{name: LiveNamespace() for name in NAMESPACES}, **(namespaces or {})}
    return Live(identity=UID, namespaces=found, **more)


def checked(
    raw: dict[str, Any], cluster: Live | None = None, outputs: dict[str, Any] | None = None
) -> Preflight:
    """The verdict on an environment of the stack `dev`."""
    return check(parsed(raw), cluster, outputs or {}, "dev")


def mistakes(
    raw: dict[str, Any], cluster: Live | None = None, outputs: dict[str, Any] | None = None
) -> dict[str, str]:
    """Texts of the mistakes by path."""
    with pytest.raises(SettingsError) as caught:
        checked(raw, cluster, outputs)
    return {mistake.path: str(mistake) for mistake in caught.value.mistakes}


# --- target ----------------------------------------------------------------------------------------------------------


def test_a_render_needs_no_cluster_and_sets_every_tenants_pod_security_level() -> None:
    found = checked(INCIDENT)
    assert found.identity == RENDERED
    assert found.config_history == {}
    assert found.pod_security == dict.fromkeys(NAMESPACES, "restricted")


def test_the_identity_is_the_clusters_and_the_history_the_stacks() -> None:
    history = {"alloy": [{"config.alloy": "text"}]}
    found = checked(ON_CLUSTER, live(), {**DEPLOYED, "configHistory": config_history.pack(history)})
    assert found.identity == UID
    assert found.config_history == history


@pytest.mark.parametrize(
    ("raw", "cluster", "before"), [(INCIDENT, None, "kubeconfig"), (ON_CLUSTER, live(), "render")]
)
def test_a_stacks_target_cannot_change_its_kind_and_the_message_has_the_way_to_do_it(
    raw: dict[str, Any], cluster: Live | None, before: str
) -> None:
    found = mistakes(raw, cluster, {"target": {"kind": before, "identity": UID}})
    assert list(found) == ["cluster.target.kind"]
    assert f"was {before} at the last deployment" in found["cluster.target.kind"]
    assert "make destroy ENV=dev" in found["cluster.target.kind"]
    assert "another stack" in found["cluster.target.kind"]


def test_the_same_kind_of_target_on_another_cluster_is_refused_with_both_identities() -> None:
    found = mistakes(ON_CLUSTER, live(), {"target": {"kind": "kubeconfig", "identity": "uid-before"}})
    assert list(found) == ["cluster.target"]
    assert UID in found["cluster.target"]
    assert "uid-before" in found["cluster.target"]


def test_the_same_cluster_and_another_folder_to_render_to_are_accepted() -> None:
    assert checked(ON_CLUSTER, live(), DEPLOYED).identity == UID
    elsewhere = changed(INCIDENT, ("cluster.target.directory", "rendered/other"))
    assert checked(elsewhere, None, {"target": {"kind": "render", "identity": RENDERED}}).identity == RENDERED


# --- volumes ---------------------------------------------------------------------------------------------------------


SMALLER = (
    ("layer.metrics", {"storage": "40Gi"}),
    ("layer.logs", {"store": {"kind": "filesystem", "size": "900Mi"}}),
)
PATHS = ["layer.logs.store.size", "layer.metrics.storage"]


def test_a_volume_never_shrinks_below_what_this_stack_deployed() -> None:
    found = mistakes(changed(ON_CLUSTER, *SMALLER), live(), DEPLOYED)
    assert sorted(found) == PATHS
    assert "is 40Gi, but the volume has 50Gi" in found["layer.metrics.storage"]
    assert "Write 50Gi or more" in found["layer.logs.store.size"]


def test_a_volume_never_shrinks_below_the_claim_that_the_cluster_has_even_without_outputs() -> None:
    claims = {"prometheus": "50Gi", "loki": "1Gi"}
    assert sorted(mistakes(changed(ON_CLUSTER, *SMALLER), live(claims=claims))) == PATHS


def test_a_volume_may_grow_and_what_the_cluster_has_counts_more_than_what_was_deployed() -> None:
    grown = changed(ON_CLUSTER, ("layer.metrics", {"storage": "1Ti"}))
    assert checked(grown, live(), DEPLOYED).identity == UID
    found = mistakes(grown, live(claims={"prometheus": "2Ti"}), DEPLOYED)
    assert "but the volume has 2Ti" in found["layer.metrics.storage"]


def test_a_store_in_s3_has_a_volume_too_and_a_store_that_is_off_has_none() -> None:
    s3 = {"store": {"kind": "s3", "bucket": "lines", "region": "eu-west-1"}}
    assert volumes(parsed(changed(INCIDENT, ("layer.logs", s3))))["loki"] == ("10Gi", "layer.logs.store.size")
    assert volumes(parsed(changed(INCIDENT, ("layer.logs", "off"), ("layer.metrics", "off")))) == {}


def test_sizes_are_compared_by_their_units() -> None:
    assert mebibytes("1Ti") > mebibytes("1023Gi") > mebibytes("1047551Mi")
    assert mebibytes("1Gi") == mebibytes("1024Mi") == 1024


# --- tenants' namespaces ---------------------------------------------------------------------------------------------


def test_adopting_a_namespace_that_does_not_exist_is_refused_since_it_would_be_created() -> None:
    cluster = live()
    found = mistakes(
        ON_CLUSTER,
        Live(
            UID,
            {name: found for name, found in cluster.namespaces.items() if name not in ("shop", "mail-out")},
        ),
    )
    assert sorted(found) == ["tenants.mail", "tenants.shop"]
    assert "`namespace: create`" in found["tenants.shop"]
    assert "kubectl create namespace shop" in found["tenants.shop"]
    assert "'mail-out' does not exist" in found["tenants.mail"]


CREATED = changed(ON_CLUSTER, ("tenants.shop.namespace", "create"))


def test_a_namespace_to_create_may_be_absent_or_ours_and_never_somebody_elses() -> None:
    absent = Live(UID, {name: LiveNamespace() for name in NAMESPACES if name != "shop"})
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
        ("restricted", "baseline", True, "restricted"),  # stricter than theirs
        ("restricted", "privileged", True, "restricted"),
        ("restricted", "restricted", True, None),  # theirs, and as strict: it is not ours to take away later
        ("baseline", "restricted", True, None),  # never loosened
        ("baseline", "baseline", True, None),
        ("baseline", "", True, "baseline"),
        ("baseline", "restricted", False, "baseline"),  # ours to loosen
        ("keep", "", False, None),
        ("keep", "privileged", True, None),
    ],
)
def test_a_level_is_set_where_it_is_stricter_than_a_foreign_one_or_none_is_there(
    wanted: str, now: str, foreign: bool, set_to: str | None
) -> None:
    raw = changed(ON_CLUSTER, ("tenants.shop.podSecurity", wanted))
    labels = {names.POD_SECURITY_LABEL: now} if now else {}
    whose = frozenset(labels) if foreign else frozenset()
    found = checked(raw, live({"shop": LiveNamespace(labels=labels, foreign_labels=whose)}))
    assert found.pod_security.get("shop") == set_to
    assert found.pod_security["billing"] == "restricted"


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


# --- all of it -------------------------------------------------------------------------------------------------------


def test_every_mistake_is_reported_at_once() -> None:
    raw = changed(ON_CLUSTER, *SMALLER, ("tenants.mail.priorityClasses", ["urgent"]))
    cluster = live(
        {
            "shop": LiveNamespace(terminating=True),
            "wiki": LiveNamespace(unfit_pods=("web-0: hostNetwork",)),
            names.LAYER_NAMESPACE: LiveNamespace(),
        },
        priorities={"urgent": names.AGENTS_PRIORITY},
    )
    found = mistakes(raw, cluster, {**DEPLOYED, "target": {"kind": "render", "identity": RENDERED}})
    assert sorted(found) == [
        "cluster.target.kind",
        "layer",
        "layer.logs.store.size",
        "layer.metrics.storage",
        "tenants.mail.priorityClasses[0]",
        "tenants.shop",
        "tenants.wiki.podSecurity",
    ]
