"""nginx with the rendered text, in front of a server that writes down what reaches it in Loki's place."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from components.layer import credentials
from components.layer.config.loki_sidecar import Role, sidecar_config
from tests.services.http_raw import Recorder
from tests.services.running import folder, free_port, listens, server, tool, writable
from tests.support.environments import KEY

ROLES: tuple[Role, ...] = ("push", "read", "scrape", "gateway")
TOKENS = {role: credentials.layer_token(KEY, role) for role in ROLES}
API = "/loki/api/v1"
PUSH, QUERY, METRICS = f"{API}/push", f"{API}/query", "/metrics"
SHOP = "X-Scope-OrgID: shop"


def bearer(role: Role) -> str:
    return f"Authorization: Bearer {TOKENS[role]}"


@dataclass(frozen=True)
class Sidecar:
    """nginx, what is behind it, and what it logged."""

    port: int
    behind: Recorder
    log: Path


def start(stack: ExitStack, tokens: str, upstream: int) -> tuple[int, Path]:
    """Run nginx as nobody, with nothing but its run folder writable; give its port and log."""
    here = stack.enter_context(folder())
    run = writable(here / "run")
    port = free_port()
    (here / "tokens.map").write_text(tokens)
    text = sidecar_config(
        listen=f"127.0.0.1:{port}",
        upstream=f"127.0.0.1:{upstream}",
        token_map_file=str(here / "tokens.map"),
        run_folder=str(run),
    )
    (here / "nginx.conf").write_text(text)
    command = [tool("nginx"), "-e", "stderr", "-c", str(here / "nginx.conf")]
    stack.enter_context(server(command, ready=lambda: listens(port), log=here / "log"))
    return port, here / "log"
