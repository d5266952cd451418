"""`destroy` of everything that `sim` ships, whose layer is not protected: complete, and nobody else notices."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from components.names import LAYER_NAMESPACE
from simulator import environment, teams
from simulator.api import Object
from tests.support import manifests
from tests.support.deployment import Deployment, shipped
from tests.support.environments import changed
from tests.support.inventory import Ref, everything, is_labelled, is_named, is_touched
from tests.support.kube import Kube, wait_until

CREATED = {"pods": 5, "namespace": "create", "onRemove": "delete"}
COLLECTED = {"pods": 5, "logs": "api"}
SETTINGS = changed(shipped(), ("tenants.created", CREATED), ("tenants.collected", COLLECTED))
TEAMS = (*teams.namespaces(environment.read("sim").settings), "collected")


def pods(kube: Kube) -> dict[str, str]:
    """All pods that run, by UID."""
    return {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in kube.running()}


@dataclass(frozen=True)
class Story:
    """Foreign objects and the teams' pods at first, and how much of ours was deployed and then destroyed."""

    foreign: dict[Ref, str]
    teams_pods: dict[str, str]
    deployed: int


@pytest.fixture(scope="module")
def story(deploy: Callable[[Object], Deployment], clean_module: Kube) -> Story:
    """Deployed and destroyed."""
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
    deployed = len(everything(kube, is_labelled))
    deployment.destroy()
    return Story(foreign, teams_pods, deployed)


def test_nothing_of_ours_is_left_in_the_cluster(story: Story, kube: Kube) -> None:
    assert story.deployed > 80
    for ours in (is_labelled, is_named, is_touched):
        assert everything(kube, ours).keys() == set(), ours.__doc__


def test_the_volumes_are_gone_too(story: Story, kube: Kube) -> None:
    """The engine waits for the claims; their volumes are the provisioner's, which deletes them a moment later."""

    def of_the_layer() -> list[str]:
        volumes = kube.list("persistentvolumes")
        claims = {v["metadata"]["name"]: (v["spec"].get("claimRef") or {}).get("namespace") for v in volumes}
        return [name for name, namespace in claims.items() if namespace == LAYER_NAMESPACE]

    wait_until(lambda: not of_the_layer(), 60, lambda: f"volumes that are left: {of_the_layer()}")


def test_everything_foreign_is_still_there_and_the_teams_pods_have_run_all_the_time(
    story: Story, kube: Kube
) -> None:
    left = {key: item["metadata"]["uid"] for key, item in everything(kube).items()}
    assert {key: uid for key, uid in story.foreign.items() if left.get(key) != uid} == {}
    assert pods(kube) == story.teams_pods
    labels = {name: kube.get("namespaces", name)["metadata"]["labels"] for name in TEAMS}
    assert labels == {name: {"kubernetes.io/metadata.name": name, "team": name} for name in TEAMS}
