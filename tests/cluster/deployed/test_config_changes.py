"""A changed configuration arrives by a new ConfigMap, and going back finds the old one as it was."""

from collections import Counter
from dataclasses import dataclass

import pytest

from components import names
from tests.cluster.deployed import environment
from tests.support import manifests
from tests.support.agents import nodes_of
from tests.support.deployment import Deployment
from tests.support.kube import Kube, Object

NODES = names.NODES_NAMESPACE
DECLARED = {node["metadata"]["name"] for node in environment.declared_nodes()}


@dataclass(frozen=True)
class Moment:
    """Alloy at one time: which ConfigMap it mounts, all versions of it, and its pods."""

    mounted: str
    versions: dict[str, Object]
    pods: set[str]
    nodes: Counter[str]
    exporters: set[str]

    @classmethod
    def now(cls, kube: Kube) -> "Moment":
        """Asked from the API server."""
        daemon_set = kube.get("daemonsets", names.ALLOY, NODES)
        volumes = daemon_set["spec"]["template"]["spec"]["volumes"]
        (mounted,) = (volume["configMap"]["name"] for volume in volumes if "configMap" in volume)
        found = kube.list("configmaps", NODES, labelSelector=f"app.kubernetes.io/name={names.ALLOY}")
        return cls(
            mounted=mounted,
            versions={item["metadata"]["name"]: item for item in found},
            pods=uids(kube, names.ALLOY),
            nodes=nodes_of(kube, names.ALLOY),
            exporters=uids(kube, names.NODE_EXPORTER),
        )


def uids(kube: Kube, agent: str) -> set[str]:
    """Of an agent's pods."""
    pods = kube.list("pods", NODES, labelSelector=f"app.kubernetes.io/name={agent}")
    return {pod["metadata"]["uid"] for pod in pods}


@dataclass(frozen=True)
class Story:
    """Before, with another name of the cluster, and back again."""

    before: Moment
    renamed: Moment
    back: Moment


@pytest.fixture(scope="module")
def story(deployed: Deployment, kube: Kube) -> Story:
    before = Moment.now(kube)
    with deployed.changed(("cluster.name", "renamed")):
        renamed = Moment.now(kube)
    return Story(before, renamed, Moment.now(kube))


def test_all_agents_roll_when_the_clusters_name_changes_and_each_node_has_one_again(story: Story) -> None:
    assert story.renamed.pods.isdisjoint(story.before.pods)
    assert story.renamed.nodes == dict.fromkeys(DECLARED, 1)
    assert story.renamed.exporters == story.before.exporters


def test_the_new_configuration_is_a_new_immutable_object_beside_the_previous_one(story: Story) -> None:
    assert story.renamed.versions.keys() == {story.before.mounted, story.renamed.mounted}
    assert story.renamed.mounted != story.before.mounted
    new = story.renamed.versions[story.renamed.mounted]
    assert new["immutable"] is True
    assert 'cluster = "renamed"' in "".join(new["data"].values())


def test_going_back_mounts_the_first_object_again_which_was_there_all_the_time(story: Story) -> None:
    assert story.back.mounted == story.before.mounted
    live = story.back.versions[story.back.mounted]["metadata"]
    assert live["uid"] == story.before.versions[story.before.mounted]["metadata"]["uid"]
    assert story.back.versions.keys() == story.renamed.versions.keys()
    assert story.back.nodes == dict.fromkeys(DECLARED, 1)
    assert story.back.pods.isdisjoint(story.renamed.pods)


# --- after a rollout that failed ---

BOUND = "8s"


@pytest.fixture(scope="module")
def rolled_back(deployed: Deployment, kube: Kube) -> Story:
    """The same, but the agents of the renamed cluster are refused by somebody's quota, and the deployment fails."""
    before = Moment.now(kube)
    kube.apply(manifests.quota(NODES, "theirs", pods="0"))
    try:
        deployed.refused(("cluster.name", "failed"), ("layer.agents.timeout", BOUND))
        failed = Moment.now(kube)
    finally:
        kube.delete("resourcequotas", "theirs", NODES)
        deployed.up()
    return Story(before, failed, Moment.now(kube))


def test_a_rollout_that_failed_stops_at_the_first_nodes(rolled_back: Story) -> None:
    failed = rolled_back.renamed
    assert failed.mounted != rolled_back.before.mounted
    assert failed.nodes.total() == len(DECLARED) - environment.settings().layer.agents.max_unavailable
    assert {failed.mounted, rolled_back.before.mounted} <= failed.versions.keys()


def test_going_back_after_it_leaves_the_live_object_and_every_node_its_agent(rolled_back: Story) -> None:
    before, back = rolled_back.before, rolled_back.back
    assert back.mounted == before.mounted
    assert back.versions[back.mounted]["metadata"]["uid"] == before.versions[back.mounted]["metadata"]["uid"]
    assert back.nodes == dict.fromkeys(DECLARED, 1)
