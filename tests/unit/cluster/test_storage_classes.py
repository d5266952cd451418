"""The class of the layer's volumes: which one is made, and what is refused because no volume would come."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from components import names
from components.cluster import storage_classes
from components.cluster.live import Live
from components.cluster.refusals import volumes
from components.settings.mistakes import SettingsError
from tests.support.environments import INCIDENT, changed, parsed
from tests.unit.components import aws

Change = tuple[str, Any]
ON_CLUSTER = changed(INCIDENT, ("cluster.target", {"kind": "kubeconfig", "path": "k", "context": "c"}))
ON_EKS = changed(INCIDENT, ("cluster.target", aws.EXISTING))
G = "cluster.nodeGroups"
AUTO: Change = (f"{G}.general", {"kind": "autoMode", "maxPods": 50, "nodes": 3})
STATED: Change = ("layer.storageClass", "gp3")
NOTHING_BOUND: Mapping[str, str] = MappingProxyType({})
OFF: list[Change] = [("layer.metrics", "off"), ("layer.logs", "off"), ("tenants", {})]


def refused(
    base: dict[str, Any],
    *changes: Change,
    classes: dict[str, bool] | None = None,
    bound: Mapping[str, str] = NOTHING_BOUND,
) -> dict[str, str]:
    """Mistakes by path, on a cluster with these classes and these claims that have volumes."""
    live = Live("uid", storage_classes=classes or {}, bound_claims=dict(bound))
    settings = parsed(changed(base, *changes))
    found = [*volumes.mistakes(settings, live, {}), *storage_classes.mistakes(settings, live)]
    return {mistake.path: str(mistake) for mistake in found}


# --- what the cluster has --------------------------------------------------------------------------------------------


def test_a_cluster_without_a_default_class_is_refused_with_the_classes_that_it_has() -> None:
    said = refused(ON_CLUSTER, classes={"gp2": False, "efs": False})
    assert list(said) == ["layer.storageClass"]
    assert "volumes of loki and prometheus would stay Pending" in said["layer.storageClass"]
    assert "Name one of those that there are: efs, gp2" in said["layer.storageClass"]


def test_a_cluster_without_any_class_is_told_what_makes_one() -> None:
    assert "aws-ebs-csi-driver" in refused(ON_CLUSTER)["layer.storageClass"]


def test_a_class_that_is_stated_and_is_not_there_is_refused_with_the_closest() -> None:
    for base in (ON_CLUSTER, ON_EKS):
        said = refused(base, ("layer.storageClass", "gp-3"), classes={"gp3": True, "efs": False})
        assert "no StorageClass 'gp-3'" in said["layer.storageClass"]
        assert "There are: efs, gp3 (closest: gp3)" in said["layer.storageClass"]


def test_another_class_than_the_volumes_have_is_refused_with_the_way_to_move() -> None:
    gp3, both = {"gp2": True, "gp3": False}, {"loki": "gp2", "prometheus": "gp2"}
    said = refused(ON_CLUSTER, STATED, classes=gp3, bound=both)["layer.storageClass"]
    assert "would be 'gp3', but the volumes of loki and prometheus have gp2" in said
    assert "Keep gp2" in said
    one = refused(ON_CLUSTER, STATED, classes=gp3, bound={"loki": "gp3", "prometheus": ""})[
        "layer.storageClass"
    ]
    assert "the volumes of prometheus have no class" in one
    assert refused(ON_CLUSTER, STATED, classes=gp3, bound=dict.fromkeys(both, "gp3")) == {}
    assert refused(ON_CLUSTER, classes=gp3, bound=both) == {}
    assert refused(ON_CLUSTER, STATED, *OFF, classes=gp3, bound=both) == {}


def test_volumes_of_ebs_do_not_move_to_auto_mode() -> None:
    auto = (("layer.runsOn", ["general"]), AUTO)
    bound = {"loki": names.VOLUME_CLASS, "prometheus": names.VOLUME_CLASS}
    assert names.AUTO_MODE_VOLUME_CLASS in refused(ON_EKS, *auto, bound=bound)["layer.storageClass"]
    assert refused(ON_EKS, bound=bound) == {}


def test_the_default_or_a_stated_class_is_enough() -> None:
    assert refused(ON_CLUSTER, classes={"gp2": False, "gp3": True}) == {}
    assert refused(ON_CLUSTER, STATED, classes={"gp3": False}) == {}


def test_what_has_its_volume_or_has_none_needs_no_class() -> None:
    assert refused(ON_CLUSTER, bound={"loki": "gp2", "prometheus": "gp2"}) == {}
    assert "volumes of loki would" in refused(ON_CLUSTER, bound={"prometheus": "gp2"})["layer.storageClass"]
    assert refused(ON_CLUSTER, *OFF) == {}
    assert refused(ON_CLUSTER, *OFF, STATED) == {}


def test_on_eks_the_class_is_ours_so_no_default_is_needed() -> None:
    assert refused(ON_EKS) == {}


# --- which one is made -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], storage_classes.EBS),
        ([AUTO], storage_classes.EBS),
        ([AUTO, ("layer.runsOn", ["general"])], storage_classes.AUTO_MODE),
        ([STATED], None),
        (OFF, None),
        ([("cluster.target", INCIDENT["cluster"]["target"])], None),
    ],
)
def test_the_class_has_the_driver_of_the_nodes_that_the_stores_run_on(
    changes: list[Change], expected: storage_classes.VolumeClass | None
) -> None:
    assert storage_classes.of_ours(parsed(changed(ON_EKS, *changes))) == expected


def test_each_driver_has_a_class_of_its_own_since_neither_attaches_the_others_volumes() -> None:
    assert storage_classes.EBS.name != storage_classes.AUTO_MODE.name
    assert {storage_classes.EBS.name, storage_classes.AUTO_MODE.name} == {
        names.VOLUME_CLASS,
        names.AUTO_MODE_VOLUME_CLASS,
    }


BOTH: list[Change] = [AUTO, ("layer.runsOn", None)]


def test_stores_on_nodes_of_auto_mode_and_others_are_refused_with_both_ways_out() -> None:
    with pytest.raises(SettingsError) as caught:
        parsed(changed(ON_EKS, *BOTH))
    (mistake,) = caught.value.mistakes
    assert mistake.path == "layer.runsOn"
    assert "Auto Mode (general) and other nodes (web, workers)" in mistake.problem
    for way in ("`runsOn: [web, workers]`", "`runsOn: [general]`", "layer.storageClass"):
        assert way in mistake.remedy


@pytest.mark.parametrize("more", [[STATED], OFF, [("layer.runsOn", ["web", "workers"])]])
def test_they_are_accepted_where_one_class_serves_them_or_there_is_no_volume(more: list[Change]) -> None:
    parsed(changed(ON_EKS, *BOTH, *more))


def test_on_other_targets_the_classes_are_not_ours() -> None:
    parsed(changed(ON_CLUSTER, *BOTH))
