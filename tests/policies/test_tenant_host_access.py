"""`tenant-host-access`: every way from a tenant's pod to its node."""

from typing import Any

import pytest

from tests.policies.layers import LAYERS, Resource, judged, objects, only, run

RULE = "tenant-host-access"
SHOP: dict[str, Any] = {"pack-settings": {"tenants": {"shop": {}}}}

PODS: dict[str, tuple[str, list[str]]] = {
    "nothing": ("{containers: [{name: a}]}", []),
    "hostPath": ("{volumes: [{name: logs, hostPath: {path: /var/log}}]}", ["violation"]),
    "other volumes": ("{volumes: [{name: a, emptyDir: {}}, {name: b, configMap: {name: c}}]}", []),
    "hostNetwork": ("{hostNetwork: true}", ["violation"]),
    "hostPID and hostIPC": ("{hostPID: true, hostIPC: true}", ["violation", "violation"]),
    "off is off": ("{hostNetwork: false, hostPID: null}", []),
    "hostPort": ("{containers: [{name: a, ports: [{containerPort: 80, hostPort: 80}]}]}", ["violation"]),
    "hostPort 0": ("{containers: [{name: a, ports: [{containerPort: 80, hostPort: 0}]}]}", []),
    "privileged": ("{containers: [{name: a, securityContext: {privileged: true}}]}", ["violation"]),
    "privileged init": ("{initContainers: [{name: a, securityContext: {privileged: true}}]}", ["violation"]),
    "privileged ephemeral": (
        "{ephemeralContainers: [{name: a, securityContext: {privileged: true}}]}",
        ["violation"],
    ),
    "SYS_ADMIN": (
        "{containers: [{name: a, securityContext: {capabilities: {add: [SYS_ADMIN, CAP_NET_RAW]}}}]}",
        ["violation", "violation"],
    ),
    "all capabilities": ("{containers: [{securityContext: {capabilities: {add: [ALL]}}}]}", ["violation"]),
    "baseline capability": (
        "{containers: [{securityContext: {capabilities: {add: [CAP_NET_BIND_SERVICE], drop: [ALL]}}}]}",
        [],
    ),
    "unmasked proc": ("{containers: [{securityContext: {procMount: Unmasked}}]}", ["violation"]),
    "windows host process": (
        "{securityContext: {windowsOptions: {hostProcess: true}}}",
        ["violation"],
    ),
    # not known yet
    "spec unknown": ("<unknown>", ["undecided"]),
    "hostNetwork unknown": ("{hostNetwork: <unknown>}", ["undecided"]),
    "volumes unknown": ("{volumes: <unknown>}", ["undecided"]),
    "volume unknown": ("{volumes: [<unknown>]}", ["undecided"]),
    "containers unknown": ("{containers: <unknown>}", ["undecided"]),
    "privileged unknown": ("{containers: [{securityContext: {privileged: <unknown>}}]}", ["undecided"]),
    "capability unknown": (
        "{containers: [{securityContext: {capabilities: {add: [<unknown>]}}}]}",
        ["undecided"],
    ),
    "hostPort unknown": ("{containers: [{ports: [{hostPort: <unknown>}]}]}", ["undecided"]),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", PODS)
def test_a_tenants_pod_stays_off_its_node(name: str, layer: str) -> None:
    spec, expected = PODS[name]
    text = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: a, namespace: shop}}
spec: {{template: {{spec: {spec}}}}}
"""
    assert judged(RULE, text, layer, config=SHOP) == expected
    assert judged(RULE, text.replace("shop", "platform"), layer, config=SHOP) == []


OBJECTS: dict[str, tuple[str, list[str]]] = {
    "privileged namespace": (
        (
            "{apiVersion: v1, kind: Namespace, metadata: {name: shop,"
            " labels: {pod-security.kubernetes.io/enforce: privileged}}}"
        ),
        ["violation"],
    ),
    "restricted namespace": (
        (
            "{apiVersion: v1, kind: Namespace, metadata: {name: shop,"
            " labels: {pod-security.kubernetes.io/enforce: restricted}}}"
        ),
        [],
    ),
    "namespace of unknown level": (
        (
            "{apiVersion: v1, kind: Namespace, metadata: {name: shop,"
            " labels: {pod-security.kubernetes.io/enforce: <unknown>}}}"
        ),
        ["undecided"],
    ),
    "the layer's namespace": (
        (
            "{apiVersion: v1, kind: Namespace, metadata: {name: observability-nodes,"
            " labels: {pod-security.kubernetes.io/enforce: privileged}}}"
        ),
        [],
    ),
    "otel's own fields": (
        (
            "{apiVersion: opentelemetry.io/v1beta1, kind: OpenTelemetryCollector,"
            " metadata: {name: a, namespace: shop}, spec: {hostNetwork: true,"
            " volumes: [{name: a, hostPath: {path: /}}], securityContext: {privileged: true}}}"
        ),
        ["violation", "violation", "violation"],
    ),
    "cron job": (
        (
            "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a, namespace: shop},"
            " spec: {jobTemplate: {spec: {template: {spec: {hostPID: true}}}}}}"
        ),
        ["violation"],
    ),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", OBJECTS)
def test_namespaces_and_custom_resources_are_judged_too(name: str, layer: str) -> None:
    text, expected = OBJECTS[name]
    assert judged(RULE, text, layer, config=SHOP) == expected


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("source", ["hostPath", "local"])
def test_a_volume_on_the_node_is_refused_in_a_tenants_stack(source: str, layer: str) -> None:
    text = f"""
apiVersion: v1
kind: PersistentVolume
metadata: {{name: node-files}}
spec: {{{source}: {{path: /}}}}
"""
    assert judged(RULE, text, layer, config={"pack-settings": {"stackTenant": "shop"}}) == ["violation"]
    assert judged(RULE, text, layer, config=SHOP) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_a_patch_that_makes_a_tenants_namespace_privileged_is_refused(layer: str) -> None:
    (namespace,) = objects(OBJECTS["privileged namespace"][0])
    patch = Resource(namespace.props, token="kubernetes:core/v1:NamespacePatch")
    assert only(run(layer, [patch], config=SHOP), RULE) == ["violation"]


@pytest.mark.parametrize("layer", LAYERS)
def test_what_a_container_may_add_is_a_setting(layer: str) -> None:
    text = """
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop},
 spec: {containers: [{securityContext: {capabilities: {add: [NET_RAW]}}}]}}
"""
    config = {**SHOP, RULE: {"capabilities": ["NET_RAW"]}}
    assert judged(RULE, text, layer, config=config) == []
    assert judged(RULE, text, layer, config=SHOP) == ["violation"]
