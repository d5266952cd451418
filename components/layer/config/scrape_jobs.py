"""What Prometheus scrapes, and under which labels.

- Every target has the label `cluster`; external_labels would reach only what is sent on.
- `namespace` comes from discovery. Where a target has none (the kubelet, kube-state-metrics) the exporter is trusted to
  name the namespaces that it reports on; where a tenant answers, its own word never counts.
- `instance` of what exists once per node is the node, so that a new agent pod continues the series of the old one.
- No job follows a redirect: a pod could otherwise point the scrape at another tenant's metrics and get them under its
  own name, or at a service that trusts Prometheus' address.
"""

from typing import Any

from components import names
from components.layer import parts
from components.layer.config import alloy_host
from components.layer.config.relabel import (
    CONTAINER_PORT_NAME,
    CONTAINER_PORT_PROTOCOL,
    METRICS,
    NAMESPACE,
    POD,
    POD_NODE,
    POD_PHASE,
    PORT,
    TENANT,
    TENANT_NAME,
    Rule,
    address,
    address_from,
    constant,
    copy,
    drop,
    keep,
    meta,
    to_prometheus,
)
from components.settings.model import ExistingExporter, MetricsStore, Settings

Job = dict[str, Any]

# Mounted from the layer's Secret.
CREDENTIAL_FOLDER = "/etc/prometheus-credential"
PASSWORD_FILE = "password"  # noqa: S105 - a file's name
LOKI_TOKEN_FILE = "loki-token"  # noqa: S105 - a file's name
USER = "layer"
OWN_BASIC_AUTH = {"username": USER, "password_file": f"{CREDENTIAL_FOLDER}/{PASSWORD_FILE}"}

# The pod's own service account. The CA signs the API server's certificate and, on EKS, the kubelets' serving
# certificates: checked, or the token would be sent to whatever answers at a node's address.
SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
_CLUSTER_HTTPS: Job = {
    "scheme": "https",
    "authorization": {"type": "Bearer", "credentials_file": f"{SERVICE_ACCOUNT_FOLDER}/token"},
    "tls_config": {"ca_file": f"{SERVICE_ACCOUNT_FOLDER}/ca.crt"},
}

# Limits of a tenant's target; the whole scrape fails above them, and only that target's.
LABEL_LIMIT = 50
LABEL_NAME_LENGTH = 128
LABEL_VALUE_LENGTH = 1024
BYTES_PER_SAMPLE = 512  # generous: a line of node-exporter has about 90

# Finished pods keep their address, so they would be targets for good. Pending ones without an address are not listed.
_RUNNING = keep(POD_PHASE, "Running|Pending")
_SCRAPE, _PORT, _PATH, _SCHEME = (
    meta("pod_annotation", f"prometheus.io/{name}") for name in ("scrape", "port", "path", "scheme")
)


def scrape_jobs(settings: Settings, store: MetricsStore, *, target_limit: int) -> list[Job]:
    """All jobs, in the order in which a reader looks for them."""
    cluster = settings.cluster.name
    return [
        _kubelet(cluster),
        _cadvisor(cluster),
        *_node_exporter(cluster, settings),
        _kube_state_metrics(cluster),
        _api_server(cluster),
        *_layer(cluster, settings),
        _annotated_pods(cluster, store, target_limit),
        _annotated_pods_by_port_name(cluster, store, target_limit),
    ]


def _job(name: str, cluster: str, rules: tuple[Rule, ...] = (), **more: Any) -> Job:
    """What all jobs have in common."""
    labels = (constant("cluster", cluster),)
    job: Job = {"job_name": name, "follow_redirects": False, **more}
    return {**job, "relabel_configs": to_prometheus((*rules, *labels))}


def _pods(
    *, namespace: str | None = None, labels: str | None = None, of_namespace: bool = False
) -> list[Job]:
    discovery: Job = {"role": "pod"}
    if namespace:
        discovery["namespaces"] = {"names": [namespace]}
    if labels:
        discovery["selectors"] = [{"role": "pod", "label": labels}]
    if of_namespace:
        discovery["attach_metadata"] = {"namespace": True}
    return [discovery]


# --- the cluster ------------------------------------------------------------------------------------------------------


