"""Pods that the API server refuses: the wait ends at once, however long it could be, and the refusal is printed."""

import time

from components.names import ALLOY, LAYER_NAMESPACE, NODES_NAMESPACE, POD_SECURITY_LABEL, PROMETHEUS
from simulator.api import Object
from tests.cluster.failures.checkout import Checkout
from tests.cluster.failures.environment import ALLOY_SET, blocks, new_config, one_agent_on_each_node, within
from tests.support.deployment import Change
from tests.support.kube import Kube

BOUND = 300  # what the deployment may wait; it must not
AT_ONCE = 60  # seconds for the whole deployment, on a busy machine
THEIRS: Object = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "theirs", "namespace": LAYER_NAMESPACE},
    "spec": {"hard": {"pods": "1"}},
}


def test_pods_that_pod_security_refuses_end_the_wait_and_repair_brings_the_level_back(
    checkout: Checkout, kube: Kube
) -> None:
    before: Change = ("cluster.name", checkout.settings["cluster"]["name"])
    kube.patch("namespaces", NODES_NAMESPACE, {"metadata": {"labels": {POD_SECURITY_LABEL: "baseline"}}})
    started = time.monotonic()
    said = checkout.fails(new_config(), within(BOUND))
    assert time.monotonic() - started < AT_ONCE
    assert f"up: interrupted, since waiting is in vain: pods of {ALLOY_SET} are refused." in said
    ((subject, nodes),) = blocks(said)
    assert (subject, nodes) == (ALLOY_SET, "batch-0, web-0, web-1, web-2, web-3 and 10 more")
    block = blocks(said)[subject, nodes]
    assert 'violates PodSecurity "baseline:latest"' in block["reason"]
    assert "hostPath" in block["reason"]
    assert "make repair" in block["remedy"]

    # The interrupted rollout has reached the cluster and not the state: back at the old settings, nothing is to be done
    # for the engine, but all of it differs.
    checkout.change(before)
    told = checkout.drift().said
    assert f"DaemonSet {NODES_NAMESPACE}/{ALLOY}\n  spec.template.spec.volumes[0].configMap.name is " in told
    assert f'Namespace {NODES_NAMESPACE}\n  metadata.labels.{POD_SECURITY_LABEL} is "baseline"' in told
    checkout.repair()
    labels = kube.get("namespaces", NODES_NAMESPACE)["metadata"]["labels"]
    assert labels[POD_SECURITY_LABEL] == "privileged"
    assert one_agent_on_each_node(kube)


def test_pods_that_somebody_elses_quota_refuses_end_the_wait_and_the_next_deployment_goes_on(
    checkout: Checkout, kube: Kube
) -> None:
    kube.create(THEIRS)
    try:
        started = time.monotonic()
        said = checkout.fails(new_config())
        assert time.monotonic() - started < AT_ONCE
    finally:
        kube.delete("resourcequotas", "theirs", LAYER_NAMESPACE)
    assert f"pods of ReplicaSet {LAYER_NAMESPACE}/{PROMETHEUS}-" in said
    block = blocks(said)[f"Deployment {LAYER_NAMESPACE}/{PROMETHEUS}", ""]
    assert "exceeded quota: theirs, requested: pods=1" in block["reason"]
    assert f"kubectl get resourcequota -n {LAYER_NAMESPACE}" in block["remedy"]

    checkout.up(within(60))
    kube.wait_for_pods(1, LAYER_NAMESPACE, f"app.kubernetes.io/name={PROMETHEUS}")
