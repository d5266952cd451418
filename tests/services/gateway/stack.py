"""One whole read path on loopback: rendered gateway, prom-label-proxy, Prometheus, and the sidecar before a recorder.

Every text and argument is the rendered one; ports, folders and host names alone are replaced.
"""

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.layer import credentials
from components.layer.config import gateway_tenants, gateway_tokens, loki_sidecar, prometheus, scrape_jobs
from components.layer.config.gateway import Places, label_proxy_arguments
from components.layer.config.gateway_text import gateway_config
from components.settings.load import SECRET_KEYS, parse
from components.settings.model import Settings
from components.versions import NGINX_TESTED
from tests.services import sidecar
from tests.services.gateway import samples
from tests.services.http_raw import Answer, Recorder, ask, recorder
from tests.services.running import folder, free_port, listens, server, tool, until, writable
from tests.support.environments import INCIDENT, KEY, PROJECT, changed, config

# Limits out of the way, except where they are what is tested.
UNLIMITED = {"requestsPerSecond": 10_000, "concurrentRequests": 1_000}
CHANGES: tuple[tuple[str, Any], ...] = (
    ("layer.gateway", UNLIMITED),
    ("tenants.billing.metrics", True),
    ("tenants.search.metrics", False),
    ("tenants.search.logs", "api"),
)


def settings_with(*changes: tuple[str, Any]) -> Settings:
    """The tests' environment: shop and mail read both signals, search pushes its own lines, wiki has none."""
    raw = changed(INCIDENT, *CHANGES, *changes)
    return parse(config(raw), {f"{PROJECT}:{key}" for key in SECRET_KEYS}, PROJECT, "dev")


def token(tenant: str, role: str = "read", *, key: str = KEY, generation: int = 1) -> str:
    """A token as its holder has it."""
    return (
        credentials.platform_token(key)
        if role == "platform"
        else credentials.token(key, tenant, role, generation)
    )


def bearer(tenant: str, role: str = "read") -> str:
    """The header line that names a caller."""
    return f"Authorization: Bearer {token(tenant, role)}"


@dataclass(frozen=True)
class Gateway:
    """A running gateway: its ports, what it logged, and the files that it was started with."""

    port: int
    health: int
    log: Path
    config: Path
    pid: int

    def ask(self, path: str, *headers: str, method: str = "GET", body: bytes = b"") -> Answer:
        """One request."""
        return ask(self.port, path, *headers, method=method, body=body)

    def logged(self) -> str:
        """All that it wrote, as far as it is text."""
        return self.log.read_text(errors="replace")


@dataclass(frozen=True)
class Stores:
    """What is behind: addresses for the gateway, and what reached Loki."""

    loki: str
    label_proxy: str
    prometheus: str
    behind: Recorder
    logs: list[Path] = field(default_factory=list)


@dataclass(frozen=True)
class World:
    """A gateway with everything behind it."""

    gateway: Gateway
    stores: Stores


def start_stores(stack: ExitStack, owners: tuple[samples.Owner, ...]) -> Stores:
    """Prometheus with these samples, prom-label-proxy before it, and the sidecar before the recorder."""
    behind = stack.enter_context(recorder())
    tokens = loki_sidecar.token_map({"gateway": [credentials.layer_token(KEY, "gateway")]})
    loki, loki_log = sidecar.start(stack, tokens, behind.port)
    metrics, metrics_log = start_prometheus(stack, owners)
    scoping, scoping_log = start_label_proxy(stack, metrics)
    logs = [loki_log, metrics_log, scoping_log]
    return Stores(
        f"127.0.0.1:{loki}", f"127.0.0.1:{scoping}", f"127.0.0.1:{metrics}", behind, logs
    )  # fmt: skip


