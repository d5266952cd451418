"""Servers that the tests of this folder share; each ends with the run, however that ends."""

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from components.layer import credentials
from components.layer.config import prometheus, scrape_jobs
from components.layer.config.loki_sidecar import token_map
from tests.services.http_raw import recorder, serving
from tests.services.prometheus_server import PASSWORD, Exporter, Prometheus, arguments, config, pods
from tests.services.running import folder, free_port, listens, server, tool, writable
from tests.services.sidecar import TOKENS, Sidecar, start
from tests.support.environments import KEY


@pytest.fixture(scope="session")
def running_sidecar() -> Iterator[Sidecar]:
    with ExitStack() as stack:
        behind = stack.enter_context(recorder())
        port, log = start(stack, token_map({role: [token] for role, token in TOKENS.items()}), behind.port)
        yield Sidecar(port, behind, log)


@pytest.fixture
def sidecar(running_sidecar: Sidecar) -> Sidecar:
    running_sidecar.behind.seen.clear()
    return running_sidecar


@pytest.fixture(scope="session")
def server_with_pods() -> Iterator[Prometheus]:
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
        (here / prometheus.CONFIG_FILE).write_text(config(own, here, exporter))
        writable(here / "data")
        command = [tool("prometheus"), *arguments(own, here)]
        stack.enter_context(server(command, ready=lambda: listens(own), log=here / "log"))
        yield Prometheus(own, here)
