"""A real API server, controllers and scheduler, with simulated nodes, for the whole folder."""

import shutil
from collections.abc import Iterator

import pytest

from simulator.control_plane import ControlPlane
from tests.support.kube import Kube


@pytest.fixture(scope="session")
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kube]:
    """It fails, never skips, when tools are missing."""
    state = tmp_path_factory.mktemp("policies-control-plane")
    with ControlPlane(state) as plane:
        yield Kube(plane.kubeconfig)
    shutil.rmtree(state, ignore_errors=True)
