"""Agents that the scheduler has no place for: on 1 of 15 nodes each, for three reasons, in one deployment.

`make up` fails within its bound, and prints object, node, the scheduler's own reason and what helps.
"""

import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

import pytest

from components.names import NODE_EXPORTER
from simulator.nodes import Nodes
from tests.cluster.failures.checkout import Checkout
from tests.cluster.failures.environment import (
    ALLOY_SET,
    TEAM,
    blocks,
    declared_nodes,
    new_config,
    one_agent_on_each_node,
    within,
)
from tests.support.agents import add_full_node
from tests.support.kube import Kube

FULL, TAINTED, SMALL = "web-0", "web-1", "web-2"
EXPORTER_SET = f"DaemonSet observability-nodes/{NODE_EXPORTER}"
BOUND, SLACK = 6, 40  # seconds: of the wait, and for all the rest of a deployment on a busy machine
TAINT = {"key": "example.com/maintenance", "value": "true", "effect": "NoSchedule"}


@dataclass(frozen=True)
class Failure:
    """What `make up` printed, and how long it took."""

    said: str
    seconds: float


@pytest.fixture(scope="module")
def failure(checkout: Checkout, kube: Kube) -> Iterator[Failure]:
    """Three of the 15 nodes come back otherwise than they are declared, and the agents roll."""
    nodes, declared = Nodes(kube), declared_nodes()
    tainted, small = deepcopy(declared[TAINTED]), deepcopy(declared[SMALL])
    tainted["spec"]["taints"] = [TAINT]
    small["status"]["capacity"]["memory"] = small["status"]["allocatable"]["memory"] = "150Mi"
    nodes.remove(FULL, TAINTED, SMALL)
    full = add_full_node(kube, declared[FULL], TEAM)
    nodes.add(tainted, small)
    started = time.monotonic()
    said = checkout.fails(new_config(), within(BOUND))
    yield Failure(said, time.monotonic() - started)
    nodes.remove(FULL, TAINTED, SMALL)
    for pod in full:
        kube.delete("pods", pod, TEAM, now=True)
    nodes.add(declared[FULL], declared[TAINTED], declared[SMALL])
    checkout.up(within(60))
    assert one_agent_on_each_node(kube)


def test_the_deployment_fails_within_its_bound(failure: Failure) -> None:
    assert BOUND < failure.seconds < BOUND + SLACK


def test_an_agent_without_a_slot_is_named_with_its_node_the_schedulers_reason_and_the_remedy(
    failure: Failure,
) -> None:
    block = blocks(failure.said)[ALLOY_SET, FULL]
    assert "0/15 nodes are available: 1 Too many pods" in block["reason"]
    assert f"kubectl get pods -A -o wide --field-selector spec.nodeName={FULL}" in block["remedy"]
    assert "agents.preempt: true" in block["remedy"]


def test_an_agent_without_memory_is_named_with_its_node(failure: Failure) -> None:
    block = blocks(failure.said)[ALLOY_SET, SMALL]
    assert "1 Insufficient memory" in block["reason"]
    assert f"kubectl describe node {SMALL}" in block["remedy"]


def test_a_node_with_an_undeclared_taint_is_named_although_the_daemon_set_does_not_count_it(
    failure: Failure,
) -> None:
    for subject in (ALLOY_SET, EXPORTER_SET):
        block = blocks(failure.said)[subject, TAINTED]
        assert (
            "the taint example.com/maintenance=true:NoSchedule, which group 'web' does not" in block["reason"]
        )
        assert "cluster.nodeGroups.web.taints" in block["remedy"]
        assert f"kubectl taint node {TAINTED} example.com/maintenance-" in block["remedy"]


def test_nothing_but_what_cannot_run_is_named(failure: Failure) -> None:
    assert set(blocks(failure.said)) == {
        *((subject, node) for subject in (ALLOY_SET, EXPORTER_SET) for node in (FULL, TAINTED)),
        (ALLOY_SET, SMALL),
    }


def test_the_engine_alone_gives_no_reason_but_names_the_command_that_does(failure: Failure) -> None:
    engines, _, report = failure.said.partition("of the layer's objects are not ready:")
    assert report
    assert "timed out waiting for the condition" in engines
    assert "Too many pods" not in engines
    assert "If this fails: make why ENV=sim says which object, on which node, and why" in engines
