"""A destroy that does not end: what is left and what holds it is said, and the next one finishes."""

import os
import signal

from components.names import LAYER_NAMESPACE, NODES_NAMESPACE
from simulator.api import Object
from tests.cluster.failures.checkout import Checkout, finish
from tests.cluster.failures.environment import TEAM, blocks
from tests.support.inventory import everything, is_labelled, is_touched
from tests.support.kube import Kube, wait_until

SECONDS = 60
HELD: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "held", "namespace": LAYER_NAMESPACE, "finalizers": ["example.com/hold"]},
}
FREE = '{"metadata":{"finalizers":null}}'
REASON = "example.com/hold in 1 resource instances"


def test_a_namespace_that_a_finalizer_holds_is_named_and_the_next_destroy_leaves_nothing_of_ours(
    checkout: Checkout, kube: Kube
) -> None:
    kube.create(HELD)
    try:
        command = checkout.start("engine", "destroy")

        def waits_for_the_finalizer() -> bool:
            found = kube.find("namespaces", LAYER_NAMESPACE) or {}
            return REASON in str(found.get("status", {}).get("conditions"))

        wait_until(
            lambda: waits_for_the_finalizer() or command.poll() is not None, SECONDS, "nothing is deleted"
        )
        os.killpg(command.pid, signal.SIGINT)
        done = finish(command)
    finally:
        free = ("patch", "configmap", "held", "-n", LAYER_NAMESPACE, "--type=merge", "-p", FREE)
        assert kube.kubectl(*free).returncode == 0
    assert done.status != 0
    block = blocks(done.said)[f"Namespace {LAYER_NAMESPACE}", ""]
    assert "it is being deleted: " in block["reason"]
    assert REASON in block["reason"]
    assert f"kubectl describe namespace {LAYER_NAMESPACE}" in block["remedy"]

    again = checkout.run("engine", "destroy")
    assert again.status == 0, again.said
    assert everything(kube, lambda item: is_labelled(item) or is_touched(item)) == {}
    assert kube.find("namespaces", NODES_NAMESPACE) is None
    assert set(kube.get("namespaces", TEAM)["metadata"]["labels"]) == {"kubernetes.io/metadata.name"}
    checkout.up()
