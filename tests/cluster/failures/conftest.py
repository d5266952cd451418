"""One environment for this folder, deployed once: each test breaks it in one way and brings it back.

The layer is the shipped one with its 15 nodes; the tenants are few, since none of these failures is about them. That
`make up` succeeds after each is the proof that nothing is lost or doubled: it compares every declared object with the
cluster, and every object of ours with the state; the tests ask the API server for the rest.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator import teams
from simulator.control_plane import ControlPlane
from tests.cluster.failures.checkout import Checkout
from tests.cluster.failures.environment import SETTINGS, TEAM
from tests.support.cleaning import Snapshot, restore
from tests.support.kube import Kube

SECONDS = 300  # for one test: some deploy five times, each time in 5 to 20 s


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives the tests of this folder more time than others."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.fixture(scope="package")
def checkout(
    kube: Kube, control_plane: ControlPlane, untouched: Snapshot, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Checkout]:
    """The environment, deployed by `make up`."""
    kube.apply(teams.namespace(TEAM), teams.deployment(TEAM))
    kube.wait_for_pods(teams.REPLICAS, TEAM)
    made = Checkout(tmp_path_factory.mktemp("failures") / "checkout", control_plane.kubeconfig, SETTINGS)
    try:
        made.up()
        yield made
    finally:
        restore(kube, untouched)
