"""`tenant-cluster-pod-list`: whose a binding is, patches, aggregated roles, and bindings in namespaces."""

import pytest

from tests.policies.layers import LAYERS, Resource, judged, objects, only, run
from tests.policies.test_tenant_cluster_pod_list import ACCOUNT, RULE, SHOP, binding, role, role_binding

LIST_PODS = role("[{apiGroups: [''], resources: [pods], verbs: [list]}]")
SUBJECTS: dict[str, tuple[str, list[str]]] = {
    "service account": (ACCOUNT, ["violation"]),
    "of another namespace": ("{kind: ServiceAccount, name: app, namespace: monitoring}", []),
    "without namespace": ("{kind: ServiceAccount, name: app}", []),
    "group of its accounts": ("{kind: Group, name: 'system:serviceaccounts:shop'}", ["violation"]),
    "group of others' accounts": ("{kind: Group, name: 'system:serviceaccounts:monitoring'}", []),
    "all accounts": ("{kind: Group, name: 'system:serviceaccounts'}", ["violation"]),
    "all who are known": ("{kind: Group, name: 'system:authenticated'}", ["violation"]),
    "anybody": ("{kind: Group, name: 'system:unauthenticated'}", ["violation"]),
    "anonymous": ("{kind: User, name: 'system:anonymous'}", ["violation"]),
    "account as user": ("{kind: User, name: 'system:serviceaccount:shop:app'}", ["violation"]),
    "others' account as user": ("{kind: User, name: 'system:serviceaccount:monitoring:app'}", []),
    "administrators": ("{kind: Group, name: 'system:masters'}", []),
    "a person": ("{kind: User, name: jane}", []),
    "namespace unknown": ("{kind: ServiceAccount, name: app, namespace: <unknown>}", ["undecided"]),
    "subject unknown": ("<unknown>", ["undecided"]),
    "group unknown": ("{kind: Group, name: <unknown>}", ["undecided"]),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_tenants_subject_is_known_in_every_spelling(name: str, layer: str) -> None:
    subject, expected = SUBJECTS[name]
    assert judged(RULE, LIST_PODS + binding(subject), layer, config=SHOP) == expected


@pytest.mark.parametrize("layer", LAYERS)
def test_people_are_a_tenants_if_the_settings_say_so(layer: str) -> None:
    config = {"pack-settings": {"tenants": {"shop": {"groups": ["shop-devs"], "users": ["jane"]}}}}
    for subject in ("{kind: Group, name: shop-devs}", "{kind: User, name: jane}"):
        assert judged(RULE, LIST_PODS + binding(subject), layer, config=config) == ["violation"]


@pytest.mark.parametrize("layer", LAYERS)
def test_subjects_that_are_missing_hold_nobody(layer: str) -> None:
    text = LIST_PODS + binding().replace(f"subjects: [{ACCOUNT}]", "subjects: null")
    assert judged(RULE, text, layer, config=SHOP) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_the_finding_is_on_the_binding_whichever_comes_first(layer: str) -> None:
    both = objects(LIST_PODS + binding())
    for resources in (both, both[::-1]):
        found = run(layer, resources, config=SHOP)
        assert only(found, RULE) == ["violation"]
        (message,) = [each.message for each in found if each.rule == RULE]
        assert message.startswith(
            "ClusterRoleBinding b, roleRef: it lets tenant shop's account list pods in the"
        )


@pytest.mark.parametrize("layer", LAYERS)
def test_a_patch_adds_its_subjects_to_the_binding_that_it_patches(layer: str) -> None:
    nobody = binding().replace(f"subjects: [{ACCOUNT}]", "subjects: []")
    (patch,) = objects(binding())
    props = {key: value for key, value in patch.props.items() if key != "roleRef"}
    patched = Resource(props, token="kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBindingPatch")
    assert only(run(layer, [*objects(LIST_PODS + nobody), patched], config=SHOP), RULE) == ["violation"]
    assert only(run(layer, [patched], config=SHOP), RULE) == ["undecided"]


@pytest.mark.parametrize("layer", LAYERS)
def test_a_patch_of_a_role_adds_its_rules(layer: str) -> None:
    (patch,) = objects(LIST_PODS)
    patched = Resource(patch.props, token="kubernetes:rbac.authorization.k8s.io/v1:ClusterRolePatch")
    harmless = objects(role("[]") + binding())
    assert only(run(layer, [*harmless, patched], config=SHOP), RULE) == ["violation"]
    assert only(run(layer, harmless, config=SHOP), RULE) == []


AGGREGATED: dict[str, tuple[str, str, list[str]]] = {
    "by label": ("{matchLabels: {agg: 'yes'}}", "{agg: 'yes'}", ["violation"]),
    "by expression": (
        "{matchExpressions: [{key: agg, operator: In, values: ['yes']}]}",
        "{agg: 'yes'}",
        ["violation"],
    ),
    "expression that excludes": (
        "{matchExpressions: [{key: agg, operator: In, values: ['no']}]}",
        "{agg: 'yes'}",
        ["undecided"],
    ),
    "what excludes this one selects all built-in ones": (
        "{matchExpressions: [{key: agg, operator: NotIn, values: ['yes']}]}",
        "{agg: 'yes'}",
        ["violation"],
    ),
    "all built-in roles": (
        "{matchLabels: {kubernetes.io/bootstrapping: rbac-defaults}}",
        "{}",
        ["violation"],
    ),
    "both, one fails": (
        "{matchLabels: {agg: 'yes'}, matchExpressions: [{key: b, operator: Exists}]}",
        "{agg: 'yes'}",
        ["undecided"],
    ),
    "others may match in the cluster": ("{matchLabels: {agg: 'yes'}}", "{agg: 'no'}", ["undecided"]),
    "a built-in label": (
        "{matchLabels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}}",
        "{}",
        ["violation"],
    ),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", AGGREGATED)
def test_an_aggregated_role_has_the_rules_of_the_roles_that_it_selects(name: str, layer: str) -> None:
    selector, labels, expected = AGGREGATED[name]
    part = role("[{apiGroups: [''], resources: [pods], verbs: [list]}]", "part").replace(
        "{name: part}", f"{{name: part, labels: {labels}}}"
    )
    whole = role("null", "whole", f", aggregationRule: {{clusterRoleSelectors: [{selector}]}}")
    assert judged(RULE, part + whole + binding(name="whole"), layer, config=SHOP) == expected


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", ["view", "edit", "admin"])
def test_a_tenants_role_widens_no_built_in_one(name: str, layer: str) -> None:
    label = f"{{rbac.authorization.k8s.io/aggregate-to-{name}: 'true'}}"
    text = role("[{apiGroups: [metrics.k8s.io], resources: [pods], verbs: [list]}]").replace(
        "{name: reader}", f"{{name: reader, labels: {label}}}"
    )
    config = {"pack-settings": {"stackTenant": "shop"}}
    assert judged(RULE, text, layer, config=config) == ["violation"]
    assert judged(RULE, text, layer, config=SHOP) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_a_role_without_a_binding_is_judged_by_setting(layer: str) -> None:
    stack = {"stackTenant": "shop"}
    assert judged(RULE, LIST_PODS, layer, config={"pack-settings": stack}) == []
    config = {"pack-settings": stack, RULE: {"unboundRoles": True}}
    assert judged(RULE, LIST_PODS, layer, config=config) == ["violation"]
    assert judged(RULE, role("[]"), layer, config=config) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_whoever_a_tenants_stack_binds_is_the_tenants(layer: str) -> None:
    text = LIST_PODS + binding("{kind: User, name: jane}")
    assert judged(RULE, text, layer, config={"pack-settings": {"stackTenant": "shop"}}) == ["violation"]


@pytest.mark.parametrize("layer", LAYERS)
def test_a_role_that_was_looked_into_can_be_stated(layer: str) -> None:
    config = {**SHOP, RULE: {"trustedRoles": ["elsewhere"]}}
    assert judged(RULE, binding(name="elsewhere"), layer, config=config) == []


IN_NAMESPACES: dict[str, tuple[str, list[str]]] = {
    "view in its own": (role_binding("shop"), []),
    "cluster-admin in its own": (role_binding("shop", name="cluster-admin"), []),
    "view in kube-system": (role_binding("kube-system"), ["violation"]),
    "anything in kube-system": (
        role_binding("kube-system", name="extension-apiserver-authentication-reader", kind="Role"),
        ["violation"],
    ),
    "anything in the layer": (role_binding("observability", name="x", kind="Role"), ["violation"]),
    "view in another tenant's": (role_binding("other"), ["violation"]),
    "view in nobody's": (role_binding("lobby"), ["violation"]),
    "a harmless role in another tenant's": (role_binding("other", name="'system:auth-delegator'"), []),
    "a role of the namespace": (
        "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: other},"
        " rules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]}\n"
        + role_binding("other", name="r", kind="Role"),
        [],
    ),
    "a role of another namespace does not count": (
        "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: lobby},"
        " rules: []}\n" + role_binding("other", name="r", kind="Role"),
        ["undecided"],
    ),
    "tokens in another tenant's": (
        role("[{apiGroups: [''], resources: [serviceaccounts/token], verbs: [create]}]")
        + role_binding("other", name="reader"),
        ["violation"],
    ),
    "nodes are nothing in a namespace": (
        role("[{apiGroups: [''], resources: [nodes/proxy], verbs: [get]}]")
        + role_binding("other", name="reader"),
        [],
    ),
    "everybody views one namespace": (
        role_binding("lobby", "{kind: Group, name: 'system:authenticated'}"),
        ["violation"],
    ),
    "somebody else's account in its own": (
        role_binding("shop", "{kind: ServiceAccount, name: ci, namespace: ci}"),
        [],
    ),
    "namespace unknown": (role_binding("<unknown>"), ["undecided"]),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", IN_NAMESPACES)
def test_a_role_binding_stays_in_the_tenants_own_namespaces(name: str, layer: str) -> None:
    text, expected = IN_NAMESPACES[name]
    assert judged(RULE, text, layer, config=SHOP) == expected


@pytest.mark.parametrize("layer", LAYERS)
def test_a_second_namespace_that_is_declared_later_is_its_own(layer: str) -> None:
    later = """---
apiVersion: v1
kind: Namespace
metadata: {name: shop-index, labels: {shared-observability/tenant: shop}}
"""
    assert judged(RULE, role_binding("shop-index") + later, layer, config=SHOP) == []
