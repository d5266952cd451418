"""What the deployed Prometheus scrapes, each target exactly once, and which logs an agent would read by its rules."""

from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import yaml

from components import names
from simulator import nodes, teams
from simulator.control_plane import ControlPlane
from tests.cluster.deployed import environment
from tests.cluster.deployed.prometheus import ADDED, AGENT_JOB, PATHS, Server, differences, named, running
from tests.support import manifests
from tests.support.deployment import Deployment
from tests.support.kube import Kube, Object

GRAFANA = 1  # of the team's own
API_SERVER = "192.0.2.10"  # an address of documentation: nothing is there
IPV6 = "fd00::6"
UNLABELLED, MALFORMED = "legacy", "malformed"
METRICS_PORT = {"name": "metrics", "containerPort": 9200, "protocol": "TCP"}
HTTP_PORT = {"name": "http", "containerPort": 8080, "protocol": "TCP"}
TENANTS = {
    "shop": "shop",
    "billing": "billing",
    "mobile": "mobile",
    "search-api": "search",
    "search-index": "search",
}


def scraped(**more: str) -> dict[str, str]:
    """Annotations of a pod that wants to be scraped."""
    return {f"prometheus.io/{key}": value for key, value in {"scrape": "true", **more}.items()}


def pod(
    namespace: str, name: str, annotations: dict[str, str], *ports: Object, containers: int = 1
) -> Object:
    """A pod with ports in each of its containers."""
    return manifests.pod(namespace, name, annotations=annotations, ports=list(ports), containers=containers)


# By the target's address: port and path of the pod's own address.
ONCE = {
    "two-ports": ":9200/metrics",
    "two-containers": ":9200/metrics",
    "no-ports": ":9300/metrics",
    "own-path": ":9300/own/path",
    "six": ":9300/metrics",
    "other-path": ":9300//192.0.2.99/steal",
    "other-scheme": ":9300/metrics",
}
BY_NAME = {"port-name": ":9200/metrics"}


def tenants_pods() -> list[Object]:
    """Pods of a tenant whose pods are scraped: well-behaved ones, and ones that point elsewhere."""
    port = scraped(port="9300")
    return [
        pod("shop", "two-ports", scraped(port="9200"), METRICS_PORT, HTTP_PORT),
        pod("shop", "two-containers", scraped(port="9200"), METRICS_PORT, HTTP_PORT, containers=2),
        pod("shop", "no-ports", port),
        pod("shop", "own-path", scraped(port="9300", path="/own/path")),
        pod("shop", "six", port),
        pod("shop", "other-path", scraped(port="9300", path="//192.0.2.99/steal")),
        pod("shop", "other-scheme", scraped(port="9300", scheme="file")),
        pod("shop", "other-address", scraped(port="192.0.2.99:80")),
        pod("shop", "other-user", scraped(port="80@192.0.2.99")),
        pod("shop", "port-name", scraped(), METRICS_PORT, HTTP_PORT),
        pod("shop", "finished", port),
        pod("shop", "silent", {}, METRICS_PORT),
    ]


def foreign_pods() -> list[Object]:
    """Pods that want to be scraped and must not be."""
    return [
        pod(namespace, "wants", scraped(port="9300"), METRICS_PORT)
        for namespace in ("billing", UNLABELLED, MALFORMED)
    ]


def api_servers() -> Object:
    """The endpoint of the Service `kubernetes`, which a simulated cluster lacks."""
    labels = {"kubernetes.io/service-name": "kubernetes"}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "kubernetes", "namespace": "default", "labels": labels},
        "addressType": "IPv4",
        "ports": [{"name": "https", "port": 443, "protocol": "TCP"}],
        "endpoints": [{"addresses": [API_SERVER]}],
    }


