"""`agents.preempt: false`: an agent waits for a slot instead of taking a tenant's, and the deployment fails in time."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from components import names
from simulator import nodes, teams
from simulator.api import Object
from tests.support.agents import add_full_node, nodes_of, wanted_node
from tests.support.deployment import Deployment, shipped
from tests.support.environments import KEY, changed, parsed
from tests.support.kube import Kube, wait_until, why_not

BOUND, SLACK = 10, 25  # seconds: of the wait, and for all the rest of a deployment
FREE_SECONDS = 60  # the scheduler asks again at once when a pod goes; if it missed that, after 5 minutes
SLOTS = 4
SMALL = {
    "kind": "other",
    "selector": {"key": "example.com/size", "values": ["small"]},
    "maxPods": SLOTS,
    "systemPods": 0,
    "nodes": 1,
}
SETTINGS = changed(
    shipped(),
    ("cluster.nodeGroups.small", SMALL),
    ("layer", {"metrics": "off", "runsOn": ["workers"], "protection": "off"}),
    ("layer.agents", {"preempt": False, "timeout": f"{BOUND}s"}),
    ("tenants", {"shop": {"pods": 40, "runsOn": ["small", "web"]}}),
)
DECLARED = parsed({**SETTINGS, "gatewayKey": KEY}, "sim").cluster
FULL = "small-0"


@dataclass(frozen=True)
class Failure:
    """A deployment that failed, and what the cluster held then."""

    deployment: Deployment
    said: str
    seconds: float
    tenants_pods: set[str]
    tenants_pods_before: set[str]
    agents: Counter[str]
    waiting: list[Object]


@pytest.fixture(scope="module")
def failure(deploy: Callable[[Object], Deployment], clean_module: Kube) -> Failure:
    """One node is full of the tenant's pods when the environment is deployed."""
    kube, group = clean_module, DECLARED.node_groups["small"]
    kube.apply(teams.namespace("shop"))
    add_full_node(kube, nodes.of_group("small", group, 0), "shop")
    before = uids(kube.wait_for_pods(SLOTS, "shop"))
    deployment = deploy(SETTINGS)
    started = time.monotonic()
    said = deployment.refused()
    seconds = time.monotonic() - started
    pods = kube.list("pods", names.NODES_NAMESPACE)
    return Failure(
        deployment=deployment,
        said=said,
        seconds=seconds,
        tenants_pods=uids(kube.running("shop")),
        tenants_pods_before=before,
        agents=nodes_of(kube, names.ALLOY),
        waiting=[pod for pod in pods if pod["status"]["phase"] == "Pending"],
    )


def uids(pods: list[Object]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods}


def test_the_deployment_fails_within_its_bound(failure: Failure) -> None:
    assert BOUND < failure.seconds < BOUND + SLACK
    assert "timed out waiting for the condition" in failure.said


def test_no_pod_of_a_tenant_is_displaced(failure: Failure) -> None:
    assert failure.tenants_pods == failure.tenants_pods_before


def test_the_agent_of_the_full_node_waits_with_the_schedulers_reason_and_all_others_run(
    failure: Failure,
) -> None:
    (pod,) = failure.waiting
    assert wanted_node(pod) == FULL
    assert "1 Too many pods" in why_not(pod)
    assert pod["spec"]["priorityClassName"] == names.AGENTS_PRIORITY_CLASS_WAITING
    assert pod["spec"]["priority"] == names.AGENTS_PRIORITY
    declared = {node["metadata"]["name"] for node in nodes.of_cluster(DECLARED)}
    assert failure.agents == dict.fromkeys(declared - {FULL}, 1)


def test_once_a_slot_is_free_the_agent_runs_and_the_deployment_resumes(
    failure: Failure, clean_module: Kube
) -> None:
    clean_module.delete("pods", f"{FULL}-app-0", "shop", now=True)
    wait_until(
        lambda: nodes_of(clean_module, names.ALLOY)[FULL] == 1,
        FREE_SECONDS,
        lambda: f"no agent on {FULL}:{clean_module.describe(names.NODES_NAMESPACE)}",
    )
    assert "errored" not in failure.deployment.up()
