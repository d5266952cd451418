"""A real Prometheus with the rendered configurations.

Discovery alone is replaced: a file lists the pods, with the labels that the API server's would have.
"""

import base64
import json
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote
from urllib.request import Request, urlopen

import yaml
from typing_extensions import override

from components import names
from components.layer import credentials
from components.layer.config import prometheus, scrape_jobs
from tests.support.environments import INCIDENT, KEY, changed, parsed
from tests.unit.layer.samples import SHOP, pod, port

PASSWORD = credentials.layer_token(KEY, "prometheus")
BILLING = {**SHOP, names.TENANT_LABEL: "billing"}
SLOTS = 8  # as many as pods of the job `pods`: any target counted twice would fail them all


# Names as an API server 1.35 has them.
API_SERVER = (
    'apiserver_request_total{verb="GET"}',
    'apiserver_request_duration_seconds_bucket{verb="GET",le="0.05"}',
    'apiserver_request_duration_seconds_sum{verb="GET"}',
    'apiserver_request_duration_seconds_count{verb="GET"}',
    'apiserver_request_body_size_bytes_bucket{le="50000"}',
    'etcd_request_duration_seconds_bucket{operation="get",le="0.005"}',
    'apiserver_current_inflight_requests{request_kind="readOnly"}',
    'workqueue_depth{name="a"}',
)


class Exporter(BaseHTTPRequestHandler):
    """Everything that a pod may answer, by path."""

    asked: ClassVar[list[str]] = []
    SPOOFED = 'spoofed{namespace="billing",tenant="billing",pod="x",job="kubelet",cluster="prod",instance="y"} 1 1\n'
    PAGES: ClassVar[dict[str, str]] = {
        "/metrics": "honest 1\n",
        "/spoof": SPOOFED,
        "/secret": "secret 42\n",
        "/many": "".join(f'many{{n="{n}"}} 1\n' for n in range(101)),
        "/wide": "wide{" + ",".join(f'l{n}="x"' for n in range(60)) + "} 1\n",
        "/long": f'long{{l="{"x" * 2000}"}} 1\n',
        "/large": "# " + "x" * (2 << 20) + "\nlarge 1\n",
        "/untyped": "untyped 1\n",
        "/api-server": "".join(f"{line} 1\n" for line in API_SERVER),
    }

    def do_GET(self) -> None:
        self.asked.append(f"{self.headers['Host']}{self.path}")
        redirect = self.path == "/redirect"
        body = self.PAGES.get(self.path, "").encode()
        self.send_response(302 if redirect else 200)
        if redirect:
            self.send_header("Location", "/secret")
        if self.path != "/untyped":
            self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


def pods(number: int) -> list[dict[str, str]]:
    """Targets as discovered: several for one pod, and pods that misuse their annotations."""

    def of(name: str, path: str, *, by_name: bool = False, **more: Any) -> dict[str, str]:
        stated = {"scrape": "true", "path": path} | ({} if by_name else {"port": str(number)})
        annotations = {f"prometheus.io/{key}": value for key, value in stated.items()}
        return pod(ip="127.0.0.1", name=name, annotations=annotations, **more)

    web = of("web-0", "/metrics")
    named = of("named", "/metrics", by_name=True)
    return [
        web,
        *(port(web, declared, "metrics", container=f"c{declared}") for declared in range(1, 10)),
        port(named, number, "metrics"),
        port(named, 1, "http"),
        {**port(named, number, "metrics", container="init"), "__meta_kubernetes_pod_container_init": "true"},
        of("spoof", "/spoof"),
        of("redirect", "/redirect"),
        of("many", "/many"),
        of("wide", "/wide"),
        of("long", "/long"),
        of("large", "/large"),
        of("untyped", "/untyped"),
        of("secret", "/secret", namespace="nobody", of_namespace={}),
        of("off", "/secret", namespace="off", of_namespace={**BILLING, names.METRICS_LABEL: "false"}),
    ]


@dataclass(frozen=True)
class Prometheus:
    """Prometheus, and where its files are."""

    port: int
    here: Path

    def get(self, path: str) -> Any:
        """The data of an answer to the layer."""
        name, value = basic("layer", PASSWORD).split(": ", 1)
        with urlopen(
            Request(f"http://127.0.0.1:{self.port}{path}", headers={name: value}), timeout=10
        ) as answer:
            return json.load(answer)["data"]

    def query(self, expression: str) -> list[dict[str, str]]:
        """The labels of the series that an expression gives."""
        return [series["metric"] for series in self.get(f"/api/v1/query?query={quote(expression)}")["result"]]

    def pods(self) -> dict[str, dict[str, Any]]:
        """Active targets of tenants' pods, by pod; each once."""
        found = [t for t in self.get("/api/v1/targets?state=active")["activeTargets"] if "pod" in t["labels"]]
        by_pod = {target["labels"]["pod"]: target for target in found}
        assert len(found) == len(by_pod), sorted(target["labels"]["pod"] for target in found)
        return by_pod


def basic(user: str, password: str) -> str:
    return f"Authorization: Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def config(own_port: int, here: Path, exporter: int) -> str:
    """The rendered text with discovery, the server's own port and the credential's path replaced, and nothing else; of
    the job for API servers only what it keeps."""
    stated = changed(INCIDENT, ("layer.metrics", {"scrapeInterval": "1s", "samplesPerTarget": 100}))
    text = prometheus.prometheus_config(parsed(stated), target_limit=SLOTS)
    text = text.replace(f"localhost:{names.PROMETHEUS_PORT}", f"localhost:{own_port}")
    text = text.replace(scrape_jobs.CREDENTIAL_FOLDER, str(here))
    document = yaml.safe_load(text)
    jobs = {job["job_name"]: job for job in document["scrape_configs"]}
    for name in ("pods", "pods-by-port-name"):
        del jobs[name]["kubernetes_sd_configs"]
        jobs[name]["file_sd_configs"] = [{"files": [str(here / "pods.json")]}]
    jobs["apiserver"] = {
        "job_name": "apiserver",
        "metrics_path": "/api-server",
        "static_configs": [{"targets": [f"127.0.0.1:{exporter}"]}],
        "metric_relabel_configs": jobs["apiserver"]["metric_relabel_configs"],
    }
    shown = ("prometheus", "apiserver", "pods", "pods-by-port-name")
    document["scrape_configs"] = [jobs[name] for name in shown]
    return yaml.safe_dump(document)


def arguments(own_port: int, here: Path) -> list[str]:
    """The pod's own arguments, on loopback and in this folder."""
    replaced = {
        f"{prometheus.CONFIG_FOLDER}/": f"{here}/",
        f"{scrape_jobs.CREDENTIAL_FOLDER}/": f"{here}/",
        f"=:{names.PROMETHEUS_PORT}": f"=127.0.0.1:{own_port}",
        f"={prometheus.STORAGE_FOLDER}": f"={here}/data",
    }
    given = " ".join(prometheus.ARGUMENTS)
    for old, new in replaced.items():
        assert old in given
        given = given.replace(old, new)
    return given.split()
