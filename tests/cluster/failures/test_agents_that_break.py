"""Agents that never become ready, and agents that break after a good deployment, of which the engine says nothing."""

from typing import Any

from components.names import ALLOY, NODES_NAMESPACE
from simulator.api import Object
from simulator.nodes import Nodes
from tests.cluster.failures.checkout import Checkout
from tests.cluster.failures.environment import ALLOY_SET, blocks, new_config, one_agent_on_each_node, within
from tests.support.agents import nodes_of
from tests.support.kube import Kube, is_ready, wait_until

NODE, OTHER = "workers-3", "workers-4"
NOT_READY = "sim/not-ready"  # the simulated kubelet's order, with the message that it gives
SECONDS = 20


def agent_on(kube: Kube, node: str) -> Object:
    """The Alloy pod of a node."""
    pods = kube.list("pods", NODES_NAMESPACE, labelSelector=f"app.kubernetes.io/name={ALLOY}")
    (found,) = (pod for pod in pods if pod["spec"].get("nodeName") == node)
    return found


def annotate(kube: Kube, pod: Object, message: str | None) -> None:
    """Lets a pod fail with a message, or recover."""
    change: Any = {"metadata": {"annotations": {NOT_READY: message}}}
    kube.patch("pods", pod["metadata"]["name"], change, NODES_NAMESPACE)


def test_an_image_that_never_becomes_ready_fails_the_rollout_and_is_told_once_for_all_nodes(
    checkout: Checkout, kube: Kube
) -> None:
    template = {"spec": {"template": {"metadata": {"annotations": {NOT_READY: "exec format error"}}}}}
    kube.patch("daemonsets", ALLOY, template, NODES_NAMESPACE)
    said = checkout.fails(new_config(), within(6))
    node = "batch-0, web-0, web-1, web-2, web-3 and 10 more"
    assert set(blocks(said)) == {(ALLOY_SET, node)}
    block = blocks(said)[ALLOY_SET, node]
    assert block["reason"] == "container alloy: CrashLoopBackOff: exec format error"
    assert f"kubectl logs -n {NODES_NAMESPACE} {ALLOY}-" in block["remedy"]
    assert "timed out waiting for the condition" in said

    template["spec"]["template"]["metadata"]["annotations"] = {NOT_READY: None}  # type: ignore[dict-item]
    kube.patch("daemonsets", ALLOY, template, NODES_NAMESPACE)
    checkout.up(within(60))
    assert one_agent_on_each_node(kube)


def test_agents_that_break_after_a_good_deployment_are_found_where_the_engine_says_unchanged(
    checkout: Checkout, kube: Kube
) -> None:
    nodes, pod = Nodes(kube), agent_on(kube, NODE)
    checkout.change(within(4))  # also how long a node may take to settle after a good deployment
    nodes.taint(OTHER, "example.com/broken", effect="NoExecute")
    annotate(kube, pod, "x")
    wait_until(lambda: not is_ready(agent_on(kube, NODE)), SECONDS, "the pod stays ready")
    waiting = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.example/alloy"'}
    status = {
        "name": ALLOY,
        "ready": False,
        "restartCount": 0,
        "image": "x",
        "imageID": "",
        "state": {"waiting": waiting},
    }
    change = {"status": {"containerStatuses": [status]}}
    kube.patch("pods", pod["metadata"]["name"], change, NODES_NAMESPACE, sub="status")
    wait_until(lambda: OTHER not in nodes_of(kube, ALLOY), SECONDS, "the agent is not evicted")

    said = checkout.fails()
    engines, _, _ = said.partition("of the layer's objects are not ready:")
    assert "error" not in engines
    assert "unchanged" in engines
    broken, evicted = blocks(said)[ALLOY_SET, NODE], blocks(said)[ALLOY_SET, OTHER]
    assert broken["reason"] == f"container {ALLOY}: {waiting['reason']}: {waiting['message']}"
    assert "the registry, its credentials" in broken["remedy"]
    assert "example.com/broken=:NoExecute" in evicted["reason"]
    why = checkout.why()
    assert why.status == 1
    assert blocks(why.said) == blocks(said)

    nodes.untaint(OTHER, "example.com/broken")
    annotate(kube, pod, None)
    wait_until(lambda: one_agent_on_each_node(kube), SECONDS, "the agents do not come back")
    why = checkout.why()
    assert (why.status, why.said) == (0, "All of the layer's objects are ready.\n")
    checkout.up(within(60))
