"""`tenant-cluster-pod-list`: every row of the evasion table, as bindings of a tenant."""

from typing import Any

import pytest

from tests.policies.layers import LAYERS, judged

RULE = "tenant-cluster-pod-list"
SHOP: dict[str, Any] = {"pack-settings": {"tenants": {"shop": {}, "other": {}}}}
RBAC = "apiVersion: rbac.authorization.k8s.io/v1"
ACCOUNT = "{kind: ServiceAccount, name: app, namespace: shop}"


def role(rules: str, name: str = "reader", extra: str = "") -> str:
    return f"---\n{{{RBAC}, kind: ClusterRole, metadata: {{name: {name}}}, rules: {rules}{extra}}}\n"


def binding(subject: str = ACCOUNT, name: str = "reader", kind: str = "ClusterRole") -> str:
    return (
        f"---\n{{{RBAC}, kind: ClusterRoleBinding, metadata: {{name: b}}, subjects: [{subject}],"
        f" roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: {name}}}}}\n"
    )


def role_binding(
    namespace: str, subject: str = ACCOUNT, name: str = "view", kind: str = "ClusterRole"
) -> str:
    return (
        binding(subject, name, kind)
        .replace("ClusterRoleBinding", "RoleBinding")
        .replace("{name: b}", f"{{name: b, namespace: {namespace}}}")
    )