def _node_rules() -> tuple[Rule, ...]:
    return (
        keep(meta("node_label", "kubernetes.io/os"), "linux"),
        drop(meta("node_label", "eks.amazonaws.com/compute-type"), "fargate"),
        copy("__meta_kubernetes_node_name", "node"),
        copy("__meta_kubernetes_node_name", "instance"),
    )


def _kubelet(cluster: str) -> Job:
    """Each node's kubelet at the address and port that the node states."""
    return _job("kubelet", cluster, _node_rules(), kubernetes_sd_configs=[{"role": "node"}], **_CLUSTER_HTTPS)


def _cadvisor(cluster: str) -> Job:
    """Containers' use, by the kubelet. Its own timestamps lag by its housekeeping and would keep series of dead
    containers visible for 5 minutes, so the scrape's count."""
    return _job(
        "cadvisor",
        cluster,
        _node_rules(),
        metrics_path="/metrics/cadvisor",
        honor_timestamps=False,
        kubernetes_sd_configs=[{"role": "node"}],
        **_CLUSTER_HTTPS,
    )


def _node_exporter(cluster: str, settings: Settings) -> list[Job]:
    """Ours, Alloy's, somebody else's, or none. No target of a tenant, whatever labels its pods carry: without that, a
    pod that calls itself an exporter could report on nodes."""
    exporter = settings.layer.host_metrics
    if isinstance(exporter, ExistingExporter):
        labels = ",".join(f"{key}={value}" for key, value in sorted(exporter.selector.items()))
        pods = _pods(namespace=exporter.namespace, labels=labels, of_namespace=True)
        rules: tuple[Rule, ...] = (drop(TENANT, ".+"), *_agent_rules(exporter.port))
        return [_job("node-exporter", cluster, rules, kubernetes_sd_configs=pods)]
    if exporter == "node-exporter":
        pods, rules = _agents(names.NODE_EXPORTER), _agent_rules(names.NODE_EXPORTER_PORT)
        return [_job("node-exporter", cluster, rules, kubernetes_sd_configs=pods)]
    if (
        exporter == "alloy"
    ):  # the same labels, `job` too: whoever asks for a node need not know who measures it
        pods, rules = _agents(names.ALLOY), _agent_rules(names.ALLOY_PORT)
        path = alloy_host.METRICS_PATH
        return [_job("node-exporter", cluster, rules, metrics_path=path, kubernetes_sd_configs=pods)]
    return []


def _agents(app: str) -> list[Job]:
    return _pods(namespace=names.NODES_NAMESPACE, labels=f"app.kubernetes.io/name={app}")


def _agent_rules(port: int) -> tuple[Rule, ...]:
    """One target per pod, whatever ports it declares: all of them get the same address and collapse."""
    return (
        _RUNNING,
        *address(str(port)),
        copy(NAMESPACE, "namespace"),
        copy(POD_NODE, "node"),
        copy(POD_NODE, "instance"),
    )


def _kube_state_metrics(cluster: str) -> Job:
    """Scraped once, by its service. Its labels win: `namespace` is that of the object it reports on."""
    target = f"{names.KUBE_STATE_METRICS}.{names.LAYER_NAMESPACE}.svc:{names.KUBE_STATE_METRICS_PORT}"
    return _job("kube-state-metrics", cluster, honor_labels=True, static_configs=[{"targets": [target]}])


# Of an API server's metrics. All of them would be the largest job by far, histograms by verb and resource above all
# (kube-prometheus drops most of them), and nothing here asks for them.
API_SERVER_METRICS = (
    "apiserver_request_total",
    "apiserver_request_duration_seconds_(sum|count)",
    "apiserver_current_inflight_requests",
    "apiserver_requested_deprecated_apis",
    "process_start_time_seconds",
)


def _api_server(cluster: str) -> Job:
    """Every API server behind the service `kubernetes`. Their certificates name the service, not their addresses."""
    rules = (
        keep("__meta_kubernetes_service_name", "kubernetes"),
        keep("__meta_kubernetes_endpointslice_port_name", "https"),
    )
    tls = {**_CLUSTER_HTTPS["tls_config"], "server_name": "kubernetes.default.svc"}
    discovery = [{"role": "endpointslice", "namespaces": {"names": ["default"]}}]
    https = {**_CLUSTER_HTTPS, "tls_config": tls}
    kept = to_prometheus([keep("__name__", "|".join(API_SERVER_METRICS))])
    return _job(
        "apiserver", cluster, rules, kubernetes_sd_configs=discovery, metric_relabel_configs=kept, **https
    )


