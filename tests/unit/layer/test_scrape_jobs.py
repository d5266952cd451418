"""What is scraped, once, and under whose name: decided on the rendered text."""

from typing import Any

import pytest
import yaml

from components import names
from components.layer.config import relabel, scrape_jobs
from components.layer.config.prometheus import prometheus_config
from tests.support.environments import INCIDENT, changed, parsed
from tests.unit.layer.relabelling import targets
from tests.unit.layer.rendered import TENANT_JOBS, jobs
from tests.unit.layer.samples import pod, port

EXISTING = {"kind": "existing", "selector": {"app": "node-exporter"}}
JOBS = jobs()


# --- jobs -------------------------------------------------------------------------------------------------------------

NODES = ["kubelet", "cadvisor"]
LOGS = ["alloy", "loki"]
ALL = [*NODES, "node-exporter", "kube-state-metrics", "apiserver", *LOGS, "prometheus", *TENANT_JOBS]


def test_every_job_is_there_once() -> None:
    text = prometheus_config(parsed(INCIDENT), target_limit=755)
    assert [job["job_name"] for job in yaml.safe_load(text)["scrape_configs"]] == ALL


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        (("layer.logs", "off"), LOGS),
        (("layer.hostMetrics", "none"), ["node-exporter"]),
        (("layer.hostMetrics", "off"), ["node-exporter"]),
        (("layer.hostMetrics", "alloy"), []),
        (("layer.hostMetrics", EXISTING), []),
    ],
)
def test_what_is_off_has_no_job(change: tuple[str, Any], missing: list[str]) -> None:
    changes = (
        [change]
        if change[0] != "layer.logs"
        else [change, *((f"tenants.{t}.logs", "off") for t in INCIDENT["tenants"])]
    )
    assert list(jobs(*changes)) == [name for name in ALL if name not in missing]


def test_without_metrics_there_is_no_configuration() -> None:
    off = changed(
        INCIDENT, ("layer.metrics", "off"), *((f"tenants.{t}.metrics", False) for t in INCIDENT["tenants"])
    )
    with pytest.raises(ValueError, match=r"layer\.metrics is off"):
        prometheus_config(parsed(off), target_limit=755)


def test_adding_or_removing_a_tenant_changes_no_byte() -> None:
    before = prometheus_config(parsed(INCIDENT), target_limit=755)
    more = changed(INCIDENT, ("tenants.quagga", {"pods": 5}), ("tenants.shop", None))
    assert prometheus_config(parsed(more), target_limit=755) == before
    assert "quagga" not in before
    assert "shop" not in before


def test_every_sample_carries_the_cluster() -> None:
    for name, job in JOBS.items():
        assert job["relabel_configs"][-1] == {"target_label": "cluster", "replacement": "dev"}, name


def test_only_kube_state_metrics_may_name_the_namespace_of_its_samples() -> None:
    assert [name for name, job in JOBS.items() if job.get("honor_labels")] == ["kube-state-metrics"]
    target = JOBS["kube-state-metrics"]["static_configs"]
    assert target == [{"targets": ["kube-state-metrics.observability.svc:8080"]}]


def test_no_job_follows_a_redirect() -> None:
    assert [name for name, job in JOBS.items() if job["follow_redirects"] is not False] == []


def test_the_service_accounts_token_goes_only_to_what_shows_the_clusters_certificate() -> None:
    token = f"{scrape_jobs.SERVICE_ACCOUNT_FOLDER}/token"
    with_token = [
        n for n, job in JOBS.items() if job.get("authorization", {}).get("credentials_file") == token
    ]
    assert with_token == [*NODES, "apiserver"]
    for name in with_token:
        assert JOBS[name]["scheme"] == "https"
        assert JOBS[name]["tls_config"]["ca_file"] == f"{scrape_jobs.SERVICE_ACCOUNT_FOLDER}/ca.crt"
        assert "insecure_skip_verify" not in JOBS[name]["tls_config"]


def test_tenants_targets_get_no_credential() -> None:
    for name in TENANT_JOBS:
        assert {"authorization", "basic_auth", "oauth2", "params"}.isdisjoint(JOBS[name])


def test_the_stores_are_scraped_with_the_layers_credential() -> None:
    assert JOBS["loki"]["authorization"]["credentials_file"] == "/etc/prometheus-credential/loki-token"
    assert JOBS["prometheus"]["basic_auth"] == {
        "username": "layer",
        "password_file": "/etc/prometheus-credential/password",
    }


# --- nodes and agents -------------------------------------------------------------------------------------------------


def node(name: str, **labels: str) -> dict[str, str]:
    of_node = {relabel.meta("node_label", key): value for key, value in labels.items()}
    return {"__address__": "10.0.1.2:10250", "__meta_kubernetes_node_name": name, **of_node}


