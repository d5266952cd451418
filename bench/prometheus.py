"""What one Prometheus takes: `python -m bench.prometheus`.

A real Prometheus with the layer's own scrape jobs, as rendered, scrapes pages of the size that kubelet, cAdvisor,
node-exporter, kube-state-metrics and apps answer, at 15 and at 60 nodes. Replaced are discovery (files list the
targets, with the labels that the API server's would have), TLS and credentials, ports, and the interval, which is
shorter so that there is something to measure. Told are:

- series in memory, targets, and samples per second;
- CPU per million samples, and the samples per second at which one core would be full;
- memory, and its slope: what 100,000 series more take.

Every value changes at every scrape; no series comes or goes, as pods do on a real cluster: churn takes memory on top.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import yaml
from typing_extensions import override

from bench.measuring import finish, say, watch_machine
from components import names
from components.layer.config.prometheus import prometheus_config
from simulator.commands import free_ports
from simulator.tools import TOOLS
from tests.support.environments import INCIDENT, changed, parsed

SIZES = (15, 60)
INTERVAL = 10  # seconds between scrapes; 60 as shipped
SCRAPES = 6  # that are measured, after the first ones have made the series
PODS_PER_NODE = 40
APPS_PER_NODE = 5  # annotated pods
MEMORY_LIMIT_GIB = 3.0  # of the layer's pod
# Series of a page, in round figures: kubelet, node-exporter of a node with 4 CPUs, an app; and of cAdvisor and
# kube-state-metrics for each pod.
KUBELET, NODE_EXPORTER, APP = 1500, 1000, 300
CADVISOR_PER_POD, KUBE_STATE_PER_POD = 90, 40
TICK = b"@@@@@@@@@@"  # stands for a value that changes
JOBS = ("kubelet", "cadvisor", "node-exporter", "kube-state-metrics", "pods")


def page(kind: str, target: str, size: int) -> bytes:
    """What one target answers: so many series with labels of the usual number and length."""
    if kind == "cadvisor":
        lines = [
            f'container_metric_{at % CADVISOR_PER_POD}{{container="app",'
            f'id="/kubepods.slice/kubepods-burstable.slice/pod{target}{at // CADVISOR_PER_POD:032x}.slice",'
            f'image="registry.example.com/team/app:1.2.3",name="{at // CADVISOR_PER_POD:064x}",'
            f'namespace="app-{at // CADVISOR_PER_POD % 5}",pod="app-{target}-{at // CADVISOR_PER_POD}"}} '
            for at in range(size)
        ]
    elif kind == "kube-state-metrics":
        lines = [
            f'kube_metric_{at % KUBE_STATE_PER_POD}{{namespace="app-{at // KUBE_STATE_PER_POD % 5}",'
            f'pod="app-{at // KUBE_STATE_PER_POD}",uid="{at // KUBE_STATE_PER_POD:08x}-0000-4000-8000-000000000000"}} '
            for at in range(size)
        ]
    else:
        lines = [
            f'{kind.replace("-", "_")}_{at // 10}{{code="{at % 10}",le="0.{at % 10}"}} ' for at in range(size)
        ]
    return b"\n".join(line.encode() + TICK for line in lines) + b"\n"


class Pages(BaseHTTPRequestHandler):
    """Answers for every target: its page, with the seconds since 1970 as every value."""

    protocol_version = "HTTP/1.1"
    pages: ClassVar[dict[tuple[str, str], bytes]] = {}

    def do_GET(self) -> None:
        """The page that the URL's parameters name."""
        asked = parse_qs(urlsplit(self.path).query)
        body = self.pages[asked["kind"][0], asked["target"][0]].replace(TICK, b"%010d" % time.time())
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Row:
    """One size of cluster.

    Attributes:
        nodes: of it.
        targets: that are scraped.
        series: in memory.
        samples_per_second: that were taken.
        cpu_per_million: CPU seconds of Prometheus for a million samples.
        core_full_at: samples per second at which that is one core.
        memory_mib: resident.
        failed: scrapes that failed.
    """

    nodes: int
    targets: int
    series: int
    samples_per_second: float
    cpu_per_million: float
    core_full_at: float
    memory_mib: float
    failed: int


