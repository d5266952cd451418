"""A real Prometheus with the rendered configurations: who may ask it, and what it makes of hostile targets.

Discovery alone is replaced: a file lists the pods, with the labels that the API server's would have.
"""

import base64
import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
import yaml
from typing_extensions import override

from components import names
from components.layer import credentials
from components.layer.config import prometheus, scrape_jobs
from tests.services.http_raw import ask, serving
from tests.services.running import folder, free_port, listens, server, tool, until, writable
from tests.support.environments import INCIDENT, KEY, changed, parsed
from tests.unit.layer.samples import SHOP, pod, port

PASSWORD = credentials.layer_token(KEY, "prometheus")
BILLING = {**SHOP, names.TENANT_LABEL: "billing"}
SLOTS = 7  # as many as pods of the job `pods`: any target counted twice would fail them all


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
    }

    def do_GET(self) -> None:
        self.asked.append(f"{self.headers['Host']}{self.path}")
        redirect = self.path == "/redirect"
        body = self.PAGES.get(self.path, "").encode()
        self.send_response(302 if redirect else 200)
        if redirect:
            self.send_header("Location", "/secret")
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
        of("secret", "/secret", namespace="nobody", of_namespace={}),
        of("off", "/secret", namespace="off", of_namespace={**BILLING, names.METRICS_LABEL: "false"}),
    ]


@dataclass(frozen=True)
class Running:
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


def config(own_port: int, here: Path) -> str:
    """The rendered text with discovery, the server's own port and the credential's path replaced, and nothing else."""
    stated = changed(INCIDENT, ("layer.metrics", {"scrapeInterval": "1s", "samplesPerTarget": 100}))
    text = prometheus.prometheus_config(parsed(stated), pod_slots=SLOTS)
    text = text.replace(f"localhost:{names.PROMETHEUS_PORT}", f"localhost:{own_port}")
    text = text.replace(scrape_jobs.CREDENTIAL_FOLDER, str(here))
    document = yaml.safe_load(text)
    jobs = {job["job_name"]: job for job in document["scrape_configs"]}
    for name in ("pods", "pods-by-port-name"):
        del jobs[name]["kubernetes_sd_configs"]
        jobs[name]["file_sd_configs"] = [{"files": [str(here / "pods.json")]}]
    document["scrape_configs"] = [jobs[name] for name in ("prometheus", "pods", "pods-by-port-name")]
    return yaml.safe_dump(document)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with ExitStack() as stack:
        here = stack.enter_context(folder())
        own, exporter = free_port(), stack.enter_context(serving(Exporter))
        (here / scrape_jobs.PASSWORD_FILE).write_text(PASSWORD)
        (here / prometheus.WEB_CONFIG_FILE).write_text(
            prometheus.web_config({scrape_jobs.USER: credentials.bcrypt_hash(PASSWORD, KEY)})
        )
        (here / prometheus.PROBE_FILE).write_text(
            prometheus.probe_config().replace(scrape_jobs.CREDENTIAL_FOLDER, str(here))
        )
        groups = [{"targets": [t["__address__"]], "labels": t} for t in pods(exporter)]
        (here / "pods.json").write_text(json.dumps(groups))
        (here / prometheus.CONFIG_FILE).write_text(config(own, here))
        writable(here / "data")
        command = [tool("prometheus"), *arguments(own, here)]
        stack.enter_context(server(command, ready=lambda: listens(own), log=here / "log"))
        yield Running(own, here)


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


# --- who may ask ------------------------------------------------------------------------------------------------------

PATHS = [
    "/", "/metrics", "/-/healthy", "/-/ready", "/-/reload", "/-/quit", "/api/v1/query?query=up", "/graph",
    "/api/v1/status/config", "/api/v1/targets", "/federate?match[]=up", "/api/v1/write", "/api/v1/read",
    "/api/v1/admin/tsdb/snapshot", "/debug/pprof/", "/classic/static/x", "/api/v1/otlp/v1/metrics", "/unknown",
    "//", "/%2e%2e/x",
]  # fmt: skip
WRONG = {
    "nothing": [],
    "wrong password": [basic("layer", "wrong")],
    "empty password": [basic("layer", "")],
    "unknown user": [basic("admin", PASSWORD)],
    "no user": [basic("", PASSWORD)],
    "the hash": [basic("layer", credentials.bcrypt_hash(PASSWORD, KEY))],
    "bearer": [f"Authorization: Bearer {PASSWORD}"],
    "cookie": [f"Cookie: layer={PASSWORD}"],
}


@pytest.mark.parametrize("headers", WRONG.values(), ids=WRONG)
def test_without_the_credential_every_path_is_401(running: Running, headers: list[str]) -> None:
    assert {path: ask(running.port, path, *headers).status for path in PATHS} == dict.fromkeys(PATHS, 401)
    assert ask(running.port, "/api/v1/query", *headers, method="POST", body=b"query=up").status == 401


