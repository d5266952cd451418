"""Who may ask Prometheus: 401 on every path without the layer's credential, its own probe and scrape with it."""

import subprocess

import pytest

from components import names
from components.layer import credentials
from components.layer.config import prometheus, scrape_jobs
from tests.services.http_raw import ask
from tests.services.prometheus_server import PASSWORD, Prometheus, basic
from tests.services.running import tool, until
from tests.support.environments import KEY

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
def test_without_the_credential_every_path_is_401(server_with_pods: Prometheus, headers: list[str]) -> None:
    assert {path: ask(server_with_pods.port, path, *headers).status for path in PATHS} == dict.fromkeys(
        PATHS, 401
    )
    assert (
        ask(server_with_pods.port, "/api/v1/query", *headers, method="POST", body=b"query=up").status == 401
    )


def test_the_layers_credential_opens_the_api_and_nothing_that_changes_the_server(
    server_with_pods: Prometheus,
) -> None:
    assert ask(server_with_pods.port, "/-/ready", basic("layer", PASSWORD)).status == 200
    assert server_with_pods.get("/api/v1/query?query=1")["resultType"] == "scalar"
    for path in (
        "/-/quit",
        "/-/reload",
        "/api/v1/admin/tsdb/snapshot",
        "/api/v1/write",
        "/api/v1/otlp/v1/metrics",
    ):
        answer = ask(server_with_pods.port, path, basic("layer", PASSWORD), method="POST", body=b"x")
        assert answer.status in (403, 404) or b"admin APIs disabled" in answer.body, path


def test_it_scrapes_itself_with_the_mounted_credential(server_with_pods: Prometheus) -> None:
    until(
        lambda: bool(server_with_pods.query('up{job="prometheus"} == 1')),
        lambda: str(server_with_pods.query("up")),
    )
    assert server_with_pods.query('up{job="prometheus"}')[0]["cluster"] == "dev"


def probe(server_with_pods: Prometheus, file: str) -> int:
    command = " ".join(prometheus.READY_COMMAND)
    for old, new in {
        "/bin/promtool": tool("promtool"),
        f"localhost:{names.PROMETHEUS_PORT}": f"localhost:{server_with_pods.port}",
        f"{scrape_jobs.CREDENTIAL_FOLDER}/{prometheus.PROBE_FILE}": f"{server_with_pods.here}/{file}",
    }.items():
        assert old in command
        command = command.replace(old, new)
    return subprocess.run(command.split(), capture_output=True, check=False, timeout=30).returncode


def test_the_probe_succeeds_with_the_mounted_credential_only(server_with_pods: Prometheus) -> None:
    assert probe(server_with_pods, prometheus.PROBE_FILE) == 0
    (server_with_pods.here / "wrong").write_text("wrong")
    text = (server_with_pods.here / prometheus.PROBE_FILE).read_text()
    (server_with_pods.here / "wrong.yaml").write_text(
        text.replace(f"{server_with_pods.here}/password", f"{server_with_pods.here}/wrong")
    )
    assert probe(server_with_pods, "wrong.yaml") != 0
    (server_with_pods.here / "none.yaml").write_text("{}\n")
    assert probe(server_with_pods, "none.yaml") != 0
