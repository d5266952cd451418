"""What is off is absent, and what others do already is not done twice."""

from typing import Any

import pytest
import yaml

from components import names
from components.cluster.ownership import GUARD_KINDS
from components.layer.config import alloy_host
from tests.support.environments import INCIDENT, changed
from tests.unit.components.environments import EXISTING, VARIANTS, Environment, environment

LAYER = names.LAYER_NAMESPACE
METRICS_OBJECTS = {
    "Deployment": {names.PROMETHEUS, names.KUBE_STATE_METRICS, names.GATEWAY},
    "DaemonSet": {names.NODE_EXPORTER},
    "PersistentVolumeClaim": {names.PROMETHEUS},
    "ClusterRole": {names.PROMETHEUS_ROLE, names.KUBE_STATE_METRICS_ROLE},
}
LOGS_OBJECTS = {
    "Deployment": {names.LOKI, names.GATEWAY},
    "DaemonSet": {names.ALLOY},
    "PersistentVolumeClaim": {names.LOKI},
    "ClusterRole": {names.ALLOY_ROLE},
}
KINDS = tuple(METRICS_OBJECTS)


def made(recorded: Environment, *kinds: str) -> dict[str, set[str]]:
    """Names by kind of what of the layer makes pods, keeps data or has rights."""
    tenants = recorded.tenant_namespaces
    return {
        kind: {o.name for o in recorded.of(kind) if o.namespace not in tenants} for kind in kinds or KINDS
    }


def scrape_jobs(recorded: Environment) -> dict[str, dict[str, Any]]:
    """Prometheus' jobs by name, as deployed; empty where there is no Prometheus."""
    if not any(o.name == names.PROMETHEUS for o in recorded.of("Deployment")):
        return {}
    pod = recorded.named("Deployment", names.PROMETHEUS).pod or {}
    (mounted,) = (v["configMap"]["name"] for v in pod["volumes"] if "configMap" in v)
    (text,) = recorded.named("ConfigMap", mounted).inputs["data"].values()
    jobs = yaml.safe_load(text)["scrape_configs"]
    assert len({job["job_name"] for job in jobs}) == len(jobs)
    return {job["job_name"]: job for job in jobs}


def test_with_all_signals_on_everything_is_there_once() -> None:
    both = {kind: METRICS_OBJECTS[kind] | LOGS_OBJECTS[kind] for kind in KINDS}
    assert made(environment(VARIANTS["rendered"])) == both


def test_without_metrics_nothing_of_them_is_there_not_even_the_exporter() -> None:
    recorded = environment(VARIANTS["metrics off"])
    assert made(recorded) == LOGS_OBJECTS
    assert {o.name for o in recorded.objects if o.namespace == "default"} == set()


def test_without_logs_nothing_of_them_is_there_and_nothing_scrapes_it() -> None:
    recorded = environment(VARIANTS["logs off"])
    assert made(recorded) == METRICS_OBJECTS
    of_layer = {o.name for o in recorded.of("Secret") if o.namespace not in recorded.tenant_namespaces}
    assert of_layer == {"prometheus-credential", "gateway-tokens-1"}
    assert not {"alloy", "loki"} & set(scrape_jobs(recorded))


def test_without_signals_the_layer_is_two_closed_namespaces_and_a_priority_class() -> None:
    recorded = environment(VARIANTS["both off"])
    of_layer = {str(o) for o in recorded.objects if o.namespace not in recorded.tenant_namespaces}
    of_layer -= {f"Namespace {namespace}" for namespace in recorded.tenant_namespaces}
    assert of_layer == {
        f"Namespace {names.LAYER_NAMESPACE}",
        f"Namespace {names.NODES_NAMESPACE}",
        f"PriorityClass {names.AGENTS_PRIORITY_CLASS}",
        f"NetworkPolicy {names.LAYER_NAMESPACE}/default-deny-ingress",
        f"NetworkPolicy {names.NODES_NAMESPACE}/default-deny-ingress",
        *(f"{kind} {guard}" for kind in GUARD_KINDS for guard in names.GUARDS),
    }


@pytest.mark.parametrize("variant", ["exporter of others", "no exporter"])
def test_an_exporter_of_others_or_none_means_none_of_ours(variant: str) -> None:
    recorded = environment(VARIANTS[variant])
    assert made(recorded, "DaemonSet") == {"DaemonSet": {names.ALLOY}}
    assert not [str(o) for o in recorded.objects if names.NODE_EXPORTER in str(o)]


def test_alloy_in_place_of_node_exporter_is_one_agent_per_node_with_the_same_job() -> None:
    recorded = environment(VARIANTS["measured by alloy"])
    assert made(recorded, "DaemonSet") == {"DaemonSet": {names.ALLOY}}
    assert not [str(o) for o in recorded.objects if names.NODE_EXPORTER in str(o)]
    agents = recorded.outputs["podBudget"]["agents"]
    assert (agents["perNode"], agents["pods"]) == (1, 15)
    jobs = scrape_jobs(recorded)
    assert jobs["node-exporter"]["metrics_path"] == alloy_host.METRICS_PATH
    assert jobs["node-exporter"]["relabel_configs"] == jobs["alloy"]["relabel_configs"]
    assert jobs["node-exporter"]["kubernetes_sd_configs"] == jobs["alloy"]["kubernetes_sd_configs"]


def test_prometheus_may_reach_the_alloy_that_measures_nodes_with_logs_off_too() -> None:
    recorded = environment(VARIANTS["measured by alloy, logs off"])
    assert made(recorded, "DaemonSet") == {"DaemonSet": {names.ALLOY}}
    (rule,) = recorded.named("NetworkPolicy", f"allow-{names.ALLOY}").inputs["spec"]["ingress"]
    assert [port["port"] for port in rule["ports"]] == [names.ALLOY_PORT]
    assert {"node-exporter", "alloy"} <= set(scrape_jobs(recorded))


