"""`tenant-daemonset`: what runs on every node, whatever makes it, and who a tenant is."""

from typing import Any

import pytest

from tests.policies.layers import LAYERS, Resource, judged, objects, only, run

RULE = "tenant-daemonset"
SHOP: dict[str, Any] = {"pack-settings": {"tenants": {"shop": {}}}}
DAEMON_SET = "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a, namespace: shop}, spec: {}}"


def cr(api_version: str, kind: str, spec: str) -> str:
    return (
        f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: a, namespace: shop}}, spec: {spec}}}"
    )


OTEL, CLOUD_WATCH = "opentelemetry.io/v1beta1", "cloudwatch.aws.amazon.com/v1alpha1"
CASES: dict[str, tuple[str, list[str]]] = {
    "typed": (DAEMON_SET, ["violation"]),
    "another namespace": (DAEMON_SET.replace("shop", "platform"), []),
    "the layer's": (DAEMON_SET.replace("shop", "observability-nodes"), []),
    "Kruise": (cr("apps.kruise.io/v1alpha1", "DaemonSet", "{}"), ["violation"]),
    "in a list": (f"{{apiVersion: v1, kind: List, items: [{DAEMON_SET}]}}", ["violation"]),
    "Deployment": (cr("apps/v1", "Deployment", "{replicas: 2}"), []),
    # OpenTelemetry: an empty mode is a Deployment
    "otel daemonset": (cr(OTEL, "OpenTelemetryCollector", "{mode: daemonset}"), ["violation"]),
    "otel alpha daemonset": (
        cr("opentelemetry.io/v1alpha1", "OpenTelemetryCollector", "{mode: daemonset}"),
        ["violation"],
    ),
    "otel without mode": (cr(OTEL, "OpenTelemetryCollector", "{}"), []),
    "otel sidecar": (cr(OTEL, "OpenTelemetryCollector", "{mode: sidecar}"), []),
    "otel mode unknown": (cr(OTEL, "OpenTelemetryCollector", "{mode: <unknown>}"), ["undecided"]),
    # CloudWatch: the API's default is a Deployment; its exporters are always per node
    "cw daemonset": (cr(CLOUD_WATCH, "AmazonCloudWatchAgent", "{mode: daemonset}"), ["violation"]),
    "cw without mode": (cr(CLOUD_WATCH, "AmazonCloudWatchAgent", "{}"), []),
    "dcgm": (cr(CLOUD_WATCH, "DcgmExporter", "{}"), ["violation"]),
    "neuron": (cr(CLOUD_WATCH, "NeuronMonitor", "{}"), ["violation"]),
    # Alloy: absent is a DaemonSet
    "alloy without type": (cr("collectors.grafana.com/v1alpha1", "Alloy", "{}"), ["violation"]),
    "alloy deployment": (
        cr("collectors.grafana.com/v1alpha1", "Alloy", "{controller: {type: deployment}}"),
        [],
    ),
    "alloy statefulset": (
        cr("collectors.grafana.com/v1alpha1", "Alloy", "{controller: {type: statefulset}}"),
        [],
    ),
    # others
    "prometheus agent": (
        cr("monitoring.coreos.com/v1alpha1", "PrometheusAgent", "{mode: DaemonSet}"),
        ["violation"],
    ),
    "prometheus agent default": (cr("monitoring.coreos.com/v1alpha1", "PrometheusAgent", "{}"), []),
    "fluent operator": (cr("fluentbit.fluent.io/v1alpha2", "FluentBit", "{}"), ["violation"]),
    "logging operator": (cr("logging.banzaicloud.io/v1beta1", "FluentbitAgent", "{}"), ["violation"]),
    "beat on every node": (cr("beat.k8s.elastic.co/v1beta1", "Beat", "{daemonSet: {}}"), ["violation"]),
    "beat as deployment": (cr("beat.k8s.elastic.co/v1beta1", "Beat", "{deployment: {}}"), []),
    "datadog": (cr("datadoghq.com/v2alpha1", "DatadogAgent", "{}"), ["violation"]),
    "another kind of that name": (cr("example.com/v1", "FluentBit", "{}"), []),
    # nobody sees inside
    "argo": (cr("argoproj.io/v1alpha1", "Application", "{destination: {namespace: shop}}"), ["undecided"]),
    "argo elsewhere": (cr("argoproj.io/v1alpha1", "Application", "{destination: {namespace: other}}"), []),
    "flux": (cr("helm.toolkit.fluxcd.io/v2", "HelmRelease", "{chart: {}}"), ["undecided"]),
    "flux to a tenant": (
        cr("helm.toolkit.fluxcd.io/v2", "HelmRelease", "{targetNamespace: shop}").replace(
            "namespace: shop}", "namespace: flux}", 1
        ),
        ["undecided"],
    ),
    "flux kustomization": (cr("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "{}"), ["undecided"]),
    "namespace unknown": (DAEMON_SET.replace("shop", "<unknown>"), ["undecided"]),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", CASES)
def test_a_tenant_runs_nothing_on_every_node(name: str, layer: str) -> None:
    text, expected = CASES[name]
    assert judged(RULE, text, layer, config=SHOP) == expected


@pytest.mark.parametrize("layer", LAYERS)
def test_without_tenants_nobody_is_accused(layer: str) -> None:
    for text, _ in CASES.values():
        assert judged(RULE, text, layer) == []


# --- who a tenant is ---

LABELLED = """
apiVersion: v1
kind: Namespace
metadata: {name: shop-eu, labels: {shared-observability/tenant: shop}}
---
"""


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("order", ["namespace first", "namespace last"])
def test_a_namespaces_label_makes_it_a_tenants(order: str, layer: str) -> None:
    resources = objects(LABELLED + DAEMON_SET.replace("shop", "shop-eu"))
    if order == "namespace last":
        resources.reverse()
    found = run(layer, resources)
    assert only(found, RULE) == ["violation"]
    assert "tenant shop gets one pod on every node" in next(f.message for f in found if f.rule == RULE)


@pytest.mark.parametrize("layer", LAYERS)
def test_the_label_counts_on_an_adopted_namespace_too(layer: str) -> None:
    (patch,) = objects(LABELLED)
    patched = Resource(patch.props, token="kubernetes:core/v1:NamespacePatch")
    found = run(layer, [patched, *objects(DAEMON_SET.replace("shop", "shop-eu"))])
    assert only(found, RULE) == ["violation"]


@pytest.mark.parametrize("layer", LAYERS)
def test_no_label_makes_the_layers_namespace_a_tenants(layer: str) -> None:
    text = (LABELLED + DAEMON_SET.replace("shop", "shop-eu")).replace("shop-eu", "observability-nodes")
    assert judged(RULE, text, layer) == []
    config = {"pack-settings": {"layerNamespaces": ["monitoring"]}}
    assert judged(RULE, text, layer, config=config) == ["violation"]


@pytest.mark.parametrize("layer", LAYERS)
def test_a_stack_that_is_one_tenants_holds_only_its_objects(layer: str) -> None:
    config = {"pack-settings": {"stackTenant": "shop"}}
    assert judged(RULE, DAEMON_SET.replace("shop", "anywhere"), layer, config=config) == ["violation"]


@pytest.mark.parametrize("layer", ["proxy", "wire"])
def test_the_stacks_tag_does_the_same(layer: str) -> None:
    tags = {"shared-observability:tenant": "shop"}
    assert judged(RULE, DAEMON_SET.replace("shop", "anywhere"), layer, tags=tags) == ["violation"]


@pytest.mark.parametrize("layer", LAYERS)
def test_what_is_below_a_tenants_component_is_the_tenants(layer: str) -> None:
    (daemon_set,) = objects(DAEMON_SET.replace("shop", "anywhere"))
    below = Resource(daemon_set.props, parents=("shared-observability:tenant:TenantStack", "pkg:index:Other"))
    assert only(run(layer, [below]), RULE) == ["violation"]
    other = Resource(daemon_set.props, parents=("shared-observability:layer:NodeAgents",))
    assert only(run(layer, [other]), RULE) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_several_namespaces_can_be_one_tenants(layer: str) -> None:
    config = {"pack-settings": {"tenants": {"shop": {"namespaces": ["shop-a", "shop-b"]}}}}
    assert judged(RULE, DAEMON_SET.replace("shop", "shop-b"), layer, config=config) == ["violation"]
    assert judged(RULE, DAEMON_SET, layer, config=config) == []


# --- patches, and what nobody can see into ---


@pytest.mark.parametrize("layer", LAYERS)
def test_a_patch_of_a_daemon_set_is_judged(layer: str) -> None:
    (daemon_set,) = objects(DAEMON_SET)
    patch = Resource(daemon_set.props, token="kubernetes:apps/v1:DaemonSetPatch")
    assert only(run(layer, [patch], config=SHOP), RULE) == ["violation"]


RELEASE = Resource(
    {"chart": "promtail", "version": "6.0.0", "namespace": "shop", "values": {"token": "s3cret"}},
    token="kubernetes:helm.sh/v3:Release",
    name="promtail",
)


@pytest.mark.parametrize("layer", LAYERS)
def test_nobody_sees_into_a_helm_release(layer: str) -> None:
    found = run(layer, [RELEASE], config=SHOP)
    assert only(found, RULE) == ["undecided"]
    assert not any("s3cret" in each.message for each in found)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ({"resourceNames": {"DaemonSet.apps/apps/v1": ["promtail"], "Secret/v1": ["a", "b"]}}, ["violation"]),
        ({"resourceNames": {"Deployment.apps/apps/v1": ["promtail"]}}, []),
        ({"resourceNames": "<unknown>"}, ["undecided"]),
    ],
)
def test_a_releases_outputs_tell_the_kinds_that_it_made(
    outputs: dict[str, Any], expected: list[str], layer: str
) -> None:
    release = Resource(RELEASE.props, RELEASE.token, RELEASE.name, outputs={**RELEASE.props, **outputs})
    assert only(run(layer, [release], config=SHOP), RULE) == expected


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"opaque": "violation"}, ["violation"]),
        ({"opaque": "ignore"}, []),
        ({"trustedCharts": ["promtail@6.0.0"]}, []),
        ({"trustedCharts": ["promtail@6.0.1"]}, ["undecided"]),
        ({"undecided": "violation"}, ["violation"]),
    ],
)
def test_what_is_said_of_charts_is_a_setting(
    setting: dict[str, Any], expected: list[str], layer: str
) -> None:
    assert only(run(layer, [RELEASE], config={**SHOP, RULE: setting}), RULE) == expected


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    "resource",
    [
        Resource({"addonName": "fluent-bit", "clusterName": "c"}, "aws:eks/addon:Addon", "addon"),
        Resource({"addonName": "fluent-bit"}, "aws-native:eks:Addon", "addon"),
        Resource({"create": "kubectl apply -f ds.yaml"}, "command:local:Command", "cmd"),
        Resource({"create": "<unknown>"}, "command:local:Command", "cmd"),
    ],
)
def test_add_ons_and_commands_of_a_tenants_stack_are_opaque(resource: Resource, layer: str) -> None:
    config = {"pack-settings": {"stackTenant": "shop"}}
    assert only(run(layer, [resource], config=config), RULE) == ["undecided"]
    assert only(run(layer, [resource], config=SHOP), RULE) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_a_command_that_calls_no_tool_is_not_suspected(layer: str) -> None:
    config = {"pack-settings": {"stackTenant": "shop"}}
    command = Resource({"create": "date"}, "command:local:Command", "cmd")
    assert only(run(layer, [command], config=config), RULE) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_a_chart_component_that_registers_nothing_is_said(layer: str) -> None:
    config = {"pack-settings": {"stackTenant": "shop"}}
    chart = Resource({}, "kubernetes:helm.sh/v4:Chart", "chart")
    assert only(run(layer, [chart], config=config), RULE) == ["undecided"]


HOST = "{topologyKey: kubernetes.io/hostname}"


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("replicas", "spread", "expected"),
    [
        (
            15,
            "topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, maxSkew: 1}]",
            ["undecided"],
        ),
        (
            15,
            f"affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{HOST}]}}}}",
            ["undecided"],
        ),
        (3, "topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, maxSkew: 1}]", []),
        (15, "topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, maxSkew: 1}]", []),
        (
            15,
            "topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, maxSkew: 1, whenUnsatisfiable: Any}]",
            [],
        ),
    ],
)
def test_as_many_replicas_as_nodes_one_on_each_look_like_a_daemon_set(
    replicas: int, spread: str, expected: list[str], layer: str
) -> None:
    groups = {"web": {"instanceTypes": ["t3.large"], "nodes": 15}}
    config = {"pack-settings": {"tenants": {"shop": {}}, "nodeGroups": groups}}
    text = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: a, namespace: shop}}
spec: {{replicas: {replicas}, template: {{spec: {{{spread}}}}}}}
"""
    assert judged(RULE, text, layer, config=config) == expected
