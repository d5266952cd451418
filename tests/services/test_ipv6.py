"""The two nginx of the layer, started as their containers start them: by IPv6 too where the kernel has it."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from components.layer.config import (
    gateway,
    gateway_text,
    loki_sidecar,
    nginx,
)
from components.versions import NGINX_TESTED
from tests.services.gateway.stack import write_tables
from tests.services.running import PROJECT, folder, free_port, listens, server, tool, writable
from tests.support.environments import INCIDENT, parsed

KERNELS = {"with IPv6": nginx.IPV6, "without IPv6": "/nowhere"}


def by_ipv6(port: int) -> bool:
    """Whether somebody takes connections at this port of ::1."""
    with socket.socket(socket.AF_INET6) as client:
        return client.connect_ex(("::1", port)) == 0


@contextmanager
def started(kernel: str, texts: dict[str, int], here: Path, text: str) -> Iterator[None]:
    """nginx by the container's command, but for its folders and ports."""
    (here / "nginx.conf").write_text(text)
    command = nginx.command(str(here / "nginx.conf"), str(here / "run"), texts, kernel=kernel)
    tool("nginx")
    path = os.pathsep.join([str(PROJECT / ".toolchain" / "bin"), "/usr/sbin", os.environ["PATH"]])
    first = next(iter(texts.values()))
    with server(["/usr/bin/env", f"PATH={path}", *command], ready=lambda: listens(first), log=here / "log"):
        yield


@pytest.mark.parametrize("kernel", KERNELS)
def test_lokis_sidecar_listens_by_ipv6_where_there_is_any(kernel: str) -> None:
    with folder() as here:
        run, port = writable(here / "run"), free_port()
        (here / "tokens.map").write_text("")
        text = loki_sidecar.sidecar_config(
            listen=str(port), token_map_file=str(here / "tokens.map"), run_folder=str(run)
        )
        with started(KERNELS[kernel], {loki_sidecar.LISTENER: port}, here, text):
            assert by_ipv6(port) is (kernel == "with IPv6")


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_gateway_listens_by_ipv6_where_there_is_any_for_probes_too(kernel: str) -> None:
    with folder() as here:
        run, ports = writable(here / "run"), {name: free_port() for name in gateway.LISTENERS}
        settings = parsed(INCIDENT)
        write_tables(here, settings)
        places = gateway.Places(
            listen=str(ports["http"]),
            health=str(ports["health"]),
            loki="127.0.0.1:1",
            label_proxy="127.0.0.1:1",
            prometheus="127.0.0.1:1",
            tenants_folder=str(here),
            secret_folder=str(here),
            run_folder=str(run),
            nginx=NGINX_TESTED,
        )
        with started(KERNELS[kernel], ports, here, gateway_text.gateway_config(settings, places)):
            assert [by_ipv6(port) for port in ports.values()] == [kernel == "with IPv6"] * 2


def test_the_containers_are_started_so() -> None:
    for command, ports in ((loki_sidecar.COMMAND, [3100]), (gateway.COMMAND, [8080, 8081])):
        assert command[:2] == ("/bin/sh", "-ec")
        assert [f"listen [::]:{port};" in command[2] for port in ports] == [True] * len(ports)
        assert "exec nginx" in command[2]