def discovered(nodes: int, port: int) -> dict[str, list[dict[str, Any]]]:
    """Targets by job, with the labels of discovery; and their pages, for the server."""
    of_node = {"__meta_kubernetes_node_label_kubernetes_io_os": "linux"}
    found: dict[str, list[dict[str, Any]]] = {job: [] for job in JOBS}
    Pages.pages = {}

    def add(job: str, target: str, size: int, labels: Mapping[str, str]) -> None:
        Pages.pages[job, target] = page(job, target, size)
        asked = {"__param_kind": job, "__param_target": target}
        found[job].append({"targets": [f"127.0.0.1:{port}"], "labels": {**labels, **asked}})

    for at in range(nodes):
        node = f"node-{at}"
        add("kubelet", node, KUBELET, {**of_node, "__meta_kubernetes_node_name": node})
        add(
            "cadvisor",
            node,
            CADVISOR_PER_POD * PODS_PER_NODE,
            {**of_node, "__meta_kubernetes_node_name": node},
        )
        add("node-exporter", node, NODE_EXPORTER, _pod(names.NODES_NAMESPACE, f"node-exporter-{at}", node))
        for app in range(APPS_PER_NODE):
            annotations = {
                f"__meta_kubernetes_pod_annotation_prometheus_io_{key}": value
                for key, value in (("scrape", "true"), ("port", str(port)))
            }
            tenant = {
                "__meta_kubernetes_namespace_label_shared_observability_tenant": f"app-{app}",
                "__meta_kubernetes_namespace_label_shared_observability_metrics": "true",
            }
            add(
                "pods",
                f"{node}-{app}",
                APP,
                {**_pod(f"app-{app}", f"app-{at}-{app}", node), **annotations, **tenant},
            )
    add("kube-state-metrics", "all", KUBE_STATE_PER_POD * PODS_PER_NODE * nodes, {})
    return found


def _pod(namespace: str, name: str, node: str) -> dict[str, str]:
    return {
        "__meta_kubernetes_namespace": namespace,
        "__meta_kubernetes_pod_name": name,
        "__meta_kubernetes_pod_node_name": node,
        "__meta_kubernetes_pod_ip": "127.0.0.1",
        "__meta_kubernetes_pod_phase": "Running",
    }


def config(folder: Path, targets: Mapping[str, list[dict[str, Any]]], port: int) -> str:
    """The rendered text; replaced are discovery, TLS, credentials, and ports."""
    settings = parsed(changed(INCIDENT, ("layer.metrics", {"scrapeInterval": f"{INTERVAL}s"})))
    text = prometheus_config(settings, target_limit=5000).replace(f":{names.NODE_EXPORTER_PORT}", f":{port}")
    document = yaml.safe_load(text)
    jobs = {job["job_name"]: job for job in document["scrape_configs"] if job["job_name"] in JOBS}
    for name, job in jobs.items():
        for key in ("kubernetes_sd_configs", "static_configs", "scheme", "authorization", "tls_config"):
            job.pop(key, None)
        file = folder / f"{name}.json"
        file.write_text(json.dumps(targets[name]))
        job["file_sd_configs"] = [{"files": [str(file)]}]
    return yaml.safe_dump({**document, "scrape_configs": list(jobs.values())})


@contextmanager
def running(folder: Path, text: str, port: int) -> Iterator[int]:
    """Prometheus with this configuration; its process."""
    (folder / "prometheus.yaml").write_text(text)
    argv = [
        str(TOOLS / "prometheus"), f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address=127.0.0.1:{port}", "--log.level=error",
    ]  # fmt: skip
    process = subprocess.Popen(argv, cwd=folder)  # noqa: S603 - the tests' own
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(60)


