"""One deployed environment for this folder: the incident's 15 nodes and five teams, and one of everything beside them.

A test that changes what is deployed brings it back. All questions go to the API server; `deployed` is for what only the
engine can be asked.
"""

from collections.abc import Iterator

import pytest

from simulator import teams
from simulator.control_plane import ControlPlane
from simulator.nodes import Nodes
from tests.cluster.deployed import environment
from tests.support.cleaning import Snapshot, restore
from tests.support.deployment import Deployment
from tests.support.kube import Kube


@pytest.fixture(scope="package")
def deployed(
    kube: Kube, control_plane: ControlPlane, untouched: Snapshot, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """The environment, deployed; its teams' apps run."""
    there = {node["metadata"]["name"] for node in untouched.nodes}
    wanted = [*environment.declared_nodes(), *environment.other_nodes()]
    Nodes(kube).add(*(node for node in wanted if node["metadata"]["name"] not in there))
    kube.apply(
        environment.priority_class(environment.ALLOWED_CLASS, 1000),
        environment.priority_class(environment.OTHER_CLASS, 500),
    )
    namespaces = teams.namespaces(environment.settings())
    kube.apply(*(teams.namespace(name) for name in namespaces))
    kube.apply(*(teams.deployment(name) for name in namespaces))
    for name in namespaces:
        kube.wait_for_pods(teams.REPLICAS, name)
    folder = tmp_path_factory.mktemp("deployed")
    deployment = Deployment(folder, control_plane.kubeconfig, environment.raw())
    try:
        deployment.up()
        yield deployment
    finally:
        restore(kube, untouched)
