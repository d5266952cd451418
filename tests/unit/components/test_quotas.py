"""What the API server enforces in a tenant's namespaces: its share of pods, no DaemonSet, no priority over agents."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components import names
from components.settings.tenant import pods_by_namespace
from tests.support.environments import INCIDENT, changed, parsed
from tests.unit.components.environments import VARIANTS, Environment, Object, environment

SYSTEM_CLUSTER_CRITICAL = 2_000_000_000


def quotas(recorded: Environment, name: str) -> dict[str, Object]:
    """The quotas of one name, by namespace."""
    return {o.namespace: o for o in recorded.of("ResourceQuota") if o.name == name}


def test_every_tenant_namespace_has_a_quota_of_its_pods_and_of_no_daemon_set(recorded: Environment) -> None:
    expected = {
        namespace: {"pods": str(pods), "count/daemonsets.apps": "0"}
        for name, tenant in recorded.settings.tenants.items()
        for namespace, pods in pods_by_namespace(name, tenant).items()
    }
    assert {ns: o.inputs["spec"] for ns, o in quotas(recorded, names.PODS_QUOTA).items()} == {
        namespace: {"hard": hard} for namespace, hard in expected.items()
    }


def test_every_tenant_namespace_admits_no_pod_of_a_priority_class_but_the_allowed_ones(
    recorded: Environment,
) -> None:
    found = quotas(recorded, names.PRIORITY_QUOTA)
    assert set(found) == set(recorded.tenant_namespaces)
    for namespace, quota in found.items():
        allowed = list(recorded.settings.tenants[recorded.tenant_namespaces[namespace]].priority_classes)
        scopes: list[dict[str, Any]] = [{"scopeName": "PriorityClass", "operator": "Exists"}]
        # An empty list of values is refused by the API server, and would be the same as none.
        if allowed:
            scopes.append({"scopeName": "PriorityClass", "operator": "NotIn", "values": allowed})
        assert quota.inputs["spec"] == {
            "hard": {"pods": "0"},
            "scopeSelector": {"matchExpressions": scopes},
        }, str(quota)


def test_a_quota_is_there_only_after_the_namespace_and_no_other_namespace_has_one(
    recorded: Environment,
) -> None:
    assert {o.namespace for o in recorded.of("ResourceQuota")} == set(recorded.tenant_namespaces)
    for quota in recorded.of("ResourceQuota"):
        assert any(
            f"::{quota.namespace}" in urn and "Namespace" in urn for urn in quota.registered.dependencies
        )


@pytest.mark.parametrize(
    ("variant", "name", "policy"),
    [
        ("rendered", names.AGENTS_PRIORITY_CLASS, "PreemptLowerPriority"),
        ("agents wait", names.AGENTS_PRIORITY_CLASS_WAITING, "Never"),
    ],
)
def test_agents_preempt_or_wait_by_a_class_of_each_policys_own_name(
    variant: str, name: str, policy: str
) -> None:
    """Neither the policy nor the value of a class can change, so a changed setting has to be another class."""
    (priority_class,) = environment(VARIANTS[variant]).of("PriorityClass")
    assert priority_class.name == priority_class.registered.name == name
    assert priority_class.inputs["preemptionPolicy"] == policy


def test_the_agents_priority_is_above_tenants_below_the_clusters_own_and_nobodys_default(
    recorded: Environment,
) -> None:
    (priority_class,) = recorded.of("PriorityClass")
    assert 0 < priority_class.inputs["value"] < SYSTEM_CLUSTER_CRITICAL
    assert priority_class.inputs["globalDefault"] is False


DNS = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True).filter(
    lambda name: not name.startswith("kube-") and name not in ("default", "platform", "layer")
)


@settings(deadline=None, max_examples=60)
@given(pods=st.dictionaries(DNS, st.integers(1, 60), min_size=1, max_size=5))
def test_a_tenants_namespaces_have_the_quotas_as_written_and_together_its_pods(pods: dict[str, int]) -> None:
    written = {"namespaces": {name: {"pods": number} for name, number in pods.items()}}
    tenant = parsed(changed(INCIDENT, ("tenants", {"team": written}))).tenants["team"]
    assert pods_by_namespace("team", tenant) == pods
    total = {**written, "pods": sum(pods.values())}
    assert (
        pods_by_namespace("team", parsed(changed(INCIDENT, ("tenants", {"team": total}))).tenants["team"])
        == pods
    )


@settings(deadline=None, max_examples=30)
@given(name=DNS, namespace=DNS, pods=st.integers(1, 60))
def test_a_tenant_with_one_namespace_gives_it_all_of_its_pods(name: str, namespace: str, pods: int) -> None:
    def split(tenant: dict[str, Any]) -> dict[str, int]:
        return pods_by_namespace(name, parsed(changed(INCIDENT, ("tenants", {name: tenant}))).tenants[name])

    assert split({"pods": pods}) == {name: pods}
    assert split({"pods": pods, "namespaces": {namespace: {}}}) == {namespace: pods}
    assert split({"namespaces": {namespace: {"pods": pods}}}) == {namespace: pods}
