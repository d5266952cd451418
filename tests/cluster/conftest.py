"""One simulated cluster for the whole tier: the incident's 15 nodes, as Pulumi.sim.yaml declares them."""

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from components.settings.model import Cluster
from simulator import environment, nodes
from simulator.control_plane import ControlPlane
from simulator.nodes import Nodes
from tests.support.cleaning import Snapshot, restore, snapshot
from tests.support.deployment import Deployment
from tests.support.kube import Kube, Object

# For one test: the first of a module pays for its fixtures, which deploy up to five times, in 5 s each, or in 20 when
# the cores are busy.
SECONDS = 300
_numbers = count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives the tests of this folder more time than others."""
    for item in items:
        if Path(__file__).parent in item.path.parents and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """The declared cluster."""
    return environment.read("sim").settings.cluster


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory, cluster: Cluster) -> Iterator[ControlPlane]:
    """The shared control plane with the declared nodes; it fails, never skips, when tools are missing."""
    state = tmp_path_factory.mktemp("control-plane")
    with ControlPlane(state) as plane:
        Nodes(plane.api).add(*nodes.of_cluster(cluster))
        yield plane
    shutil.rmtree(state, ignore_errors=True)


@pytest.fixture(scope="session")
def untouched(control_plane: ControlPlane, cluster: Cluster) -> Snapshot:
    """What the cluster held before the first test."""
    return snapshot(Kube(control_plane.kubeconfig), nodes.of_cluster(cluster))


@pytest.fixture(scope="session")
def kube(control_plane: ControlPlane, untouched: Snapshot) -> Kube:
    """Answers of the shared API server."""
    return Kube(control_plane.kubeconfig)


@pytest.fixture
def clean(kube: Kube, untouched: Snapshot) -> Iterator[Kube]:
    """The cluster, given back as it was after the test: its namespaces, cluster-scoped objects and nodes."""
    yield kube
    restore(kube, untouched)


@pytest.fixture(scope="module")
def clean_module(kube: Kube, untouched: Snapshot) -> Iterator[Kube]:
    """The same, after the last test of a module, for tests that look at one deployment."""
    yield kube
    restore(kube, untouched)


@pytest.fixture
def fleet(clean: Kube) -> Nodes:
    """The nodes, to add to, to remove from and to taint; brought back after the test."""
    return Nodes(clean)


@pytest.fixture
def namespace(kube: Kube) -> Iterator[str]:
    """A namespace of the test's own, by a name that no other test has; its removal is not waited for."""
    name = f"test-{next(_numbers)}"
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    kube.delete("namespaces", name)


@pytest.fixture(scope="module")
def deploy(
    clean_module: Kube, control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Object], Deployment]:
    """Makes an environment on the shared cluster, of which a module has one at a time; nothing is deployed yet."""

    def make(settings: Object) -> Deployment:
        return Deployment(tmp_path_factory.mktemp("deployment"), control_plane.kubeconfig, settings)

    return make
