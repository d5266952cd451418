"""`destroy` of everything that `sim` ships: refused while the layer is protected, and complete without protection."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from components import names
from simulator import environment, teams
from simulator.api import Object
from tests.support import manifests
from tests.support.deployment import Deployment, shipped
from tests.support.environments import changed
from tests.support.inventory import Ref, everything, is_labelled, is_named, is_touched, versions
from tests.support.kube import Kube

PROTECTION = "layer.protection"
CREATED = {"pods": 5, "namespace": "create", "onRemove": "delete"}
COLLECTED = {"pods": 5, "logs": "api"}
SETTINGS = changed(
    shipped(), (PROTECTION, True), ("tenants.created", CREATED), ("tenants.collected", COLLECTED)
)
TEAMS = (*teams.namespaces(environment.read("sim").settings), "collected")


def pods(kube: Kube) -> dict[str, str]:
    """All pods that run, by UID."""
    return {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in kube.running()}


@dataclass(frozen=True)
class Story:
    """Foreign objects and pods at first, and what both attempts to destroy left."""

    foreign: dict[Ref, str]
    teams_pods: dict[str, str]
    refused: str
    objects_before: dict[Ref, tuple[str, int | str]]
    pods_before: dict[str, str]
    objects_after_refusal: dict[Ref, tuple[str, int | str]]
    pods_after_refusal: dict[str, str]


@pytest.fixture(scope="module")
def story(deploy: Callable[[Object], Deployment], clean_module: Kube) -> Story:
    """Destroyed twice: with protection on, which is refused, and with it off."""
    kube = clean_module
    for name in TEAMS:
        kube.apply(manifests.namespace(name, team=name), teams.deployment(name))
        kube.apply(manifests.config_map(name, "theirs"))
    for name in TEAMS:
        kube.wait_for_pods(teams.REPLICAS, name)
    foreign = {key: item["metadata"]["uid"] for key, item in everything(kube).items()}
    teams_pods = pods(kube)
    deployment = deploy(SETTINGS)
    deployment.up()
    objects_before, pods_before = versions(everything(kube, is_labelled)), pods(kube)
    refused = deployment.refused(command="destroy")
    objects_after, pods_after = versions(everything(kube, is_labelled)), pods(kube)
    deployment.up((PROTECTION, False))
    deployment.destroy()
    return Story(foreign, teams_pods, refused, objects_before, pods_before, objects_after, pods_after)


def test_a_protected_layer_is_not_destroyed_and_it_is_said_what_is_kept(story: Story) -> None:
    said = " ".join(story.refused.split())
    for kept in (names.LAYER_NAMESPACE, names.NODES_NAMESPACE, names.PROMETHEUS, names.LOKI):
        assert f"::{kept}" in said, story.refused
    assert "protect" in said, story.refused


def test_with_protection_every_object_and_every_pod_is_still_there(story: Story) -> None:
    assert story.objects_after_refusal == story.objects_before
    assert story.pods_after_refusal == story.pods_before
    assert len(story.pods_before) > len(story.teams_pods) + 2 * 15


def test_without_protection_nothing_of_ours_is_left_in_the_cluster(story: Story, kube: Kube) -> None:
    for ours in (is_labelled, is_named, is_touched):
        assert everything(kube, ours).keys() == set(), ours.__doc__


def test_without_protection_the_volumes_are_gone_too(story: Story, kube: Kube) -> None:
    claims = {
        (volume["spec"].get("claimRef") or {}).get("namespace") for volume in kube.list("persistentvolumes")
    }
    assert names.LAYER_NAMESPACE not in claims


def test_everything_foreign_is_still_there_and_the_teams_pods_have_run_all_the_time(
    story: Story, kube: Kube
) -> None:
    left = {key: item["metadata"]["uid"] for key, item in everything(kube).items()}
    assert {key: uid for key, uid in story.foreign.items() if left.get(key) != uid} == {}
    assert pods(kube) == story.teams_pods
    labels = {name: kube.get("namespaces", name)["metadata"]["labels"] for name in TEAMS}
    assert labels == {name: {"kubernetes.io/metadata.name": name, "team": name} for name in TEAMS}
