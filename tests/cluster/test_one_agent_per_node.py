"""`layer.hostMetrics: alloy`: one agent on each node instead of two, found once by the real Prometheus."""

from collections import Counter
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest

from components import names
from components.layer.config.alloy_host import METRICS_PATH
from simulator import nodes
from simulator.api import Object
from simulator.control_plane import ControlPlane
from tests.cluster.deployed.prometheus import Server, named, running
from tests.support.agents import nodes_of
from tests.support.deployment import Deployment, shipped
from tests.support.environments import KEY, changed, parsed
from tests.support.kube import Kube, wait_until

SETTINGS = changed(
    shipped(),
    ("layer", {"hostMetrics": "alloy", "runsOn": ["workers"], "protection": "off"}),
    ("tenants", {}),
)
DECLARED = [
    node["metadata"]["name"]
    for node in nodes.of_cluster(parsed({**SETTINGS, "gatewayKey": KEY}, "sim").cluster)
]
SECONDS = 40  # Prometheus looks for new targets every 5 s


@pytest.fixture(scope="module")
def deployment(deploy: Callable[[Object], Deployment], clean_module: Kube) -> Deployment:
    """The environment, deployed."""
    found = deploy(SETTINGS)
    found.up()
    return found


@pytest.fixture(scope="module")
def server(
    deployment: Deployment,
    clean_module: Kube,
    control_plane: ControlPlane,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Server]:
    """Its Prometheus."""
    with running(clean_module, control_plane, tmp_path_factory.mktemp("prometheus")) as found:
        wait_until(lambda: {"alloy", "node-exporter"} <= set(named(found.targets())), SECONDS, "no targets")
        yield found


def test_fifteen_nodes_have_fifteen_agents(deployment: Deployment, kube: Kube) -> None:
    assert len(DECLARED) == 15
    assert nodes_of(kube, names.ALLOY) == dict.fromkeys(DECLARED, 1)
    assert len(kube.list("pods", names.NODES_NAMESPACE)) == 15
    assert deployment.outputs()["podBudget"]["agents"]["pods"] == 15


def test_each_node_is_measured_once_under_node_exporters_labels(server: Server, kube: Kube) -> None:
    found = named(server.targets())
    assert found["node-exporter"] == found["alloy"] == Counter(DECLARED)
    address = {p["spec"]["nodeName"]: p["status"]["podIP"] for p in kube.list("pods", names.NODES_NAMESPACE)}
    for target in server.targets():
        if target["labels"]["job"] == "node-exporter":
            node, url = target["labels"]["node"], urlsplit(target["scrapeUrl"])
            assert (url.hostname, url.port, url.path) == (address[node], names.ALLOY_PORT, METRICS_PATH)
            assert target["labels"]["instance"] == node