def query(port: int, expression: str) -> float:
    """One number."""
    with urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={expression}", timeout=30) as answer:
        found = json.load(answer)["data"]["result"]
    return float(found[0]["value"][1]) if found else 0.0


def figures(port: int) -> dict[str, float]:
    """Prometheus' own figures, from its own page."""
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    wanted = ("prometheus_tsdb_head_series", "process_cpu_seconds_total", "process_resident_memory_bytes")
    found = {name: float(re.findall(rf"^{name} (.+)$", text, re.MULTILINE)[0]) for name in wanted}
    appended = re.findall(
        r'^prometheus_tsdb_head_samples_appended_total\{type="float"\} (.+)$', text, re.MULTILINE
    )
    return {**found, "samples": float(appended[0]) if appended else 0.0}


def measure(nodes: int) -> Row:
    """One size."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (own,) = free_ports(1)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            targets = discovered(nodes, server.server_port)
            with running(folder, config(folder, targets, server.server_port), own):
                time.sleep(
                    3 * INTERVAL
                )  # starting, finding targets, and the first scrapes, which make the series
                before, started = figures(own), time.monotonic()
                time.sleep(SCRAPES * INTERVAL)
                after, seconds = figures(own), time.monotonic() - started
                failed = query(own, "count(up==0)")
                up = query(own, "count(up==1)")
        finally:
            server.shutdown()
    samples = after["samples"] - before["samples"]
    per_million = (after["process_cpu_seconds_total"] - before["process_cpu_seconds_total"]) / samples * 1e6
    return Row(
        nodes=nodes,
        targets=int(up + failed),
        series=int(after["prometheus_tsdb_head_series"]),
        samples_per_second=round(samples / seconds),
        cpu_per_million=round(per_million, 2),
        core_full_at=round(1e6 / per_million),
        memory_mib=round(after["process_resident_memory_bytes"] / 2**20),
        failed=int(failed),
    )


def line(row: Row) -> str:
    """A row for people."""
    return (
        f"{row.nodes:>3} nodes  {row.targets:>4} targets  {row.series:>7,} series  {row.samples_per_second:>7,.0f} "
        f"samples/s  {row.cpu_per_million:.2f} s of CPU per million (a core is full at {row.core_full_at:,.0f}/s)  "
        f"{row.memory_mib:>5.0f} MiB"
    )


def slope(rows: Sequence[Row]) -> dict[str, float]:
    """Memory of 100,000 series more, of none, and the series at which the pod's limit is reached."""
    first, last = rows[0], rows[-1]
    each = (last.memory_mib - first.memory_mib) / (last.series - first.series)
    base = first.memory_mib - each * first.series
    return {
        "mib_per_100k_series": round(each * 100_000),
        "base_mib": round(base),
        "series_at_limit": round((MEMORY_LIMIT_GIB * 1024 - base) / each, -4),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, and writes JSON; fails if scrapes fail."""
    parser = argparse.ArgumentParser(prog="python -m bench.prometheus", description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=list(SIZES))
    end, rows = watch_machine(), []
    for nodes in parser.parse_args(arguments).nodes:
        say(f"prometheus: {nodes} nodes (about {(SCRAPES + 4) * INTERVAL // 60 + 1} minutes)")
        rows.append(measure(nodes))
        say(f"  {line(rows[-1])}")
    found = [f"{row.nodes} nodes: {row.failed} targets failed" for row in rows if row.failed]
    data: dict[str, Any] = {
        "rows": [asdict(row) for row in rows],
        "interval": INTERVAL,
        "cores": os.cpu_count(),
    }
    if len(rows) > 1:
        data["memory"] = slope(rows)
        say(f"  {data['memory']}")
    return finish("prometheus", data, end(), found)


if __name__ == "__main__":
    raise SystemExit(main())
