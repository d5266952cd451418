"""What the guards are made of, by the setting: actions, exemptions, and what never changes them."""

from typing import Any

import pytest

from components.names import (
    CLUSTER_BINDINGS_GUARD,
    EXEMPTIONS_ANNOTATION,
    GUARDS,
    LAYER_NAMESPACE,
    TENANT_LABEL,
)
from tests.support.environments import INCIDENT, changed
from tests.unit.components.environments import Environment, environment

POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
EXEMPTION = {
    "rule": "daemonset-placement",
    "namespace": "gpu",
    "name": "device-plugin",
    "reason": "only GPU nodes have its device",
}


def with_admission(setting: Any) -> Environment:
    return environment(changed(INCIDENT, ("layer.admission", setting)))


def specs(found: Environment, kind: str) -> dict[str, dict[str, Any]]:
    return {item.name: item.inputs["spec"] for item in found.of(kind)}


def annotations(found: Environment) -> dict[str, str]:
    """Those of the layer's namespace."""
    return dict(found.named("Namespace", LAYER_NAMESPACE).inputs["metadata"].get("annotations") or {})


@pytest.mark.parametrize("setting", ["off", False])
def test_off_means_none(setting: Any) -> None:
    found = with_admission(setting)
    assert not found.of(POLICY, BINDING)
    assert annotations(found) == {}


def test_each_guard_is_a_policy_and_a_binding_of_its_name() -> None:
    found = environment(INCIDENT)
    assert set(specs(found, POLICY)) == set(specs(found, BINDING)) == set(GUARDS)
    assert all(spec["policyName"] == name for name, spec in specs(found, BINDING).items())


@pytest.mark.parametrize(
    ("setting", "actions", "failure"),
    [
        (None, ["Warn", "Audit"], "Ignore"),  # as shipped
        ("warn", ["Warn", "Audit"], "Ignore"),
        ("deny", ["Deny", "Audit"], "Fail"),
        ({"action": "deny"}, ["Deny", "Audit"], "Fail"),
    ],
)
def test_warn_never_refuses_and_deny_does_also_what_cannot_be_judged(
    setting: Any, actions: list[str], failure: str
) -> None:
    found = with_admission(setting)
    assert {tuple(spec["validationActions"]) for spec in specs(found, BINDING).values()} == {tuple(actions)}
    assert {spec["failurePolicy"] for spec in specs(found, POLICY).values()} == {failure}


def test_a_lost_parameter_is_no_outage() -> None:
    for name, spec in specs(with_admission("deny"), BINDING).items():
        if "paramRef" in spec:
            assert spec["paramRef"]["parameterNotFoundAction"] == "Allow", name


def test_exemptions_are_lines_of_an_annotation_of_the_layers_namespace() -> None:
    found = with_admission({"exemptions": [EXEMPTION, {**EXEMPTION, "name": "other"}]})
    assert annotations(found)[EXEMPTIONS_ANNOTATION].splitlines() == [
        "daemonset-placement gpu/device-plugin only GPU nodes have its device",
        "daemonset-placement gpu/other only GPU nodes have its device",
    ]
    refs = [spec.get("paramRef", {}) for spec in specs(found, BINDING).values()]
    assert [ref["name"] for ref in refs if "name" in ref] == [LAYER_NAMESPACE] * 2
    assert annotations(environment(INCIDENT)) == {}


def test_neither_a_tenant_nor_an_exemption_touches_a_policy() -> None:
    def policies(found: Environment) -> list[Any]:
        return [item.inputs for item in found.of(POLICY, BINDING)]

    before = policies(with_admission("warn"))
    assert policies(environment(changed(INCIDENT, ("tenants.new", {"pods": 5})))) == before
    assert policies(environment(changed(INCIDENT, ("tenants", {})))) == before
    assert policies(with_admission({"exemptions": [EXEMPTION]})) == before


def test_tenants_are_found_by_their_label_one_namespace_at_a_time() -> None:
    found = environment(INCIDENT)
    assert specs(found, POLICY)[CLUSTER_BINDINGS_GUARD]["paramKind"] == {
        "apiVersion": "v1",
        "kind": "Namespace",
    }
    selector = specs(found, BINDING)[CLUSTER_BINDINGS_GUARD]["paramRef"]["selector"]
    assert selector == {"matchExpressions": [{"key": TENANT_LABEL, "operator": "Exists"}]}


def test_a_trusted_role_is_named_in_the_guard_of_bindings_and_nowhere_else() -> None:
    plain = specs(environment(INCIDENT), POLICY)
    trusting = specs(with_admission({"trustedRoles": ["team-reader"]}), POLICY)
    assert {name for name in GUARDS if plain[name] != trusting[name]} == {CLUSTER_BINDINGS_GUARD}
    assert '"team-reader"' in str(trusting[CLUSTER_BINDINGS_GUARD]["variables"])


def test_a_binding_comes_after_its_policy() -> None:
    found = environment(INCIDENT)
    policies = {item.registered.urn for item in found.of(POLICY)}
    for item in found.of(BINDING):
        assert set(item.registered.dependencies) & policies, str(item)