def test_an_alloy_without_logs_has_no_credential_no_right_and_no_root() -> None:
    recorded = environment(VARIANTS["measured by alloy, logs off"])
    assert not [o for o in recorded.of("Secret") if o.namespace == names.NODES_NAMESPACE]
    assert names.ALLOY_ROLE not in {o.name for o in recorded.of("ClusterRole")}
    pod = recorded.named("DaemonSet", names.ALLOY).pod or {}
    assert pod["securityContext"]["runAsUser"] == 65534
    (mounted,) = (v["configMap"]["name"] for v in pod["volumes"] if "configMap" in v)
    (text,) = recorded.named("ConfigMap", mounted).inputs["data"].values()
    assert "loki" not in text


def test_what_the_alloy_that_measures_reads_is_what_its_pod_mounts() -> None:
    pod = environment(VARIANTS["measured by alloy"]).named("DaemonSet", names.ALLOY).pod or {}
    (container,) = pod["containers"]
    mounts = {m["name"]: m for m in container["volumeMounts"]}
    of_node = {v["name"]: v["hostPath"] for v in pod["volumes"] if "hostPath" in v}
    for path in alloy_host.HOST_PATHS:
        assert of_node[path.name] == {"path": path.path, "type": path.kind}
        assert (mounts[path.name]["mountPath"], mounts[path.name]["readOnly"]) == (path.mounted, True)
    assert not pod.get("hostNetwork")
    assert not pod.get("hostPID")


def test_an_exporter_of_others_is_found_by_its_label_and_scraped_by_one_job() -> None:
    jobs = scrape_jobs(environment(VARIANTS["exporter of others"]))
    (discovery,) = jobs["node-exporter"]["kubernetes_sd_configs"]
    assert discovery["selectors"] == [{"role": "pod", "label": "app=their-exporter"}]
    assert "namespaces" not in discovery
    assert f"$1:{EXISTING['port']}" in {
        rule.get("replacement") for rule in jobs["node-exporter"]["relabel_configs"]
    }
    in_one = {**EXISTING, "namespace": "monitoring"}
    jobs = scrape_jobs(environment(changed(INCIDENT, ("layer.hostMetrics", in_one))))
    assert jobs["node-exporter"]["kubernetes_sd_configs"][0]["namespaces"] == {"names": ["monitoring"]}


def test_without_an_exporter_no_job_looks_for_one() -> None:
    jobs = scrape_jobs(environment(VARIANTS["no exporter"]))
    assert "node-exporter" not in jobs
    assert {"kubelet", "cadvisor", "kube-state-metrics"} <= set(jobs)


def test_each_namespace_says_which_of_its_signals_are_collected_and_by_whom(recorded: Environment) -> None:
    for namespace, name in recorded.tenant_namespaces.items():
        tenant = recorded.settings.tenants[name]
        (labelled,) = (
            o for o in recorded.of("Namespace") if o.name == namespace and names.TENANT_LABEL in o.labels
        )
        assert labelled.labels[names.TENANT_LABEL] == name
        assert labelled.labels[names.LOGS_LABEL] == tenant.logs
        assert labelled.labels[names.METRICS_LABEL] == ("true" if tenant.metrics else "false")
        assert labelled.labels.items() >= tenant.labels.items()
        level = labelled.labels.get(names.POD_SECURITY_LABEL)
        assert level == (None if tenant.pod_security == "keep" else tenant.pod_security)


def test_a_namespaces_own_collector_may_read_it_exactly_where_the_node_agents_leave_it_out(
    recorded: Environment,
) -> None:
    own = {
        ns for ns, name in recorded.tenant_namespaces.items() if recorded.settings.tenants[name].logs == "api"
    }
    for kind in ("ServiceAccount", "Role", "RoleBinding"):
        assert {o.namespace for o in recorded.of(kind) if o.name == names.COLLECTOR} == own
    if recorded.settings.layer.logs != "off":
        (text,) = (
            t
            for o in recorded.of("ConfigMap")
            if o.name.startswith("alloy-")
            for t in o.inputs["data"].values()
        )
        assert '"api|off"' in text


def test_the_overrides_of_loki_hold_the_tenants_whose_logs_are_on_and_the_platform_and_no_others(
    recorded: Environment,
) -> None:
    found = [o for o in recorded.of("ConfigMap") if o.name == "loki-overrides"]
    if recorded.settings.layer.logs == "off":
        assert found == []
        return
    (text,) = found[0].inputs["data"].values()
    on = {name for name, tenant in recorded.settings.tenants.items() if tenant.logs != "off"}
    assert set(yaml.safe_load(text)["overrides"]) == {*on, names.PLATFORM_TENANT}
    for name in on:
        stated = yaml.safe_load(text)["overrides"][name]
        assert stated.get("retention_period") == recorded.settings.tenants[name].retention


def test_a_node_more_restarts_no_prometheus() -> None:
    before, after, twice = (
        environment(changed(INCIDENT, ("cluster.nodeGroups.workers.nodes", nodes))) for nodes in (9, 10, 18)
    )
    assert scrape_jobs(before) == scrape_jobs(after)
    assert [o.pod for o in before.of("Deployment") if o.name == names.PROMETHEUS] == [
        o.pod for o in after.of("Deployment") if o.name == names.PROMETHEUS
    ]
    limits = [scrape_jobs(found)["pods"]["target_limit"] for found in (before, twice)]
    assert limits == [1024, 2048]  # 755 and 1,277 pod slots
