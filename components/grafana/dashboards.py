"""The dashboards that every Grafana has: an overview of namespaces by metrics, and their logs. Pure.

Only metrics that carry `namespace` are asked for: what a tenant reads is scoped by it, and metrics of nodes are no
tenant's. So the use of memory and CPU is compared with requests and limits, never with a node.
"""

import functools
import json
from collections.abc import Mapping, Sequence

from components.grafana.panels import (
    RED,
    YELLOW,
    Json,
    Query,
    Row,
    choice,
    dashboard,
    log_lines,
    stat,
    table,
    text_box,
    timeseries,
)
from components.grafana.sources import LOGS, METRICS, Source
from components.names import PODS_QUOTA

OVERVIEW, LINES = "namespace-overview", "logs"
IN = 'namespace=~"$namespace"'
CONTAINERS = f'{IN}, container!="", container!="POD"'
POD = "{{namespace}} {{pod}}"
CONTAINER = "{{namespace}} {{pod}} {{container}}"


@functools.cache  # equal for all tenants with the same signals
def texts(sources: tuple[Source, ...]) -> Mapping[str, str]:
    """Each dashboard as JSON, by its uid; only those whose source is there."""
    made = [namespace_overview()] if METRICS in sources else []
    made += [log_explorer(sources)] if LOGS in sources else []
    # Compact: every tenant has a copy in the state.
    return {found["uid"]: json.dumps(found, separators=(",", ":")) for found in made}


def namespace_overview() -> Json:
    """What runs, what does not, and what it takes."""
    namespace = choice("namespace", "Namespace", METRICS, "label_values(kube_pod_info, namespace)")
    return dashboard(
        OVERVIEW,
        "Namespace overview",
        "Pods, what they use of what they asked for, and whether their own metrics arrive.",
        variables=[namespace],
        rows=[
            Row("Now", 4, _now()),
            Row("Pods", 8, _pods()),
            Row("CPU", 8, _cpu()),
            Row("Memory", 8, _memory()),
            Row("Network and volumes", 8, _network_and_volumes()),
            Row("The apps' own metrics", 8, _own_metrics()),
        ],
    )


def _quota(kind: str) -> str:
    quota = f'{IN}, resourcequota="{PODS_QUOTA}", resource="pods", type="{kind}"'
    return f"sum by (namespace) (kube_resourcequota{{{quota}}})"


def _now() -> list[Json]:
    alive = f'kube_pod_status_phase{{{IN}, phase=~"Pending|Running|Unknown"}} == 1'
    unready = f'kube_pod_status_ready{{{IN}, condition="true"}} == 0'
    return [
        stat("Quota of pods in use", METRICS, Query(f"{_quota('used')} / {_quota('hard')}", "{{namespace}}"),
             unit="percentunit", steps={YELLOW: 0.8, RED: 0.95},
             says="At 100 % the API server refuses new pods, those of a rollout too."),
        stat("Pods that run", METRICS, Query(f'sum(kube_pod_status_phase{{{IN}, phase="Running"}})'),
             unit="short", steps={}, says="Pods in phase Running."),
        stat("Pods that are not ready", METRICS,
             Query(f"count(({unready}) and on (namespace, pod) ({alive})) or vector(0)"),
             unit="short", steps={YELLOW: 1}, says="Finished pods do not count."),
        stat("Restarts in the last hour", METRICS,
             Query(f"sum(increase(kube_pod_container_status_restarts_total{{{IN}}}[1h]))"),
             unit="short", steps={YELLOW: 1, RED: 10}, says="Of all containers together."),
    ]  # fmt: skip


def _pods() -> list[Json]:
    waiting = (
        f"sum by (namespace, pod, container, reason) (kube_pod_container_status_waiting_reason{{{IN}}}) > 0"
    )
    deployments = f"sum by (namespace, deployment) (kube_deployment_status_replicas_unavailable{{{IN}}}) > 0"
    wanted = f"sum by (namespace, statefulset) (kube_statefulset_replicas{{{IN}}})"
    ready = f"sum by (namespace, statefulset) (kube_statefulset_status_replicas_ready{{{IN}}})"
    return [
        timeseries("Pods by phase", METRICS,
                   Query(f"sum by (phase) (kube_pod_status_phase{{{IN}}}) > 0", "{{phase}}"),
                   unit="short", stacked=True, says="Pending for long: kubectl describe pod says why."),
        table("Containers that wait", METRICS, Query(waiting), says="And the reason, in Kubernetes' own words."),
        timeseries("Replicas that are missing", METRICS,
                   Query(deployments, "{{namespace}} {{deployment}}"),
                   Query(f"{wanted} - {ready} > 0", "{{namespace}} {{statefulset}}"),
                   unit="short", says="Of Deployments and StatefulSets: wanted, and not available."),
    ]  # fmt: skip