RULES: dict[str, tuple[str, list[str]]] = {
    # direct
    "pods list": ("[{apiGroups: [''], resources: [pods], verbs: [get, list]}]", ["violation"]),
    "pods watch alone": ("[{apiGroups: [''], resources: [pods], verbs: [watch]}]", ["violation"]),
    "pods get alone": ("[{apiGroups: [''], resources: [pods], verbs: [get]}]", []),
    "all resources of the core group": (
        "[{apiGroups: [''], resources: ['*'], verbs: [list]}]",
        ["violation"],
    ),
    "any group": ("[{apiGroups: ['*'], resources: [pods], verbs: [list]}]", ["violation"]),
    "any verb": ("[{apiGroups: [''], resources: [pods], verbs: ['*']}]", ["violation"]),
    "everything": ("[{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]", ["violation"]),
    "any resource of another group": (
        "[{apiGroups: [networking.istio.io], resources: ['*'], verbs: ['*']}]",
        [],
    ),
    "pods/* is no wildcard": ("[{apiGroups: [''], resources: ['pods/*'], verbs: [list]}]", []),
    "*/* is no wildcard": ("[{apiGroups: [''], resources: ['*/*'], verbs: [list]}]", []),
    "logs only": ("[{apiGroups: [''], resources: [pods/log, pods/status], verbs: [get, list, watch]}]", []),
    "any log": ("[{apiGroups: [''], resources: ['*/log'], verbs: [get, list]}]", []),
    "named pods": ("[{apiGroups: [''], resources: [pods], verbs: [list, watch], resourceNames: [a]}]", []),
    "empty names are none": (
        "[{apiGroups: [''], resources: [pods], verbs: [list], resourceNames: []}]",
        ["violation"],
    ),
    "names of another rule narrow nothing": (
        (
            "[{apiGroups: [''], resources: [pods], verbs: [list], resourceNames: [a]},"
            " {apiGroups: [''], resources: [pods], verbs: [list]}]"
        ),
        ["violation"],
    ),
    "metrics of pods": ("[{apiGroups: [metrics.k8s.io], resources: [pods], verbs: [list]}]", []),
    "second rule": (
        (
            "[{apiGroups: [apps], resources: [deployments], verbs: [list]},"
            " {apiGroups: [''], resources: [configmaps, pods], verbs: [list]}]"
        ),
        ["violation"],
    ),
    "null rules": ("null", []),
    "no group": ("[{resources: [pods], verbs: [list]}]", []),
    # detours
    "kubelet proxy": ("[{apiGroups: [''], resources: [nodes/proxy], verbs: [get]}]", ["violation"]),
    "kubelet proxy by any group": (
        "[{apiGroups: ['*'], resources: [nodes/proxy], verbs: [create]}]",
        ["violation"],
    ),
    "any proxy": ("[{apiGroups: [''], resources: ['*/proxy'], verbs: [get]}]", ["violation"]),
    "kubelet pods": ("[{apiGroups: [''], resources: [nodes/pods], verbs: [get]}]", ["violation"]),
    "node metrics": ("[{apiGroups: [''], resources: [nodes/metrics], verbs: [get]}]", []),
    "nodes": ("[{apiGroups: [''], resources: [nodes], verbs: [get, list, watch]}]", []),
    "escalate": (
        "[{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}]",
        ["violation"],
    ),
    "escalate one role": (
        "[{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate], resourceNames: [a]}]",
        ["violation"],
    ),
    "bind": (
        "[{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind]}]",
        ["violation"],
    ),
    "bind the role view": (
        (
            "[{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind],"
            " resourceNames: [view]}]"
        ),
        ["violation"],
    ),
    "bind a harmless role": (
        (
            "[{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind],"
            " resourceNames: ['system:auth-delegator']}]"
        ),
        [],
    ),
    "bind a role that is not here": (
        (
            "[{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind],"
            " resourceNames: [elsewhere]}]"
        ),
        ["undecided"],
    ),
    "make bindings": (
        "[{apiGroups: [rbac.authorization.k8s.io], resources: [clusterrolebindings], verbs: [create]}]",
        ["violation"],
    ),
    "impersonate": ("[{apiGroups: [''], resources: [users], verbs: [impersonate]}]", ["violation"]),
    "impersonate accounts": (
        "[{apiGroups: [''], resources: [serviceaccounts], verbs: [impersonate]}]",
        ["violation"],
    ),
    "impersonate one user": (
        "[{apiGroups: [''], resources: [users], verbs: [impersonate], resourceNames: [jane]}]",
        ["undecided"],
    ),
    "take tokens": (
        "[{apiGroups: [''], resources: [serviceaccounts/token], verbs: [create]}]",
        ["violation"],
    ),
    "make pods anywhere": ("[{apiGroups: [''], resources: [pods], verbs: [create]}]", ["violation"]),
    "make deployments anywhere": (
        "[{apiGroups: [apps], resources: [deployments], verbs: ['*']}]",
        ["violation"],
    ),
    "the core group has no deployments": (
        "[{apiGroups: [''], resources: [deployments], verbs: [create]}]",
        [],
    ),
    "the core group has no roles": ("[{apiGroups: [''], resources: [clusterroles], verbs: [bind]}]", []),
    "secrets are another rule's": ("[{apiGroups: [''], resources: [secrets], verbs: [list]}]", []),
    "reviews": (
        (
            "[{apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]},"
            " {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}]"
        ),
        [],
    ),
    # not known yet
    "rules unknown": ("<unknown>", ["undecided"]),
    "verbs unknown": ("[{apiGroups: [''], resources: [pods], verbs: <unknown>}]", ["undecided"]),
    "a verb unknown": ("[{apiGroups: [''], resources: [pods], verbs: [get, <unknown>]}]", ["undecided"]),
    "a verb unknown beside list": (
        "[{apiGroups: [''], resources: [pods], verbs: [list, <unknown>]}]",
        ["violation"],
    ),
    "names unknown": (
        "[{apiGroups: [''], resources: [pods], verbs: [list], resourceNames: <unknown>}]",
        ["undecided"],
    ),
    "resources unknown in another group": (
        "[{apiGroups: [apps], resources: <unknown>, verbs: [get, list]}]",
        [],
    ),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", RULES)
def test_the_roles_rules_are_read_as_the_authorizer_reads_them(name: str, layer: str) -> None:
    rules, expected = RULES[name]
    assert judged(RULE, role(rules) + binding(), layer, config=SHOP) == expected


BUILT_IN: dict[str, list[str]] = {
    "view": ["violation"],
    "edit": ["violation"],
    "admin": ["violation"],
    "cluster-admin": ["violation"],
    "system:kube-scheduler": ["violation"],
    "system:heapster": ["violation"],
    "system:kube-controller-manager": ["violation"],
    "system:node": ["violation"],
    "system:aggregate-to-view": ["violation"],
    "system:kubelet-api-admin": ["violation"],
    "system:auth-delegator": [],
    "system:discovery": [],
    "system:monitoring": [],
    "not-in-this-stack": ["undecided"],
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_roles_are_known(name: str, layer: str) -> None:
    assert judged(RULE, binding(name=f"'{name}'"), layer, config=SHOP) == BUILT_IN[name]
