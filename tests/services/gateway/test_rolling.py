"""A tenant is added and another removed while requests are under way: the gateway's pod is replaced as it is deployed.

The new pod comes first (surge 1, unavailable 0). Then the old one leaves the Service, which takes a moment to be true
everywhere, while it sleeps (preStop); then it gets SIGQUIT and finishes what it has. All times are shorter than real.
"""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from typing_extensions import override

from components.layer.config.gateway import READY_PATH
from tests.services.gateway.service import Client, Service, service
from tests.services.gateway.stack import Gateway, Stores, World, bearer, settings_with, start_gateway
from tests.services.http_raw import ask, serving
from tests.services.running import until
from tests.services.sidecar import API

PROPAGATION_SECONDS = 0.3  # until no new connection comes to a pod that is being deleted
CLIENTS = 6


class Log(BaseHTTPRequestHandler):
    """Loki's place: takes what is pushed, and answers a query late."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one write for a whole answer

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer()

    def do_GET(self) -> None:
        time.sleep(2)
        self._answer()

    def _answer(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    @override
    def log_message(self, *args: object) -> None:
        """Nothing."""


def ended(pid: int) -> bool:
    """Whether a process has ended, though nobody has waited for it yet."""
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


@contextmanager
def under_load(port: int) -> Iterator[list[Client]]:
    """Clients that read and push all the time."""
    ends = threading.Event()
    read = f"GET /api/v1/query?query=1 HTTP/1.1\r\nHost: a\r\n{bearer('shop')}\r\n\r\n"
    push = (
        f"POST {API}/push HTTP/1.1\r\nHost: a\r\n{bearer('search', 'write')}\r\nContent-Length: 4\r\n\r\nline"
    )
    clients = [Client(port, (read, push)[at % 2].encode(), ends) for at in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        yield clients
    finally:
        ends.set()
        for client in clients:
            client.join(10)


def slow_query(gateway: Gateway) -> int:
    """A query that is asked shortly before the end and answered after it."""
    time.sleep(1.0)
    answer = ask(gateway.port, f"{API}/query", bearer("shop"))
    return answer.status


def replace(stack: ExitStack, here: Service, old: Gateway, stores: Stores, *, pre_stop: float) -> Gateway:
    """As the kubelet and the Deployment's controller do it."""
    time.sleep(0.5)
    new = start_gateway(stack, settings_with(*CHANGED), stores)
    until(lambda: ask(new.health, READY_PATH).status == 200, new.logged)
    here.endpoints.append(new.port)
    time.sleep(0.3)

    def leave() -> None:
        time.sleep(PROPAGATION_SECONDS)
        here.endpoints.remove(old.port)

    leaving = threading.Thread(target=leave)
    leaving.start()
    time.sleep(pre_stop)
    os.kill(old.pid, signal.SIGQUIT)
    leaving.join()
    time.sleep(0.7)
    return new


CHANGED = (("tenants.mail", None), ("tenants.fresh", {"pods": 5}))


@pytest.fixture
def stores(world: World) -> Iterator[Stores]:
    with serving(Log) as port:
        behind = world.stores
        yield Stores(f"127.0.0.1:{port}", behind.label_proxy, behind.prometheus, behind.behind)


def test_no_request_fails_while_tenants_change(stores: Stores) -> None:
    with ExitStack() as stack:
        old = start_gateway(stack, settings_with(), stores)
        here = stack.enter_context(service([old.port]))
        pool = stack.enter_context(ThreadPoolExecutor(1))
        with under_load(here.port) as clients:
            # Under way when the old one is told to end, and for longer than that.
            late = pool.submit(slow_query, old)
            new = replace(stack, here, old, stores, pre_stop=1.0)
            assert ask(here.port, "/api/v1/query?query=1", bearer("fresh")).status == 200
            assert ask(here.port, "/api/v1/query?query=1", bearer("mail")).status == 401
            until(lambda: ended(old.pid), lambda: "the old gateway did not end")
        assert late.result() == 200
        assert not ended(new.pid)
        failed = [failure for client in clients for failure in client.failures]
        answered = sum(client.answered for client in clients)
        assert failed == [], f"{len(failed)} of {answered}"
        assert answered > 200
        # A kept connection that was closed in the moment it was used, and whose request was sent again.
        assert sum(client.repeated for client in clients) <= CLIENTS


def test_without_the_pause_before_the_end_requests_do_fail(stores: Stores) -> None:
    """What the pause is for, and a proof that the clients above would notice."""
    with ExitStack() as stack:
        old = start_gateway(stack, settings_with(), stores)
        here = stack.enter_context(service([old.port]))
        with under_load(here.port) as clients:
            replace(stack, here, old, stores, pre_stop=0.0)
        assert [failure for client in clients for failure in client.failures]


def test_a_removed_tenants_open_connection_ends_with_the_old_gateway(stores: Stores) -> None:
    with ExitStack() as stack:
        old = start_gateway(stack, settings_with(), stores)
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", old.port), 5))
        request = f"GET /api/v1/metadata HTTP/1.1\r\nHost: a\r\n{bearer('mail')}\r\n\r\n".encode()
        connection.sendall(request)
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        os.kill(old.pid, signal.SIGQUIT)
        assert connection.recv(4096) == b""
        until(lambda: ended(old.pid), lambda: "the gateway did not end")