def _cpu() -> list[Json]:
    used = (
        f"sum by (namespace, pod) (rate(container_cpu_usage_seconds_total{{{CONTAINERS}}}[$__rate_interval]))"
    )
    asked = f'sum by (namespace, pod) (kube_pod_container_resource_requests{{{IN}, resource="cpu"}})'
    throttled, periods = (
        f"sum by (namespace, pod) (rate(container_cpu_cfs_{kind}_total{{{CONTAINERS}}}[$__rate_interval]))"
        for kind in ("throttled_periods", "periods")
    )
    return [
        timeseries("CPU in use", METRICS, Query(used, POD), unit="short", says="Cores."),
        timeseries("CPU, as a share of what was requested", METRICS, Query(f"{used} / {asked}", POD),
                   unit="percentunit", says="Above 100 % a pod lives on what others leave."),
        timeseries("CPU throttled", METRICS, Query(f"{throttled} / {periods}", POD), unit="percentunit",
                   says="Share of the periods in which the CPU limit stopped a container."),
    ]  # fmt: skip


def _memory() -> list[Json]:
    by = "max by (namespace, pod, container)"
    used = f"{by} (container_memory_working_set_bytes{{{CONTAINERS}}})"
    limit = f'{by} (kube_pod_container_resource_limits{{{IN}, resource="memory"}})'
    killed = f'kube_pod_container_status_last_terminated_reason{{{IN}, reason="OOMKilled"}}'
    return [
        timeseries("Memory in use", METRICS, Query(used, CONTAINER), unit="bytes",
                   says="The working set: what counts against the limit."),
        timeseries("Memory, as a share of the limit", METRICS, Query(f"{used} / {limit}", CONTAINER),
                   unit="percentunit", says="At 100 % the container is killed."),
        table("Killed for their memory", METRICS, Query(f"{by} ({killed}) > 0"),
              says="Containers whose last end was OOMKilled."),
    ]  # fmt: skip


def _network_and_volumes() -> list[Json]:
    received, sent = (
        f"sum by (namespace, pod) (rate(container_network_{kind}_bytes_total{{{IN}}}[$__rate_interval]))"
        for kind in ("receive", "transmit")
    )
    used, size = (
        f"max by (namespace, persistentvolumeclaim) (kubelet_volume_stats_{kind}_bytes{{{IN}}})"
        for kind in ("used", "capacity")
    )
    return [
        timeseries("Received", METRICS, Query(received, POD), unit="Bps", says="By pod."),
        timeseries("Sent", METRICS, Query(sent, POD), unit="Bps", says="By pod."),
        timeseries("Volumes in use", METRICS, Query(f"{used} / {size}", "{{namespace}} {{persistentvolumeclaim}}"),
                   unit="percentunit", says="Share of each volume that is mounted."),
    ]  # fmt: skip


def _own_metrics() -> list[Json]:
    targets = f'up{{{IN}, job="pods"}}'
    samples = f'max by (namespace, pod) (scrape_samples_scraped{{{IN}, job="pods"}})'
    return [
        timeseries("Pods that are scraped", METRICS,
                   Query(f"sum by (namespace) ({targets})", "{{namespace}}: answer"),
                   Query(f"count by (namespace) ({targets})", "{{namespace}}: found"),
                   unit="short", says="Pods with the annotation prometheus.io/scrape."),
        table("Targets that fail", METRICS, Query(f"max by (namespace, pod, instance) ({targets}) == 0"),
              says="Wrong port or path, no answer, or more samples than a target may have."),
        timeseries("Samples by scrape", METRICS, Query(samples, POD), unit="short",
                   says="Above the layer's limit the whole scrape fails."),
    ]  # fmt: skip


def log_explorer(sources: Sequence[Source]) -> Json:
    """Lines by namespace, pod, container and text; with several log sources, of the one that is chosen."""
    several = sum(source.kind == "loki" for source in sources) > 1
    source = Source("Logs", "${source}", "loki") if several else LOGS
    chosen = [{"type": "datasource", "name": "source", "label": "Whose", "query": "loki", "refresh": 1}]
    within = f"{{{IN}}}"
    lines = f'{{{IN}, pod=~"$pod", container=~"$container"}} |~ `(?i)$search`'
    return dashboard(
        LINES,
        "Logs",
        "Lines of the chosen namespaces, pods and containers that hold a text.",
        variables=[
            *(chosen if several else []),
            _label("namespace", "Namespace", source),
            _label("pod", "Pod", source, within),
            _label("container", "Container", source, within),
            text_box("search", "Text (a regular expression)"),
        ],
        rows=[
            Row("How many", 6, [
                timeseries("Lines", source,
                           Query(f"sum by (namespace, container) (count_over_time({lines} [$__auto]))",
                                 "{{namespace}} {{container}}"),
                           unit="short", stacked=True, says="Lines that match, by container."),
            ]),
            Row("Which", 20, [log_lines("Lines", source, Query(lines), says="The newest 1,000.")]),
        ],
    )  # fmt: skip


def _label(name: str, title: str, source: Source, within: str = "") -> Json:
    """Values of a label; 1 is the kind of query that Grafana's Loki source calls label values."""
    query = {"refId": f"values-of-{name}", "label": name, "stream": within, "type": 1}
    return choice(name, title, source, query)
