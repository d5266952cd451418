"""`memory-hpa`: what an idle pod holds against target x request."""

import pytest

from tests.policies.layers import LAYERS, judged

RULE = "memory-hpa"


def workload(request: str = "1Gi", idle: str = "1.7Gi", containers: str = "") -> str:
    annotations = f"{{shared-observability/idle-memory: {idle}}}" if idle else "{}"
    one = f"{{name: app, resources: {{requests: {{memory: {request}}}}}}}" if request else "{name: app}"
    return f"""---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: app, namespace: shop, annotations: {annotations}}}
spec: {{template: {{spec: {{containers: [{one}{containers}]}}}}}}
"""


def hpa(metric: str, head: str = "apiVersion: autoscaling/v2", annotations: str = "{}") -> str:
    return f"""---
{head}
kind: HorizontalPodAutoscaler
metadata: {{name: app, namespace: shop, annotations: {annotations}}}
spec: {{scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: app}}, maxReplicas: 9, metrics: [{metric}]}}
"""


MEMORY = "{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}}"
OF_APP = (
    "{type: ContainerResource, containerResource: {container: app, name: memory,"
    " target: {type: Utilization, averageUtilization: 80}}}"
)
CPU = "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}"
ABSOLUTE = "{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 800Mi}}}"
V1 = (
    "{autoscaling.alpha.kubernetes.io/metrics: "
    """'[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":80}}]'}"""
)

CASES: dict[str, tuple[str, list[str]]] = {
    # the incident: 1.7Gi at rest against 80 % of 1Gi
    "pinned": (workload() + hpa(MEMORY), ["violation"]),
    "exactly at the target": (workload(idle="819.2Mi") + hpa(MEMORY), ["violation"]),
    "just below it": (workload(idle="819Mi") + hpa(MEMORY), []),
    "enough requested": (workload("4Gi") + hpa(MEMORY), []),
    "nothing known": (workload(idle="") + hpa(MEMORY), []),
    "decimal units": (workload("1G", "1700M") + hpa(MEMORY), ["violation"]),
    "plain bytes": (workload("1073741824", "1825361101") + hpa(MEMORY), ["violation"]),
    "cpu": (workload() + hpa(CPU), []),
    "an amount, not a share": (workload() + hpa(ABSOLUTE), []),
    "a limit stands in for the request": (
        workload().replace("requests: {memory: 1Gi}", "limits: {memory: 1Gi}") + hpa(MEMORY),
        ["violation"],
    ),
    "all containers count": (
        workload(containers=", {name: side, resources: {requests: {memory: 4Gi}}}") + hpa(MEMORY),
        [],
    ),
    "but one alone if it is named": (
        workload(containers=", {name: side, resources: {requests: {memory: 4Gi}}}") + hpa(OF_APP),
        ["violation"],
    ),
    "v1 hides it in an annotation": (
        workload() + hpa("", "apiVersion: autoscaling/v1", V1),
        ["violation"],
    ),
    "an annotation that is no JSON": (
        workload() + hpa("", "apiVersion: autoscaling/v1", "{autoscaling.alpha.kubernetes.io/metrics: '{'}"),
        [],
    ),
    "KEDA": (
        workload()
        + """---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: app, namespace: shop}
spec: {scaleTargetRef: {name: app}, triggers: [{type: memory, metricType: Utilization, metadata: {value: '80'}}]}
""",
        ["violation"],
    ),
    "KEDA on an amount": (
        workload()
        + """---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: app, namespace: shop}
spec: {scaleTargetRef: {name: app}, triggers: [{type: memory, metricType: AverageValue, metadata: {value: '80'}}]}
""",
        [],
    ),
    # cannot be decided
    "no request": (workload("") + hpa(MEMORY), ["undecided"]),
    "request unknown": (workload("<unknown>") + hpa(MEMORY), ["undecided"]),
    "workload elsewhere": (hpa(MEMORY), ["undecided"]),
    "workload of another namespace": (
        workload().replace("namespace: shop", "namespace: other") + hpa(MEMORY),
        ["undecided"],
    ),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", CASES)
def test_memory_at_rest_stays_below_the_target(name: str, layer: str) -> None:
    text, expected = CASES[name]
    assert judged(RULE, text, layer) == expected


@pytest.mark.parametrize("layer", LAYERS)
def test_the_footprint_can_be_a_setting(layer: str) -> None:
    config = {RULE: {"idleMemory": {"shop/app": "1.7Gi"}}}
    assert judged(RULE, workload(idle="") + hpa(MEMORY), layer, config=config) == ["violation"]


VPA = """---
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: app, namespace: shop}
spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: app}, %s}
"""
VERTICAL: dict[str, tuple[str, str, list[str]]] = {
    "both on cpu": (CPU, "updatePolicy: {updateMode: Recreate}", ["violation"]),
    "the default mode acts": (CPU, "resourcePolicy: {}", ["violation"]),
    "only a recommendation": (CPU, "updatePolicy: {updateMode: 'Off'}", []),
    "another resource": (
        CPU,
        "resourcePolicy: {containerPolicies: [{containerName: '*', controlledResources: [memory]}]}",
        [],
    ),
    "the same resource": (
        CPU,
        "resourcePolicy: {containerPolicies: [{containerName: '*', controlledResources: [cpu]}]}",
        ["violation"],
    ),
    "an absolute target": (ABSOLUTE, "updatePolicy: {updateMode: Recreate}", []),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", VERTICAL)
def test_two_autoscalers_do_not_share_a_metric(name: str, layer: str) -> None:
    metric, vertical, expected = VERTICAL[name]
    text = workload(idle="") + hpa(metric)
    assert judged(RULE, text + VPA % vertical, layer) == expected
    elsewhere = (VPA % vertical).replace("namespace: shop", "namespace: other")
    assert judged(RULE, text + elsewhere, layer) == []