def test_the_layers_credential_opens_the_api_and_nothing_that_changes_the_server(running: Running) -> None:
    assert ask(running.port, "/-/ready", basic("layer", PASSWORD)).status == 200
    assert running.get("/api/v1/query?query=1")["resultType"] == "scalar"
    for path in (
        "/-/quit",
        "/-/reload",
        "/api/v1/admin/tsdb/snapshot",
        "/api/v1/write",
        "/api/v1/otlp/v1/metrics",
    ):
        answer = ask(running.port, path, basic("layer", PASSWORD), method="POST", body=b"x")
        assert answer.status in (403, 404) or b"admin APIs disabled" in answer.body, path


def test_it_scrapes_itself_with_the_mounted_credential(running: Running) -> None:
    until(lambda: bool(running.query('up{job="prometheus"} == 1')), lambda: str(running.query("up")))
    assert running.query('up{job="prometheus"}')[0]["cluster"] == "dev"


def probe(running: Running, file: str) -> int:
    command = " ".join(prometheus.READY_COMMAND)
    for old, new in {
        "/bin/promtool": tool("promtool"),
        f"localhost:{names.PROMETHEUS_PORT}": f"localhost:{running.port}",
        f"{scrape_jobs.CREDENTIAL_FOLDER}/{prometheus.PROBE_FILE}": f"{running.here}/{file}",
    }.items():
        assert old in command
        command = command.replace(old, new)
    return subprocess.run(command.split(), capture_output=True, check=False, timeout=30).returncode


def test_the_probe_succeeds_with_the_mounted_credential_only(running: Running) -> None:
    assert probe(running, prometheus.PROBE_FILE) == 0
    (running.here / "wrong").write_text("wrong")
    text = (running.here / prometheus.PROBE_FILE).read_text()
    (running.here / "wrong.yaml").write_text(
        text.replace(f"{running.here}/password", f"{running.here}/wrong")
    )
    assert probe(running, "wrong.yaml") != 0
    (running.here / "none.yaml").write_text("{}\n")
    assert probe(running, "none.yaml") != 0


# --- what it makes of pods --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scraped(running: Running) -> dict[str, dict[str, Any]]:
    """The active targets, after each was scraped."""
    expected = {"web-0", "named", "spoof", "redirect", "many", "wide", "long", "large"}

    def done() -> bool:
        found = running.pods()
        return set(found) == expected and all(t["health"] != "unknown" for t in found.values())

    until(done, lambda: json.dumps(running.pods(), indent=1))
    until(lambda: bool(running.query("honest")), lambda: "no sample of an honest pod")
    return running.pods()


def test_each_pod_is_scraped_once_whatever_it_declares(scraped: dict[str, dict[str, Any]]) -> None:
    assert scraped["web-0"]["health"] == "up", scraped["web-0"]["lastError"]
    assert scraped["named"]["health"] == "up", scraped["named"]["lastError"]
    assert (scraped["web-0"]["scrapePool"], scraped["named"]["scrapePool"]) == ("pods", "pods-by-port-name")
    assert {scraped[name]["labels"]["job"] for name in ("web-0", "named")} == {"pods"}


def test_as_many_targets_as_pod_slots_do_not_trip_the_limit(
    running: Running, scraped: dict[str, dict[str, Any]]
) -> None:
    assert sum(target["scrapePool"] == "pods" for target in scraped.values()) == SLOTS
    assert not any("target_limit" in target["lastError"] for target in scraped.values())
    assert running.query("prometheus_target_scrape_pool_exceeded_target_limit_total > 0") == []


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("redirect", "302 Found"),
        ("many", "sample limit exceeded"),
        ("wide", "label_limit exceeded"),
        ("long", "label_value_length_limit"),
        ("large", "body size limit exceeded"),
    ],
)
def test_a_pod_that_misbehaves_fails_alone(scraped: dict[str, dict[str, Any]], name: str, error: str) -> None:
    assert scraped[name]["health"] == "down"
    assert error in scraped[name]["lastError"]


def test_nothing_that_a_pod_answers_changes_whose_its_samples_are(
    running: Running, scraped: dict[str, dict[str, Any]]
) -> None:
    assert running.query("spoofed") == [
        {
            "__name__": "spoofed",
            "cluster": "dev",
            "instance": scraped["spoof"]["labels"]["instance"],
            "job": "pods",
            "namespace": "shop",
            "pod": "spoof",
            "tenant": "shop",
            "exported_cluster": "prod",
            "exported_instance": "y",
            "exported_job": "kubelet",
            "exported_namespace": "billing",
            "exported_pod": "x",
            "exported_tenant": "billing",
        }
    ]
    assert running.query('{namespace="billing"}') == []


def test_no_redirect_was_followed_and_nobody_elses_metrics_were_read(
    running: Running, scraped: dict[str, dict[str, Any]]
) -> None:
    assert any(path.endswith("/redirect") for path in Exporter.asked)
    assert [path for path in Exporter.asked if path.endswith("/secret")] == []
    assert running.query("secret") == []
