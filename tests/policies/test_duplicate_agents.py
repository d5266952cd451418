"""`duplicate-agents`: two of one role, and two on one port, where they can meet."""

import pytest

from tests.policies.layers import LAYERS, Resource, judged, objects, only, run

RULE = "duplicate-agents"


def agent(name: str, image: str, pod: str = "", ports: str = "[]") -> str:
    containers = f"containers: [{{name: c, image: {image}, ports: {ports}}}]"
    return (
        f"---\n{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: {name}, namespace: n}},"
        f" spec: {{template: {{spec: {{{pod + ', ' if pod else ''}{containers}}}}}}}}}\n"
    )


ALLOY, PROMTAIL, FLUENT = "grafana/alloy:v1.18.1", "docker.io/grafana/promtail:3.0", "fluent/fluent-bit"
EXPORTER = "quay.io/prometheus/node-exporter:v1.12.1@sha256:abc"

CASES: dict[str, tuple[str, list[str]]] = {
    "one of each": (agent("a", ALLOY) + agent("b", EXPORTER), []),
    "two log shippers": (agent("a", ALLOY) + agent("b", FLUENT), ["violation"]),
    "three of them": (
        agent("a", ALLOY) + agent("b", FLUENT) + agent("c", PROMTAIL),
        ["violation", "violation"],
    ),
    "the same twice": (agent("a", ALLOY) + agent("b", ALLOY), ["violation"]),
    "datadog beside a shipper": (
        agent("a", "gcr.io/datadoghq/agent:7")
        + agent("b", "public.ecr.aws/aws-observability/aws-for-fluent-bit:2"),
        ["violation"],
    ),
    "another image called agent": (agent("a", "example.com/team/agent") + agent("b", ALLOY), []),
    "two exporters": (agent("a", EXPORTER) + agent("b", "node-exporter"), ["violation"]),
    "in different groups": (
        agent("a", ALLOY, "nodeSelector: {pool: x}") + agent("b", ALLOY, "nodeSelector: {pool: y}"),
        [],
    ),
    "in one of its groups": (
        agent(
            "a",
            ALLOY,
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms:"
            " [{matchExpressions: [{key: pool, operator: In, values: [x]}]},"
            " {matchExpressions: [{key: pool, operator: In, values: [y]}]}]}}}",
        )
        + agent("b", ALLOY, "nodeSelector: {pool: y}"),
        ["violation"],
    ),
    "in the same group": (
        agent("a", ALLOY, "nodeSelector: {pool: x}") + agent("b", ALLOY, "nodeSelector: {pool: x}"),
        ["violation"],
    ),
    "one class and all others": (
        agent(
            "a",
            ALLOY,
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms:"
            " [{matchExpressions: [{key: class, operator: In, values: [big]}]}]}}}",
        )
        + agent(
            "b",
            ALLOY,
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms:"
            " [{matchExpressions: [{key: class, operator: NotIn, values: [big, small]}]},"
            " {matchExpressions: [{key: class, operator: DoesNotExist}]}]}}}",
        ),
        [],
    ),
    "not known whether they meet": (
        agent("a", ALLOY, "nodeSelector: {pool: <unknown>}") + agent("b", ALLOY, "nodeSelector: {pool: x}"),
        ["violation"],
    ),
    "same port": (
        agent("a", "one", ports="[{hostPort: 8125, protocol: UDP}]")
        + agent("b", "two", ports="[{hostPort: 8125, protocol: UDP}]"),
        ["violation"],
    ),
    "same number, another protocol": (
        agent("a", "one", ports="[{hostPort: 8125}]")
        + agent("b", "two", ports="[{hostPort: 8125, protocol: UDP}]"),
        [],
    ),
    "hostNetwork makes every port one of the node's": (
        agent("a", "one", "hostNetwork: true", "[{containerPort: 9100}]")
        + agent("b", "two", ports="[{containerPort: 9100, hostPort: 9100}]"),
        ["violation"],
    ),
    "container ports are no ports of the node": (
        agent("a", "one", ports="[{containerPort: 9100}]")
        + agent("b", "two", ports="[{containerPort: 9100}]"),
        [],
    ),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", CASES)
def test_two_agents_of_one_kind_meet_on_no_node(name: str, layer: str) -> None:
    text, expected = CASES[name]
    assert judged(RULE, text, layer) == expected


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("prometheus-node-exporter", EXPORTER),
        ("fluent-bit", ALLOY),
        ("amazon-cloudwatch-observability", ALLOY),
    ],
)
def test_an_add_on_that_brings_agents_is_named(name: str, image: str, layer: str) -> None:
    add_on = Resource({"addonName": name, "clusterName": "c"}, "aws:eks/addon:Addon", name)
    found = run(layer, [*objects(agent("a", image)), add_on])
    assert only(found, RULE) == ["violation"]
    (message,) = [each.message for each in found if each.rule == RULE]
    assert message.startswith(f"aws:eks/addon:Addon {name}: it is a second ")
    assert (
        only(
            run(layer, [*objects(agent("a", image)), Resource({"addonName": "coredns"}, add_on.token, "x")]),
            RULE,
        )
        == []
    )


@pytest.mark.parametrize("layer", LAYERS)
def test_an_agent_that_may_not_be_one_is_not_accused(layer: str) -> None:
    alloy = """---
apiVersion: collectors.grafana.com/v1alpha1
kind: Alloy
metadata: {name: b, namespace: n}
spec: {controller: {type: %s}}
"""
    assert judged(RULE, agent("a", ALLOY) + alloy % "<unknown>", layer) == ["undecided"]
    assert judged(RULE, agent("a", ALLOY) + alloy % "deployment", layer) == []