@pytest.fixture(scope="module")
def server(
    deployed: Deployment, kube: Kube, control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Prometheus among those pods, with all its targets found."""
    ours = {names.TENANT_LABEL: "Not_A_Name", names.METRICS_LABEL: "true", names.LOGS_LABEL: "node"}
    kube.apply(manifests.namespace(UNLABELLED), manifests.namespace(MALFORMED, **ours), api_servers())
    made = [*tenants_pods(), *foreign_pods()]
    kube.apply(*made)
    kube.wait_for_pods(len(tenants_pods()) + teams.REPLICAS + GRAFANA, "shop")
    kube.patch("pods", "six", {"status": {"podIP": IPV6, "podIPs": [{"ip": IPV6}]}}, "shop", sub="status")
    kube.patch("pods", "finished", {"status": {"phase": "Succeeded"}}, "shop", sub="status")
    try:
        with running(kube, control_plane, tmp_path_factory.mktemp("prometheus")) as found:
            found.wait_for(expected())
            yield found
    finally:
        for manifest in made:
            kube.delete("pods", manifest["metadata"]["name"], manifest["metadata"]["namespace"], now=True)
        kube.delete("endpointslices", "kubernetes", "default")
        for namespace in (UNLABELLED, MALFORMED):
            kube.remove_namespace(namespace)


def expected() -> dict[str, Counter[str]]:
    """Every job's targets, each once."""
    declared = [node["metadata"]["name"] for node in environment.declared_nodes()]
    kubelets = [*declared, nodes.undeclared()["metadata"]["name"]]  # not those of Fargate and Windows
    return {
        "kubelet": Counter(kubelets),
        "cadvisor": Counter(kubelets),
        "node-exporter": Counter(declared),
        "alloy": Counter(declared),
        "kube-state-metrics": Counter(["kube-state-metrics.observability.svc:8080"]),
        "apiserver": Counter([f"{API_SERVER}:443"]),
        "loki": Counter(["loki.observability.svc:3100"]),
        "prometheus": Counter(["localhost:9090"]),
        "pods": Counter(f"shop/{name}" for name in ONCE),
        "pods-by-port-name": Counter(f"shop/{name}" for name in BY_NAME),
    }


def test_the_configuration_differs_from_the_deployed_one_in_address_and_credentials_only(
    server: Server,
) -> None:
    deployed = yaml.safe_load(server.files.config)
    changes = list(differences(deployed, server.given))
    discoveries = [
        (i, j)
        for i, job in enumerate(deployed["scrape_configs"])
        for j, _ in enumerate(job.get("kubernetes_sd_configs", []))
    ]
    added = {("scrape_configs", i, "kubernetes_sd_configs", j, key) for i, j in discoveries for key in ADDED}
    assert added <= set(changes)
    rest = set(changes) - added
    assert {path[-1] for path in rest} == set(PATHS)
    assert len(discoveries) == 7


def test_each_target_is_scraped_exactly_once_and_nothing_else_is(server: Server) -> None:
    found = named(server.targets())
    assert {job: targets for job, targets in found.items() if job != AGENT_JOB} == expected()


def test_a_pods_annotations_choose_port_and_path_and_never_the_address(server: Server, kube: Kube) -> None:
    urls = {t["labels"]["pod"]: t["scrapeUrl"] for t in server.targets() if t["labels"]["job"] == "pods"}
    wanted = {}
    for name, ending in {**ONCE, **BY_NAME}.items():
        address = kube.get("pods", name, "shop")["status"]["podIP"]
        host = f"[{address}]" if ":" in address else address
        wanted[name] = f"http://{host}{ending}"
    assert urls == wanted
    assert wanted["six"].startswith(f"http://[{IPV6}]:")
    assert {urlsplit(url).hostname for url in urls.values()}.isdisjoint({"192.0.2.99"})


def test_a_tenants_targets_carry_its_name_and_namespace(server: Server) -> None:
    pods = [target["labels"] for target in server.targets() if target["labels"]["job"] == "pods"]
    assert {(labels["tenant"], labels["namespace"], labels["cluster"]) for labels in pods} == {
        ("shop", "shop", "sim")
    }


def test_a_namespaces_label_brings_its_targets_and_without_it_they_go(server: Server, kube: Kube) -> None:
    labels: dict[str, str | None] = {names.TENANT_LABEL: "legacy", names.METRICS_LABEL: "true"}
    kube.patch("namespaces", UNLABELLED, {"metadata": {"labels": labels}})
    more = expected()
    more["pods"] += Counter([f"{UNLABELLED}/wants"])
    server.wait_for(more)
    kube.patch("namespaces", UNLABELLED, {"metadata": {"labels": dict.fromkeys(labels)}})
    server.wait_for(expected())


def test_it_answers_to_the_layers_credential_only(server: Server) -> None:
    for path in ("/api/v1/targets", "/metrics", "/-/ready", "/"):
        assert server.status(path, password="guessed") == 401


# --- what a node agent would read ---


def test_an_agent_reads_every_container_but_those_of_namespaces_without_or_with_own_collection(
    server: Server, kube: Kube
) -> None:
    read = {(labels["namespace"], labels["pod"], labels["container"]) for labels in agents_targets(server)}
    wanted = {
        (pod["metadata"]["namespace"], pod["metadata"]["name"], container["name"])
        for pod in kube.list("pods")
        for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
        if pod["metadata"]["namespace"] not in {"edge", "reports"}
    }
    assert read == wanted
    left_out = [len(kube.list("pods", namespace)) for namespace in ("edge", "reports")]
    assert left_out == [teams.REPLICAS + environment.OWN_PODS, teams.REPLICAS + GRAFANA]


def test_an_agent_writes_lines_to_their_namespaces_tenant_and_the_rest_to_the_platform(
    server: Server,
) -> None:
    found = {(labels["namespace"], labels["tenant"]) for labels in agents_targets(server)}
    platform = (names.LAYER_NAMESPACE, names.NODES_NAMESPACE, UNLABELLED, MALFORMED)
    assert found == {*TENANTS.items(), *((namespace, "platform") for namespace in platform)}


def test_an_agent_finds_each_containers_files_by_the_pods_uid(server: Server, kube: Kube) -> None:
    uids = {
        (p["metadata"]["namespace"], p["metadata"]["name"]): p["metadata"]["uid"] for p in kube.list("pods")
    }
    for labels in agents_targets(server):
        namespace, pod = labels["namespace"], labels["pod"]
        folder = f"{namespace}_{pod}_{uids[namespace, pod]}"
        assert labels["path"] == f"/var/log/pods/{folder}/{labels['container']}/*.log"


def agents_targets(server: Server) -> list[dict[str, str]]:
    """Labels of what the agents' rules keep."""
    return [target["labels"] for target in server.targets() if target["scrapePool"] == AGENT_JOB]
