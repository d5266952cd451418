"""From the incident's shape to the layer, as docs/migration.md says it: an app whose own agents run is taken over."""

import json
from collections.abc import Callable

import pytest

from components.names import NODE_EXPORTER, NODE_EXPORTER_PORT, NODES_NAMESPACE, TENANT_LABEL
from simulator import teams
from simulator.api import Object
from tests.support.deployment import Deployment, shipped
from tests.support.environments import changed
from tests.support.kube import Kube, wait_until
from tests.support.manifests import per_node

TEAM = "shop"
NODES = 15
SETTINGS = changed(
    shipped(),
    ("tenants", {TEAM: {"pods": 120 + 2 * NODES, "podSecurity": "keep", "dashboards": False}}),
)
RESTRICTED = (f"tenants.{TEAM}", {"pods": 120, "dashboards": False})


def agent(name: str, *, priority_class: str = "", **pod: object) -> Object:
    """A DaemonSet as the incident's apps had it: tolerating everything, with the node's files."""
    container = {
        "name": name,
        "image": f"example.com/{name}:1",
        "volumeMounts": [{"name": "host", "mountPath": "/host"}],
        **({"ports": [{"containerPort": NODE_EXPORTER_PORT}]} if pod.get("hostNetwork") else {}),
    }
    spec = {
        "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}],
        "containers": [container],
        "volumes": [{"name": "host", "hostPath": {"path": "/"}}],
        **({"priorityClassName": priority_class} if priority_class else {}),
        **pod,
    }
    return per_node(TEAM, name, spec)


LOGS, EXPORTER = agent("shop-alloy"), agent("shop-node-exporter", hostNetwork=True)


def running(kube: Kube, app: str) -> int:
    """Pods of one of the app's agents that run."""
    return len(kube.running(TEAM, f"app={app}"))


@pytest.fixture
def deployment(deploy: Callable[[Object], Deployment], clean: Kube) -> Deployment:
    """Nothing of ours yet, and an app with its two agents on each node."""
    clean.apply(teams.namespace(TEAM), teams.deployment(TEAM), LOGS, EXPORTER)
    for one in ("shop-alloy", "shop-node-exporter"):
        clean.wait_for_pods(NODES, TEAM, f"app={one}")
    return deploy(SETTINGS)


def test_an_app_with_agents_of_its_own_comes_over_step_by_step(deployment: Deployment, kube: Kube) -> None:
    # Written as it shall be in the end, it is refused: the agents' pods would not be admitted.
    refused = deployment.refused(RESTRICTED)
    assert f"tenants.{TEAM}.podSecurity" in refused
    assert "shop-alloy-" in refused

    said = deployment.up()
    assert "Namespaces of tenants hold 2 DaemonSets with 30 pods" in said
    assert "shop/shop-alloy, shop/shop-node-exporter" in said
    assert f"DaemonSet shop/shop-node-exporter holds port {NODE_EXPORTER_PORT} on {NODES} nodes" in said
    assert kube.get("namespaces", TEAM)["metadata"]["labels"][TENANT_LABEL] == TEAM
    # As the note said: ours displace the exporter, whose pods wait; the log agent goes on.
    assert len(kube.running(NODES_NAMESPACE, f"app.kubernetes.io/name={NODE_EXPORTER}")) == NODES
    assert running(kube, "shop-node-exporter") == 0
    assert running(kube, "shop-alloy") == NODES

    for one in ("shop-alloy", "shop-node-exporter"):
        kube.delete("daemonsets", one, TEAM)
    wait_until(
        lambda: not kube.list("pods", TEAM, labelSelector="app=shop-alloy"), 60, "the old agents do not end"
    )
    said = deployment.up(RESTRICTED)
    assert "DaemonSet" not in said.partition("Diagnostics:")[2]
    labels = kube.get("namespaces", TEAM)["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    again = kube.kubectl("create", "-f", "-", stdin=json.dumps(LOGS))
    assert "exceeded quota" in again.stderr


def test_an_exporter_that_ours_may_not_displace_is_refused_before_anything_is_made(
    deployment: Deployment, kube: Kube
) -> None:
    kube.delete("daemonsets", "shop-node-exporter", TEAM)
    kube.wait_for_pods(0, TEAM, "app=shop-node-exporter")
    kube.apply(agent("shop-node-exporter", hostNetwork=True, priority_class="system-cluster-critical"))
    kube.wait_for_pods(NODES, TEAM, "app=shop-node-exporter")
    refused = deployment.refused()
    assert (
        "layer.hostMetrics: is node-exporter, and DaemonSet shop/shop-node-exporter holds its port" in refused
    )
    assert kube.find("namespaces", NODES_NAMESPACE) is None
    deployment.up(("layer.hostMetrics", "none"))
