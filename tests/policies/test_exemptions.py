"""Exemptions: exact, with a reason and an end; expired and unused ones are reported."""

from datetime import date, timedelta
from typing import Any

import pytest

from policies.config import ConfigError, Exemption, take_apart
from policies.exemptions import AWS_AGENTS
from tests.policies.layers import LAYERS, Found, objects, only, run

RULE = "daemonset-placement"
AGENT = "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, namespace: gpu}, spec: {template: {spec: {}}}}"
TODAY = date.today()  # noqa: DTZ011
THIS: dict[str, Any] = {
    "rule": RULE,
    "kind": "DaemonSet",
    "namespace": "gpu",
    "name": "agent",
    "reason": "every node of this cluster has a GPU",
    "expiry": str(TODAY + timedelta(days=30)),
}


def exempted(layer: str, text: str = AGENT, **changes: str) -> list[Found]:
    found = run(layer, objects(text), config={"pack-settings": {"exemptions": [{**THIS, **changes}]}})
    return [each for each in found if each.rule in (RULE, "pack-settings")]


@pytest.mark.parametrize("layer", LAYERS)
def test_an_exemption_lets_exactly_its_object_pass(layer: str) -> None:
    assert exempted(layer) == []


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    "change",
    [{"name": "agent-2"}, {"namespace": "other"}, {"kind": "Deployment"}, {"rule": "daemonset-tolerations"}],
)
def test_any_other_object_is_judged_and_the_exemption_reported_as_unused(
    change: dict[str, str], layer: str
) -> None:
    found = exempted(layer, **change)
    assert only(found, RULE) == ["violation"]
    (unused,) = [each.message for each in found if each.rule == "pack-settings"]
    assert "nothing that was judged needs it" in unused


@pytest.mark.parametrize("layer", LAYERS)
def test_an_expired_one_covers_nothing_and_is_reported(layer: str) -> None:
    found = exempted(layer, expiry=str(TODAY - timedelta(days=2)))
    assert only(found, RULE) == ["violation"]
    (expired,) = [each.message for each in found if each.rule == "pack-settings"]
    assert f"Exemption {RULE} for DaemonSet gpu/agent: it ended on" in expired


@pytest.mark.parametrize("layer", LAYERS)
def test_it_counts_on_its_last_day(layer: str) -> None:
    assert exempted(layer, expiry=str(TODAY + timedelta(days=1))) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_it_covers_what_cannot_be_decided_too(layer: str) -> None:
    unknown = AGENT.replace("{template: {spec: {}}}", "{template: {spec: {nodeSelector: <unknown>}}}")
    assert exempted(layer, unknown) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_cluster_wide_objects_have_no_namespace(layer: str) -> None:
    text = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b}
subjects: [{kind: ServiceAccount, name: a, namespace: m}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
"""
    exemption = {**THIS, "rule": "secrets-read", "kind": "ClusterRoleBinding", "name": "b", "namespace": ""}
    assert run(layer, objects(text), config={"pack-settings": {"exemptions": [exemption]}}) == []
    assert only(run(layer, objects(text)), "secrets-read") == ["violation"]


@pytest.mark.parametrize("missing", ["rule", "kind", "name", "reason", "expiry"])
def test_an_exemption_without_reason_or_end_is_refused(missing: str) -> None:
    exemption = {key: value for key, value in THIS.items() if key != missing}
    with pytest.raises(ConfigError, match=f"pack-settings.exemptions.0.{missing}"):
        take_apart({"pack-settings": {"exemptions": [exemption]}})
    assert Exemption.model_validate(THIS).rule == RULE


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", sorted(AWS_AGENTS))
def test_awss_agents_pass_by_exact_name_and_place_alone(name: str, layer: str) -> None:
    text = (
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: %s, namespace: %s},"
        " spec: {template: {spec: {tolerations: [{operator: Exists}]}}}}"
    )
    assert not {each.rule for each in run(layer, objects(text % (name, "kube-system")))} & {
        RULE,
        "daemonset-tolerations",
    }
    for other in (text % (name, "monitoring"), text % (f"{name}-x", "kube-system")):
        assert {each.rule for each in run(layer, objects(other))} >= {RULE, "daemonset-tolerations"}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_kruise_daemon_set_of_awss_name_is_not_awss(layer: str) -> None:
    text = AGENT.replace("apps/v1", "apps.kruise.io/v1alpha1").replace("name: agent", "name: aws-node")
    assert only(run(layer, objects(text.replace("gpu", "kube-system"))), RULE) == ["violation"]