def start_prometheus(stack: ExitStack, owners: tuple[samples.Owner, ...]) -> tuple[int, Path]:
    """A real one with the rendered web configuration, the owners' samples and their rules; its port and log."""
    here = stack.enter_context(folder())
    samples.write_blocks(owners, here, writable(here / "data"))
    (here / "rules.yaml").write_text(samples.rules(owners))
    (here / "prometheus.yaml").write_text(f"rule_files: [{here}/rules.yaml]\n")
    password = credentials.layer_token(KEY, "metrics")
    users = {scrape_jobs.USER: credentials.bcrypt_hash(password, KEY)}
    (here / "web.yaml").write_text(prometheus.web_config(users))
    port = free_port()
    command = [
        tool("prometheus"),
        f"--config.file={here}/prometheus.yaml",
        f"--web.config.file={here}/web.yaml",
        f"--web.listen-address=127.0.0.1:{port}",
        f"--storage.tsdb.path={here}/data",
    ]
    stack.enter_context(server(command, ready=lambda: listens(port), log=here / "log"))
    return port, here / "log"


def start_label_proxy(stack: ExitStack, upstream: int) -> tuple[int, Path]:
    """With the rendered arguments; its port and log."""
    here = stack.enter_context(folder())
    port = free_port()
    replaced = {
        "-upstream": f"http://127.0.0.1:{upstream}",
        "-insecure-listen-address": f"127.0.0.1:{port}",
    }
    command = [tool("prom-label-proxy"), *label_proxy_arguments(replaced)]
    stack.enter_context(server(command, ready=lambda: listens(port), log=here / "log"))
    return port, here / "log"


def write_tables(here: Path, settings: Settings) -> None:
    """What the gateway's text includes: its tokens, and its tenants."""
    for texts in (*gateway_tokens.secrets(settings), gateway_tenants.files(settings)):
        for name, text in texts.items():
            (here / name).write_text(text)


def start_gateway(
    stack: ExitStack,
    settings: Settings,
    stores: Stores,
    *,
    edit: Callable[[str], str] = lambda text: text,
    nginx: str = "nginx",
) -> Gateway:
    """nginx with the rendered text and Secrets, as nobody; `edit` breaks the text on purpose."""
    here = stack.enter_context(folder())
    write_tables(here, settings)
    port, health = free_port(), free_port()
    places = Places(
        listen=f"127.0.0.1:{port}",
        health=f"127.0.0.1:{health}",
        loki=stores.loki,
        label_proxy=stores.label_proxy,
        prometheus=stores.prometheus,
        tenants_folder=str(here),
        secret_folder=str(here),
        run_folder=str(writable(here / "run")),
        nginx=NGINX_TESTED,
    )
    file = here / "nginx.conf"
    file.write_text(edit(gateway_config(settings, places)))
    command = [tool(nginx), "-e", "stderr", "-c", str(file)]
    process = stack.enter_context(server(command, ready=lambda: listens(port), log=here / "log"))
    return Gateway(port, health, here / "log", file, process.pid)


def start_world(
    stack: ExitStack, owners: tuple[samples.Owner, ...], settings: Settings | None = None
) -> World:
    """Everything, ready when each alert has samples: from then on no series is new."""
    stores = start_stores(stack, owners)
    gateway = start_gateway(stack, settings or settings_with(), stores)
    words, path = {owner.word for owner in owners}, "/api/v1/label/word/values?match[]=ALERTS"
    until(lambda: words == set(platform_sees(gateway, path)), lambda: str(platform_sees(gateway, path)))
    return World(gateway, stores)


def platform_sees(gateway: Gateway, path: str) -> list[str]:
    """The data of an answer about the whole cluster."""
    answer = gateway.ask(path, bearer("", "platform"))
    data: list[str] = json.loads(whole(answer))["data"] if answer.status == 200 else []
    return data


def whole(answer: Answer) -> bytes:
    """The body in one piece, if it came in chunks."""
    if answer.headers.get("transfer-encoding") != "chunked":
        return answer.body
    body, rest = b"", answer.body
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return body
