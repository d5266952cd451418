"""`daemonset-placement`: which placements count as one."""

import pytest

from tests.policies.layers import LAYERS, objects, only, run

RULE = "daemonset-placement"
TERMS = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: %s}}}"

CASES = {
    # no constraint at all
    "nothing": ("{}", "violation"),
    "null placement": ("{nodeSelector: null, affinity: null, tolerations: null}", "violation"),
    "empty placement": ("{nodeSelector: {}, affinity: {}}", "violation"),
    # universal labels
    "os only": ("{nodeSelector: {kubernetes.io/os: linux}}", "violation"),
    "beta os and arch": (
        "{nodeSelector: {beta.kubernetes.io/os: linux, kubernetes.io/arch: amd64}}",
        "violation",
    ),
    "os by affinity": (
        f"{{{TERMS % '[{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]'}}}",
        "violation",
    ),
    "hostname exists": (
        f"{{{TERMS % '[{matchExpressions: [{key: kubernetes.io/hostname, operator: Exists}]}]'}}}",
        "violation",
    ),
    "zone named": (
        f"{{{TERMS % '[{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]'}}}",
        "pass",
    ),
    # real constraints
    "own label": ("{nodeSelector: {pool: agents}}", "pass"),
    "node group": (
        f"{{{TERMS % '[{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: In, values: [web]}]}]'}}}",
        "pass",
    ),
    "the layer's own shape": (
        "{nodeSelector: {kubernetes.io/os: linux}, "
        + TERMS
        % (
            "[{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: In, values: [web]}, "
            "{key: eks.amazonaws.com/compute-type, operator: NotIn, values: [fargate]}]}]"
        )
        + "}",
        "pass",
    ),
    "label exists": (f"{{{TERMS % '[{matchExpressions: [{key: gpu, operator: Exists}]}]'}}}", "pass"),
    "label greater than": (
        f"{{{TERMS % '[{matchExpressions: [{key: cpus, operator: Gt, values: [-1]}]}]'}}}",
        "pass",
    ),
    "one node by name": (
        f"{{{TERMS % '[{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]'}}}",
        "pass",
    ),
    "empty term matches no node": (f"{{{TERMS % '[{}]'}}}", "pass"),
    # constraints that are none
    "no terms": (f"{{{TERMS % '[]'}}}", "violation"),
    "not in": (
        "{"
        + TERMS
        % (
            "[{matchExpressions: [{key: eks.amazonaws.com/compute-type, operator: NotIn, "
            "values: [fargate, hybrid, auto]}]}]"
        )
        + "}",
        "violation",
    ),
    "does not exist": (
        f"{{{TERMS % '[{matchExpressions: [{key: virtual, operator: DoesNotExist}]}]'}}}",
        "violation",
    ),
    "one weak alternative": (
        "{"
        + TERMS
        % (
            "[{matchExpressions: [{key: pool, operator: Exists}]}, "
            "{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]"
        )
        + "}",
        "violation",
    ),
    "preferred only": (
        "{affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]}}}",
        "violation",
    ),
    "pod anti-affinity only": (
        "{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}}",
        "violation",
    ),
    "not in by name": (
        f"{{{TERMS % '[{matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}]}]'}}}",
        "violation",
    ),
    "nodeName": ("{nodeName: n1}", "violation"),
    "in without values": (
        f"{{{TERMS % '[{matchExpressions: [{key: pool, operator: In, values: []}]}]'}}}",
        "violation",
    ),
    # not known yet
    "selector unknown": ("{nodeSelector: <unknown>}", "undecided"),
    "value unknown": ("{nodeSelector: {pool: <unknown>}}", "pass"),
    "value of os unknown": ("{nodeSelector: {kubernetes.io/os: <unknown>}}", "violation"),
    "terms unknown": (f"{{{TERMS % '<unknown>'}}}", "undecided"),
    "affinity unknown": ("{affinity: <unknown>}", "undecided"),
    "a term unknown": (
        f"{{{TERMS % '[<unknown>, {matchExpressions: [{key: pool, operator: Exists}]}]'}}}",
        "undecided",
    ),
    "a term unknown beside a weak one": (
        f"{{{TERMS % '[<unknown>, {matchExpressions: [{key: kubernetes.io/os, operator: Exists}]}]'}}}",
        "violation",
    ),
    "key unknown": (
        f"{{{TERMS % '[{matchExpressions: [{key: <unknown>, operator: In, values: [a]}]}]'}}}",
        "undecided",
    ),
    "operator unknown": (
        f"{{{TERMS % '[{matchExpressions: [{key: pool, operator: <unknown>, values: [a]}]}]'}}}",
        "undecided",
    ),
    "values unknown": (
        f"{{{TERMS % '[{matchExpressions: [{key: pool, operator: In, values: <unknown>}]}]'}}}",
        "pass",
    ),
    "spec unknown": ("<unknown>", "undecided"),
    "another scheduler": ("{nodeSelector: {pool: a}, schedulerName: other}", "undecided"),
}


def daemon_set(spec: str, head: str = "apiVersion: apps/v1\nkind: DaemonSet") -> str:
    return f"{head}\nmetadata: {{name: agent, namespace: agents}}\nspec: {{template: {{spec: {spec}}}}}"


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", CASES)
def test_a_daemon_set_must_be_limited_to_some_nodes(name: str, layer: str) -> None:
    spec, verdict = CASES[name]
    found = only(run(layer, objects(daemon_set(spec))), RULE)
    assert found == ([] if verdict == "pass" else [verdict])


@pytest.mark.parametrize("layer", LAYERS)
def test_a_daemon_set_of_another_group_is_one_too(layer: str) -> None:
    text = daemon_set("{}", "apiVersion: apps.kruise.io/v1alpha1\nkind: DaemonSet")
    assert only(run(layer, objects(text)), RULE) == ["violation"]


@pytest.mark.parametrize("layer", LAYERS)
def test_objects_inside_lists_are_judged(layer: str) -> None:
    inner = "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: %s}, spec: {template: {spec: %s}}}"
    text = f"""
apiVersion: v1
kind: List
items:
  - {inner % ("a", "{}")}
  - {{apiVersion: apps/v1, kind: DaemonSetList, items: [{inner % ("b", "{}")}]}}
  - {inner % ("c", "{nodeSelector: {pool: x}}")}
"""
    found = run(layer, objects(text))
    assert only(found, RULE) == ["violation", "violation"]
    assert any("items[1].items[0].spec.template.spec" in each.message for each in found)
