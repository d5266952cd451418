"""`pod-slots`: what runs once per node, against the nodes' max-pods."""

from typing import Any

import pytest

from tests.policies.layers import LAYERS, Resource, judged, objects, only, run

RULE = "pod-slots"
GROUPS: dict[str, Any] = {
    "web": {"instanceTypes": ["t3.small"], "nodes": 5},  # 11 pods, 5 of them the cluster's own
    "batch": {
        "instanceTypes": ["t3.small"],
        "nodes": 1,
        "taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}],
    },
}
ON_WEB = "nodeSelector: {eks.amazonaws.com/nodegroup: web}"


def settings(groups: dict[str, Any] = GROUPS, **own: Any) -> dict[str, Any]:
    return {"pack-settings": {"nodeGroups": groups}, RULE: own}


def agents(number: int, pod: str = "{}", strategy: str = "{}") -> str:
    return "\n---\n".join(
        f"{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: a{index}, namespace: agents}},"
        f" spec: {{updateStrategy: {strategy}, template: {{spec: {pod}}}}}}}"
        for index in range(number)
    )


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(("number", "expected"), [(0, []), (5, []), (6, ["violation"])])
def test_agents_leave_one_slot_at_least(number: int, expected: list[str], layer: str) -> None:
    assert judged(RULE, agents(number), layer, config=settings()) == expected


@pytest.mark.parametrize("layer", LAYERS)
def test_the_message_does_the_sum(layer: str) -> None:
    found = run(layer, objects(agents(6)), config=settings())
    (message,) = [each.message for each in found if each.rule == RULE]
    assert message.startswith(
        "NodeGroup web: its nodes get 6 agent pods each, rollouts included; of 11 pods per node 5"
    )
    assert "DaemonSet agents/a0" in message


SURGES: dict[str, tuple[str, list[str]]] = {
    "none": ("{}", []),
    "zero": ("{rollingUpdate: {maxSurge: 0}}", []),
    "zero percent": ("{rollingUpdate: {maxSurge: 0%}}", []),
    "one": ("{rollingUpdate: {maxSurge: 1}}", ["violation"]),
    "percent": ("{rollingUpdate: {maxSurge: 25%}}", ["violation"]),
    "unknown": ("{rollingUpdate: {maxSurge: <unknown>}}", ["undecided"]),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", SURGES)
def test_a_rollout_that_surges_takes_two_slots(name: str, layer: str) -> None:
    strategy, expected = SURGES[name]
    assert judged(RULE, agents(3, strategy=strategy), layer, config=settings()) == expected


LANDS: dict[str, tuple[str, list[str]]] = {
    "everywhere but on taints": ("{}", ["violation"]),
    "on web by its label": (f"{{{ON_WEB}}}", ["violation"]),
    "on another group": ("{nodeSelector: {eks.amazonaws.com/nodegroup: other}}", []),
    "on Karpenter's nodes": ("{nodeSelector: {karpenter.sh/nodepool: general}}", []),
    "on Windows": ("{nodeSelector: {kubernetes.io/os: windows}}", []),
    "on another instance type": ("{nodeSelector: {node.kubernetes.io/instance-type: m5.large}}", []),
    "by a label that nobody knows": ("{nodeSelector: {gpu: 'yes'}}", ["undecided"]),
    "unknown": ("{nodeSelector: <unknown>}", ["undecided"]),
    "tolerating the taint": (
        "{tolerations: [{key: dedicated, operator: Equal, value: batch, effect: NoSchedule}]}",
        ["violation", "violation"],
    ),
    "tolerating another value": (
        "{tolerations: [{key: dedicated, value: gpu, effect: NoSchedule}]}",
        ["violation"],
    ),
    "tolerating everything": ("{tolerations: [{operator: Exists}]}", ["violation", "violation"]),
    "tolerations unknown": ("{tolerations: <unknown>}", ["undecided", "violation"]),
    "by terms": (
        (
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
            "{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: NotIn, values: [web, batch]}]},"
            "{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}]}}}}"
        ),
        [],
    ),
    "on no node at all": (
        (
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
            " {nodeSelectorTerms: [{}]}}}}"
        ),
        [],
    ),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", LANDS)
def test_only_agents_that_land_on_a_group_count(name: str, layer: str) -> None:
    pod, expected = LANDS[name]
    assert judged(RULE, agents(6, pod), layer, config=settings()) == expected


@pytest.mark.parametrize("layer", LAYERS)
def test_custom_resources_and_add_ons_count(layer: str) -> None:
    collector = """---
apiVersion: opentelemetry.io/v1beta1
kind: OpenTelemetryCollector
metadata: {name: c, namespace: agents}
spec: {mode: %s}
"""
    five = agents(5)
    assert judged(RULE, f"{five}\n{collector % 'daemonset'}", layer, config=settings()) == ["violation"]
    assert judged(RULE, f"{five}\n{collector % 'deployment'}", layer, config=settings()) == []
    assert judged(RULE, f"{five}\n{collector % '<unknown>'}", layer, config=settings()) == ["undecided"]
    add_on = Resource({"addonName": "prometheus-node-exporter"}, "aws:eks/addon:Addon", "exporter")
    assert only(run(layer, [*objects(five), add_on], config=settings()), RULE) == ["violation"]


@pytest.mark.parametrize("layer", LAYERS)
def test_awss_own_agents_are_the_clusters(layer: str) -> None:
    text = (
        agents(5)
        + "\n---\n"
        + "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: aws-node, namespace: kube-system}}"
    )
    assert judged(RULE, text, layer, config=settings()) == []


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("group", "own", "expected"),
    [
        ({"instanceTypes": ["t3.small", "t3.large"], "nodes": 1}, {}, ["violation"]),
        ({"instanceTypes": ["t3.small"], "nodes": 1, "maxPods": 110}, {}, []),
        ({"instanceTypes": ["t3.small"], "nodes": 1, "systemPods": 0}, {}, []),
        ({"kind": "autoMode", "instanceTypes": ["t3.large"], "nodes": 1}, {}, []),
        ({"instanceTypes": ["t3.large"], "nodes": {"min": 1, "max": 9}}, {"leaveFree": 25}, ["violation"]),
        ({"instanceTypes": ["t3.large"], "nodes": 1}, {"leaveFree": 24}, []),
        ({"instanceTypes": ["x9.huge"], "nodes": 1}, {}, ["undecided"]),
    ],
)
def test_max_pods_follows_from_the_group(
    group: dict[str, Any], own: dict[str, Any], expected: list[str], layer: str
) -> None:
    assert judged(RULE, agents(6), layer, config=settings({"g": group}, **own)) == expected


@pytest.mark.parametrize("layer", LAYERS)
def test_without_declared_groups_it_is_said_once(layer: str) -> None:
    assert judged(RULE, agents(3), layer) == ["undecided"]
    assert judged(RULE, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", layer) == []