# --- the layer itself -------------------------------------------------------------------------------------------------


def _layer(cluster: str, settings: Settings) -> list[Job]:
    """The layer's own parts; the stores want its credential."""
    own: Job = {"labels": {"namespace": names.LAYER_NAMESPACE}}
    prometheus = [{"targets": [f"localhost:{names.PROMETHEUS_PORT}"], **own}]
    loki = [{"targets": [f"{names.LOKI}.{names.LAYER_NAMESPACE}.svc:{names.LOKI_PORT}"], **own}]
    bearer = {"type": "Bearer", "credentials_file": f"{CREDENTIAL_FOLDER}/{LOKI_TOKEN_FILE}"}
    jobs = {
        names.ALLOY: _job(
            "alloy", cluster, _agent_rules(names.ALLOY_PORT), kubernetes_sd_configs=_agents(names.ALLOY)
        ),
        names.LOKI: _job("loki", cluster, authorization=bearer, static_configs=loki),
        names.PROMETHEUS: _job("prometheus", cluster, basic_auth=OWN_BASIC_AUTH, static_configs=prometheus),
    }
    return [job for app, job in jobs.items() if app in parts.all_apps(settings)]


# --- tenants ----------------------------------------------------------------------------------------------------------


def _annotated_pods(cluster: str, store: MetricsStore, target_limit: int) -> Job:
    """Pods whose annotation names the port: exactly one target each, whatever containers and ports they have.

    So the target limit, at which Prometheus fails all targets of a job, is out of any tenant's reach: there are at most
    as many targets as the declared nodes have pod slots.
    """
    rules = (keep(_PORT, PORT), *_tenant_rules(), *address_from(_PORT))
    return _tenant_job("pods", cluster, rules, store, target_limit)


def _annotated_pods_by_port_name(cluster: str, store: MetricsStore, target_limit: int) -> Job:
    """Pods without that annotation: the port that they declare as `metrics`.

    A job of its own, since here a pod can be several targets: the API server allows the same port name in several
    containers. Who floods it fails the targets of this job only; an annotation takes a pod out of its reach. Both jobs
    have the same label `job`, so moving between them changes no series.
    """
    named = (
        drop(_PORT, ".+"),
        keep(CONTAINER_PORT_NAME, "metrics"),
        keep(CONTAINER_PORT_PROTOCOL, "TCP"),
    )
    rules = (*named, *_tenant_rules(), constant("job", "pods"))
    return _tenant_job("pods-by-port-name", cluster, rules, store, target_limit)


def _tenant_job(
    name: str, cluster: str, rules: tuple[Rule, ...], store: MetricsStore, target_limit: int
) -> Job:
    samples = store.samples_per_target
    return _job(
        name,
        cluster,
        rules,
        honor_labels=False,
        honor_timestamps=False,  # a tenant's timestamps could fill the past or the future of a shared store
        sample_limit=samples,
        label_limit=LABEL_LIMIT,
        label_name_length_limit=LABEL_NAME_LENGTH,
        label_value_length_limit=LABEL_VALUE_LENGTH,
        body_size_limit=f"{max(1, samples * BYTES_PER_SAMPLE // 2**20)}MB",
        target_limit=target_limit,
        # Of a page without a Content-Type, or with one that is no format: Prometheus 2 took it for text, 3 fails it.
        fallback_scrape_protocol="PrometheusText0.0.4",
        # Pods have no certificate that names their address, and no credential is sent to them.
        tls_config={"insecure_skip_verify": True},
        kubernetes_sd_configs=_pods(of_namespace=True),
    )


def _tenant_rules() -> tuple[Rule, ...]:
    """Which pods, and what of their word counts: path and scheme (and the port), nothing of the host or the labels.

    No label of a container is taken over, so the targets of a pod's several ports and containers become one.
    """
    return (
        keep(METRICS, "true"),
        keep(TENANT, TENANT_NAME),
        keep(_SCRAPE, "true"),
        _RUNNING,
        Rule((_PATH,), regex="(/[-A-Za-z0-9._~/]{0,255})", target_label="__metrics_path__"),
        Rule((_SCHEME,), regex="(https?)", target_label="__scheme__"),
        copy(TENANT, "tenant"),
        copy(NAMESPACE, "namespace"),
        copy(POD, "pod"),
    )
