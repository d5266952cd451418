"""What is refused before anything is registered, from constructed clusters and outputs, with its way out."""

from typing import Any

import pytest

from components import config_history, names
from components.cluster.live import Live, LiveNamespace
from components.cluster.preflight import Preflight, check
from components.cluster.refusals.target import RENDERED
from components.cluster.refusals.volumes import volumes
from components.settings.mistakes import SettingsError
from tests.support.environments import INCIDENT, changed, parsed
from tests.support.nodes import as_declared

ON_CLUSTER = changed(INCIDENT, ("cluster.target", {"kind": "kubeconfig", "path": "k", "context": "c"}))
NAMESPACES = ("shop", "billing", "search", "mail-in", "mail-out", "wiki")
UID = "uid-of-this-cluster"
DEPLOYED = {
    "target": {"kind": "kubeconfig", "identity": UID},
    "volumes": {"prometheus": "50Gi", "loki": "50Gi"},
}


def live(namespaces: dict[str, LiveNamespace] | None = None, **more: Any) -> Live:
    """A cluster with the declared nodes, a default StorageClass, the tenants' namespaces and nothing of ours."""
    found = {**{name: LiveNamespace() for name in NAMESPACES}, **(namespaces or {})}
    usual = {"storage_classes": {"gp3": True}, "nodes": as_declared(parsed(INCIDENT))}
    return Live(identity=UID, namespaces=found, **{**usual, **more})


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


def test_a_deployer_without_the_right_to_label_is_told_so_before_the_guard_refuses_him() -> None:
    found = mistakes(ON_CLUSTER, live(may_label=False))
    assert list(found) == ["layer.admission"]
    assert "Apply docs/deployer.yaml anew" in found["layer.admission"]


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
