"""`agent-priority`, `requests-set` and `secrets-read`."""

import pytest

from tests.policies.layers import LAYERS, judged

AGENT = """---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: %s}
spec: {template: {spec: {%s}}}
"""
CLASS = "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: agents}, value: %s}\n"

PRIORITIES: dict[str, tuple[str, list[str]]] = {
    "none": (AGENT % ("n", "nodeSelector: {}"), ["violation"]),
    "its own": (AGENT % ("n", "priorityClassName: agents"), []),
    "its own, declared": (AGENT % ("n", "priorityClassName: agents") + CLASS % 1000000, []),
    "its own, of no use": (AGENT % ("n", "priorityClassName: agents") + CLASS % 0, ["violation"]),
    "the cluster's": (AGENT % ("n", "priorityClassName: system-node-critical"), ["violation"]),
    "the cluster's in kube-system": (AGENT % ("kube-system", "priorityClassName: system-node-critical"), []),
    "unknown": (AGENT % ("n", "priorityClassName: <unknown>"), ["undecided"]),
    "no agent": ((AGENT % ("n", "a: b")).replace("DaemonSet", "Deployment"), []),
    "AWS's": ((AGENT % ("kube-system", "a: b")).replace("name: agent", "name: kube-proxy"), []),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", PRIORITIES)
def test_agents_outrank_what_takes_their_slots(name: str, layer: str) -> None:
    text, expected = PRIORITIES[name]
    assert judged("agent-priority", text, layer) == expected


SET = "{name: c, resources: {requests: {cpu: 1m, memory: 1Mi}}}"
REQUESTS: dict[str, tuple[str, list[str]]] = {
    "set": (f"containers: [{SET}]", []),
    "none": ("containers: [{name: c}]", ["violation"]),
    "empty": ("containers: [{name: c, resources: {}}]", ["violation"]),
    "cpu only": ("containers: [{name: c, resources: {requests: {cpu: 1m}}}]", ["violation"]),
    "by limits": ("containers: [{name: c, resources: {limits: {cpu: 1, memory: 1Mi}}}]", []),
    "two without": ("containers: [{name: a}, {name: b}]", ["violation", "violation"]),
    "init containers end": (f"containers: [{SET}], initContainers: [{{name: i}}]", []),
    "unless they stay": (
        f"containers: [{SET}], initContainers: [{{name: i, restartPolicy: Always}}]",
        ["violation"],
    ),
    "containers unknown": ("containers: <unknown>", ["undecided"]),
    "requests unknown": ("containers: [{name: c, resources: {requests: <unknown>}}]", ["undecided"]),
    "an amount unknown": (
        "containers: [{name: c, resources: {requests: {cpu: <unknown>, memory: 1Mi}}}]",
        [],
    ),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", REQUESTS)
def test_containers_say_what_they_need(name: str, layer: str) -> None:
    spec, expected = REQUESTS[name]
    assert judged("requests-set", AGENT % ("n", spec), layer) == expected


@pytest.mark.parametrize("layer", LAYERS)
def test_a_limit_range_supplies_requests(layer: str) -> None:
    supplied = """---
apiVersion: v1
kind: LimitRange
metadata: {name: l, namespace: %s}
spec: {limits: [{type: Container, defaultRequest: {cpu: 10m, memory: 10Mi}}]}
"""
    bare = AGENT % ("n", "containers: [{name: c}]")
    assert judged("requests-set", bare + supplied % "n", layer) == []
    assert judged("requests-set", bare + supplied % "other", layer) == ["violation"]


SECRETS = """---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: r}
rules: %s
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %s}
subjects: [%s]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}
"""
ACCOUNT = "{kind: ServiceAccount, name: ksm, namespace: monitoring}"
READS: dict[str, tuple[tuple[str, str, str, str], list[str]]] = {
    "list": (("[{apiGroups: [''], resources: [secrets], verbs: [list]}]", "b", ACCOUNT, "r"), ["violation"]),
    "get": (("[{apiGroups: ['*'], resources: ['*'], verbs: [get]}]", "b", ACCOUNT, "r"), ["violation"]),
    "named": (
        ("[{apiGroups: [''], resources: [secrets], verbs: [get], resourceNames: [a]}]", "b", ACCOUNT, "r"),
        [],
    ),
    "writes": (("[{apiGroups: [''], resources: [secrets], verbs: [create]}]", "b", ACCOUNT, "r"), []),
    "another group": (("[{apiGroups: [x.io], resources: [secrets], verbs: [list]}]", "b", ACCOUNT, "r"), []),
    "view": (("[]", "b", ACCOUNT, "view"), []),
    "admin": (("[]", "b", ACCOUNT, "admin"), ["violation"]),
    "administrators": (("[]", "b", "{kind: Group, name: 'system:masters'}", "cluster-admin"), []),
    "the cluster's own": (("[]", "'system:controller:x'", ACCOUNT, "admin"), []),
    "role elsewhere": (("[]", "b", ACCOUNT, "elsewhere"), ["undecided"]),
    "role unknown": (("[]", "b", ACCOUNT, "<unknown>"), ["undecided"]),
    "rules unknown": (("<unknown>", "b", ACCOUNT, "r"), ["undecided"]),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", READS)
def test_nobody_reads_secrets_everywhere(name: str, layer: str) -> None:
    values, expected = READS[name]
    assert judged("secrets-read", SECRETS % values, layer) == expected