LINUX = node("linux", **{"kubernetes.io/os": "linux"})
WINDOWS = node("windows", **{"kubernetes.io/os": "windows"})
FARGATE = node("fargate", **{"kubernetes.io/os": "linux", "eks.amazonaws.com/compute-type": "fargate"})
AUTO = node("auto", **{"kubernetes.io/os": "linux", "eks.amazonaws.com/compute-type": "auto"})


@pytest.mark.parametrize(("name", "path"), [("kubelet", "/metrics"), ("cadvisor", "/metrics/cadvisor")])
def test_linux_nodes_are_scraped_at_their_own_address_and_fargate_is_not(name: str, path: str) -> None:
    found = targets(JOBS[name], [LINUX, WINDOWS, FARGATE, AUTO])
    assert {target.of["node"] for target in found} == {"linux", "auto"}
    assert {target.url for target in found} == {f"https://10.0.1.2:10250{path}"}
    assert all(target.of["instance"] == target.of["node"] for target in found)


@pytest.mark.parametrize(("name", "number"), [("node-exporter", 9100), ("alloy", 12345)])
def test_an_agent_is_one_target_whatever_ports_it_declares(name: str, number: int) -> None:
    agent = pod(namespace=names.NODES_NAMESPACE, of_namespace={})
    found = targets(
        JOBS[name], [agent, port(agent, number, "metrics"), port(agent, 1, "other", container="second")]
    )
    assert [target.url for target in found] == [f"http://10.0.0.7:{number}/metrics"]
    assert found.pop().of == {
        "job": name,
        "cluster": "dev",
        "instance": "node-1",
        "node": "node-1",
        "namespace": names.NODES_NAMESPACE,
    }
    discovery = JOBS[name]["kubernetes_sd_configs"][0]
    assert discovery["namespaces"] == {"names": [names.NODES_NAMESPACE]}
    assert discovery["selectors"] == [{"role": "pod", "label": f"app.kubernetes.io/name={name}"}]


def test_alloy_answers_for_a_node_under_the_labels_of_node_exporter() -> None:
    agent = pod(namespace=names.NODES_NAMESPACE, of_namespace={})
    (ours,) = targets(jobs(("layer.hostMetrics", "alloy"))["node-exporter"], [agent, port(agent, 1, "http")])
    (theirs,) = targets(JOBS["node-exporter"], [agent, port(agent, 1, "metrics")])
    assert ours.of == theirs.of
    assert ours.url == "http://10.0.0.7:12345/api/v0/component/prometheus.exporter.unix.node/metrics"


@pytest.mark.parametrize("name", ["node-exporter", "alloy"])
def test_an_agent_may_have_an_ipv6_address(name: str) -> None:
    agent = pod(namespace=names.NODES_NAMESPACE, of_namespace={}, ip="2001:db8::7")
    found = targets(JOBS[name], [agent, port(agent, 1, "metrics")])
    assert [target.url.rsplit(":", 1)[0] for target in found] == ["http://[2001:db8::7]"]


def test_somebody_elses_exporter_is_found_by_its_labels_and_never_in_a_tenants_namespace() -> None:
    job = jobs(("layer.hostMetrics", {**EXISTING, "selector": {"b": "2", "a": "1"}, "port": 9101}))[
        "node-exporter"
    ]
    discovery = job["kubernetes_sd_configs"][0]
    assert discovery["selectors"] == [{"role": "pod", "label": "a=1,b=2"}]
    assert discovery["attach_metadata"] == {"namespace": True}
    foreign = targets(job, [pod(namespace="monitoring", of_namespace={}), pod()])
    assert [(target.url, target.of["namespace"]) for target in foreign] == [
        ("http://10.0.0.7:9101/metrics", "monitoring")
    ]


def test_an_existing_exporters_namespace_narrows_the_discovery() -> None:
    job = jobs(("layer.hostMetrics", {**EXISTING, "namespace": "monitoring"}))["node-exporter"]
    assert job["kubernetes_sd_configs"][0]["namespaces"] == {"names": ["monitoring"]}


def test_the_api_server_is_found_in_the_namespace_default_only() -> None:
    assert JOBS["apiserver"]["kubernetes_sd_configs"] == [
        {"role": "endpointslice", "namespaces": {"names": ["default"]}}
    ]
    service, name = "__meta_kubernetes_service_name", "__meta_kubernetes_endpointslice_port_name"
    address = {"__address__": "10.1.1.1:443"}
    found = targets(
        JOBS["apiserver"],
        [
            {**address, service: "kubernetes", name: "https"},
            {**address, service: "kubernetes", name: "other"},
            {**address, service: "kubernetes2", name: "https"},
        ],
    )
    assert [target.url for target in found] == ["https://10.1.1.1:443/metrics"]
