"""`daemonset-tolerations` and `workload-tolerations`: which tolerations are unbounded."""

import pytest

from tests.policies.layers import LAYERS, judged, objects, run

CASES: dict[str, tuple[str, list[str]]] = {
    # keyless Exists, whole and in halves
    "everything": ("[{operator: Exists}]", ["violation"]),
    "empty key": ("[{key: '', operator: Exists}]", ["violation"]),
    "empty effect": ("[{operator: Exists, effect: ''}]", ["violation"]),
    "every NoSchedule": ("[{operator: Exists, effect: NoSchedule}]", ["violation"]),
    "both halves": (
        "[{operator: Exists, effect: NoSchedule}, {operator: Exists, effect: NoExecute}]",
        ["violation", "violation"],
    ),
    "beside a bounded one": ("[{key: a, operator: Exists}, {operator: Exists}]", ["violation"]),
    # bounded
    "none": ("[]", []),
    "null": ("null", []),
    "keyed exists": ("[{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]", []),
    "keyed exists, all effects": ("[{key: CriticalAddonsOnly, operator: Exists}]", []),
    "equal": ("[{key: dedicated, operator: Equal, value: batch, effect: NoSchedule}]", []),
    "key alone": ("[{key: node.kubernetes.io/disk-pressure}]", []),
    "control plane": ("[{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}]", []),
    "new operators": ("[{key: cost, operator: Lt, value: '5'}, {key: cost, operator: Gt, value: '5'}]", []),
    "what the controller adds": (
        "[{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}]",
        [],
    ),
    # refused by the API server, and said so
    "no key, no operator": ("[{key: '', value: x}]", ["violation"]),
    # not known yet
    "all unknown": ("<unknown>", ["undecided"]),
    "one unknown": ("[<unknown>]", ["undecided"]),
    "key unknown, exists": ("[{key: <unknown>, operator: Exists}]", ["undecided"]),
    "key unknown, equal": ("[{key: <unknown>, operator: Equal, value: a}]", []),
    "operator unknown, no key": ("[{operator: <unknown>}]", ["undecided"]),
    "operator unknown, key": ("[{key: a, operator: <unknown>}]", []),
}


def workload(tolerations: str, kind: str = "DaemonSet", api_version: str = "apps/v1") -> str:
    return f"""
apiVersion: {api_version}
kind: {kind}
metadata: {{name: it, namespace: here}}
spec: {{template: {{spec: {{nodeSelector: {{pool: a}}, tolerations: {tolerations}}}}}}}
"""


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", CASES)
def test_a_daemon_set_tolerates_only_what_it_names(name: str, layer: str) -> None:
    tolerations, expected = CASES[name]
    assert judged("daemonset-tolerations", workload(tolerations), layer) == expected
    assert judged("workload-tolerations", workload(tolerations), layer) == []


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "Job", "ReplicaSet"])
def test_other_workloads_are_held_to_the_same(kind: str, layer: str) -> None:
    text = workload("[{operator: Exists}]", kind, "batch/v1" if kind == "Job" else "apps/v1")
    assert judged("workload-tolerations", text, layer) == ["violation"]
    assert judged("daemonset-tolerations", text, layer) == []


DELAYS = {
    "as AWS's chart of the EBS driver has it": (
        "{operator: Exists, effect: NoExecute, tolerationSeconds: 300}",
        [],
    ),
    "at once": ("{operator: Exists, effect: NoExecute, tolerationSeconds: 0}", []),
    "long": ("{operator: Exists, effect: NoExecute, tolerationSeconds: 301}", ["violation"]),
    "for ever": ("{operator: Exists, effect: NoExecute, tolerationSeconds: null}", ["violation"]),
    "of another effect": ("{operator: Exists, effect: NoSchedule, tolerationSeconds: 300}", ["violation"]),
    "of all effects": ("{operator: Exists, tolerationSeconds: 300}", ["violation"]),
    "seconds unknown": ("{operator: Exists, effect: NoExecute, tolerationSeconds: <unknown>}", ["undecided"]),
    "effect unknown": ("{operator: Exists, effect: <unknown>, tolerationSeconds: 300}", ["undecided"]),
    "effect unknown, for ever": ("{operator: Exists, effect: <unknown>}", ["violation"]),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", DELAYS)
def test_a_workload_may_delay_its_eviction_and_a_daemon_set_may_not(name: str, layer: str) -> None:
    toleration, expected = DELAYS[name]
    assert judged("workload-tolerations", workload(f"[{toleration}]", "Deployment"), layer) == expected
    assert judged("daemonset-tolerations", workload(f"[{toleration}]"), layer) == ["violation"]


@pytest.mark.parametrize("layer", LAYERS)
def test_a_cron_job_and_a_pod_too(layer: str) -> None:
    text = """
{apiVersion: batch/v1, kind: CronJob, metadata: {name: a},
 spec: {jobTemplate: {spec: {template: {spec: {tolerations: [{operator: Exists}]}}}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {tolerations: [{operator: Exists}]}}
---
{apiVersion: v1, kind: PodTemplate, metadata: {name: c}, template: {spec: {tolerations: [{operator: Exists}]}}}
"""
    assert judged("workload-tolerations", text, layer) == ["violation"] * 3


@pytest.mark.parametrize(
    ("mode", "rule"),
    [("mode: daemonset, ", "daemonset-tolerations"), ("", "workload-tolerations")],
)
@pytest.mark.parametrize("layer", LAYERS)
def test_an_agents_custom_resource_is_judged_where_it_sets_the_field(
    mode: str, rule: str, layer: str
) -> None:
    text = """
apiVersion: opentelemetry.io/v1beta1
kind: OpenTelemetryCollector
metadata: {name: c}
spec: {%s}
"""
    assert judged(rule, text % f"{mode}tolerations: [{{operator: Exists}}]", layer) == ["violation"]
    assert judged(rule, text % f"{mode}replicas: 1", layer) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_the_message_names_object_field_reason_and_remedy(layer: str) -> None:
    found = run(layer, objects(workload("[{operator: Exists, effect: NoExecute}]")))
    (message,) = [each.message for each in found if each.rule == "daemonset-tolerations"]
    assert message.startswith("DaemonSet here/it, spec.template.spec.tolerations[0]: `Exists` without a key")
    assert "every NoExecute taint" in message
    assert "Name the taint" in message


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("key", ["", "key: '', "])
def test_an_empty_key_is_no_key(key: str, layer: str) -> None:
    found = run(layer, objects(workload(f"[{{{key}operator: Exists}}]")))
    (message,) = [each.message for each in found if each.rule == "daemonset-tolerations"]
    assert "every taint of every effect" in message
