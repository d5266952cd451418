"""What every account of ours may do: written out, read only, no secrets; and what no tenant has at all."""

import re
from collections.abc import Iterator
from typing import Any

from components import names
from components.names import LAYER_NAMESPACE, NODES_NAMESPACE
from components.settings.dashboards import Dashboards
from components.tenant import signals
from tests.unit.components.environments import VARIANTS, Environment, Object, environment

ROLES = ("Role", "ClusterRole")
BINDINGS = ("RoleBinding", "ClusterRoleBinding")
READ = {"get", "list", "watch"}
# What a right on it would be worth: other accounts' credentials, code in other pods, or more rights.
NEVER = {
    "secrets", "configmaps", "serviceaccounts/token", "pods/exec", "pods/attach", "pods/portforward", "nodes/proxy",
    "services/proxy", "pods/proxy", "pods/ephemeralcontainers", "certificatesigningrequests", "*",
}  # fmt: skip


def rules(recorded: Environment) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each rule with the role that has it."""
    for role in recorded.of(*ROLES):
        yield from ((str(role), rule) for rule in role.inputs["rules"])


def rights(role: Object) -> set[tuple[str, str, str]]:
    """(group, resource or path, verb) of a role."""
    return {
        (group, resource, verb)
        for rule in role.inputs["rules"]
        for group in rule.get("apiGroups", ["url"])
        for resource in rule.get("resources", rule.get("nonResourceURLs"))
        for verb in rule["verbs"]
    }


def test_every_role_only_reads_and_reads_no_secret(recorded: Environment) -> None:
    for role, rule in rules(recorded):
        assert set(rule["verbs"]) <= READ, role
        assert not NEVER & set(rule.get("resources", [])), role
        assert "*" not in rule.get("apiGroups", []), role
        assert rule.get("nonResourceURLs", ["/metrics"]) == ["/metrics"], role


def read(
    group: str, *resources: str, verbs: tuple[str, ...] = ("get", "list", "watch")
) -> set[tuple[str, str, str]]:
    """Rights to read resources of a group."""
    return {(group, resource, verb) for resource in resources for verb in verbs}


def test_the_agents_and_prometheus_may_do_exactly_what_discovery_and_scrapes_need() -> None:
    recorded = environment(VARIANTS["on a cluster"])
    assert rights(recorded.named("ClusterRole", names.ALLOY_ROLE)) == read("", "pods", "namespaces")
    assert rights(recorded.named("ClusterRole", names.PROMETHEUS_ROLE)) == {
        *read("", "pods", "namespaces", "nodes"),
        ("", "nodes/metrics", "get"),
        ("url", "/metrics", "get"),
    }
    of_servers = recorded.named("Role", names.PROMETHEUS_ROLE)
    assert of_servers.namespace == "default"
    assert rights(of_servers) == read("", "services") | read("discovery.k8s.io", "endpointslices")


def test_kube_state_metrics_collects_exactly_the_kinds_that_it_may_list() -> None:
    recorded = environment(VARIANTS["on a cluster"])
    granted = rights(recorded.named("ClusterRole", names.KUBE_STATE_METRICS_ROLE))
    assert {verb for _, _, verb in granted} == {"list", "watch"}
    pod = recorded.named("Deployment", names.KUBE_STATE_METRICS).pod or {}
    (argument,) = (a for a in pod["containers"][0]["args"] if a.startswith("--resources="))
    assert sorted(argument.removeprefix("--resources=").split(",")) == sorted(
        {kind for _, kind, _ in granted}
    )


def test_every_binding_binds_a_role_and_an_account_that_are_deployed_with_it(recorded: Environment) -> None:
    roles = {(o.kind, o.namespace, o.name) for o in recorded.of(*ROLES)}
    accounts = {(o.namespace, o.name) for o in recorded.of("ServiceAccount")}
    for binding in recorded.of(*BINDINGS):
        ref = binding.inputs["roleRef"]
        assert (ref["kind"], binding.namespace, ref["name"]) in roles, str(binding)
        (subject,) = binding.inputs["subjects"]
        assert subject["kind"] == "ServiceAccount", str(binding)
        assert (subject["namespace"], subject["name"]) in accounts, str(binding)
    bound = {
        (b.inputs["roleRef"]["kind"], b.namespace, b.inputs["roleRef"]["name"])
        for b in recorded.of(*BINDINGS)
    }
    assert bound == roles


def test_no_tenant_has_a_cluster_wide_right_or_one_in_another_namespace(recorded: Environment) -> None:
    for binding in recorded.of(*BINDINGS):
        (subject,) = binding.inputs["subjects"]
        if subject["namespace"] in recorded.tenant_namespaces:
            assert binding.kind == "RoleBinding", str(binding)
            assert binding.namespace == subject["namespace"], str(binding)
    of_cluster = {b.inputs["subjects"][0]["namespace"] for b in recorded.of("ClusterRoleBinding")}
    assert of_cluster <= {LAYER_NAMESPACE, NODES_NAMESPACE}


SERVER = ("ServiceAccount", "Secret", "ConfigMap", "Deployment")
OWN = {
    "quotas": {("ResourceQuota", names.PODS_QUOTA), ("ResourceQuota", names.PRIORITY_QUOTA)},
    "reads": {("Secret", names.READ_SECRET)},
    "grafana": {(kind, names.TENANT_GRAFANA) for kind in (*SERVER, "Service")},
    "host": {("Ingress", names.TENANT_GRAFANA)},
    "collector": {(kind, names.COLLECTOR) for kind in (*SERVER, "Role", "RoleBinding")},
}


def parts_of(recorded: Environment, namespace: str) -> list[str]:
    """Which parts of a tenant stack belong into a namespace."""
    name = recorded.tenant_namespaces[namespace]
    tenant = recorded.settings.tenants[name]
    parts = ["quotas", *(["collector"] if tenant.logs == "api" else [])]
    if namespace != signals.home_namespace(name, tenant) or not (tenant.metrics or tenant.logs != "off"):
        return parts
    host = isinstance(tenant.dashboards, Dashboards) and tenant.dashboards.host
    return [*parts, "reads", *(["grafana"] if tenant.dashboards else []), *(["host"] if host else [])]


def test_a_tenants_namespace_holds_exactly_what_its_settings_ask_for(recorded: Environment) -> None:
    """No DaemonSet, no right but that of a collector, no volume."""
    for namespace in recorded.tenant_namespaces:
        expected = [kind for part in parts_of(recorded, namespace) for kind in OWN[part]]
        found = [
            (o.kind.removeprefix("External"), re.sub("-[0-9a-f]{10}$", "", o.name))
            for o in recorded.objects
            if o.namespace == namespace
        ]
        assert sorted(found) == sorted(expected), namespace


def test_a_collector_reads_the_pods_and_their_logs_in_its_namespace_and_no_other_account_has_a_right(
    recorded: Environment,
) -> None:
    for role in recorded.of("Role"):
        if role.namespace in recorded.tenant_namespaces:
            assert role.name == names.COLLECTOR
            assert rights(role) == read("", "pods") | {("", "pods/log", "get")}, str(role)
    subjects = [b.inputs["subjects"][0] for b in recorded.of("RoleBinding")]
    of_tenants = [s["name"] for s in subjects if s["namespace"] in recorded.tenant_namespaces]
    assert set(of_tenants) <= {names.COLLECTOR}


def test_the_node_agents_namespace_holds_no_secret_but_their_push_credential(recorded: Environment) -> None:
    secrets = [o.name for o in recorded.of("Secret", "ExternalSecret") if o.namespace == NODES_NAMESPACE]
    assert secrets == (["loki-push"] if recorded.settings.layer.logs != "off" else [])
