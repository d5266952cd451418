"""Sizes, times and rates: what is over them is cut off or refused, for one tenant at a time."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler

import pytest
from typing_extensions import override

from components.layer.config.gateway import ALIVE_PATH, READY_PATH
from tests.services.gateway.stack import Gateway, Stores, World, bearer, settings_with, start_gateway
from tests.services.http_raw import Answer, ask, recorder, send, serving
from tests.services.running import free_port
from tests.services.sidecar import API

SLOW_SECONDS = 1.0


class Slow(BaseHTTPRequestHandler):
    """A store that takes its time for what is called slow."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if "slow" in self.path:
            time.sleep(SLOW_SECONDS)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    @override
    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def limited() -> Iterator[Gateway]:
    """Five requests a second, ten at once, three under way; everything behind it is one slow server."""
    with ExitStack() as stack:
        behind, slow = stack.enter_context(recorder()), f"127.0.0.1:{stack.enter_context(serving(Slow))}"
        limits = {"requestsPerSecond": 5, "concurrentRequests": 3}
        settings = settings_with(("layer.gateway", limits))
        yield start_gateway(stack, settings, Stores(slow, slow, slow, behind))


def several(gateway: Gateway, path: str, caller: str, count: int) -> list[Answer]:
    """Answers to requests that are under way at once."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda _: gateway.ask(path, caller), range(count)))


def test_too_many_requests_of_a_tenant_are_429_and_another_tenants_are_not(limited: Gateway) -> None:
    statuses = [limited.ask("/api/v1/query", bearer("shop")).status for _ in range(14)]
    assert statuses[:10] == [200] * 10
    assert statuses[-1] == 429
    assert limited.ask("/api/v1/query", bearer("shop")).headers["retry-after"] == "1"
    assert limited.ask("/api/v1/query", bearer("mail")).status == 200
    # The platform's reads of a tenant are not that tenant's.
    assert limited.ask("/api/v1/query", bearer("", "platform"), "X-Scope-OrgID: shop").status == 200


def test_too_many_at_once_are_429_and_another_tenants_are_not(limited: Gateway) -> None:
    answers = several(limited, "/api/v1/query?slow", bearer("billing"), 5)
    assert sorted(answer.status for answer in answers) == [200, 200, 200, 429, 429]
    assert limited.ask("/api/v1/query", bearer("mail")).status == 200


def test_refusals_are_not_counted(limited: Gateway) -> None:
    """Who has no token, or asks for what it may not, uses up nobody's share."""
    for _ in range(20):
        assert limited.ask("/api/v1/query", "Authorization: Bearer wrong").status == 401
        assert limited.ask("/federate", bearer("wiki")).status == 403
    assert limited.ask("/api/v1/query", bearer("wiki")).status == 200


def test_long_lines_and_bodies_are_refused(world: World) -> None:
    gateway = world.gateway
    assert gateway.ask(f"/api/v1/series?match[]={'a' * 30_000}", bearer("shop")).status in (200, 400)
    assert gateway.ask(f"{API}/query?query={'a' * 30_000}", bearer("shop")).status == 200
    assert gateway.ask(f"{API}/query?query={'a' * 40_000}", bearer("shop")).status == 414
    assert gateway.ask(f"{API}/query", bearer("shop"), f"X-Long: {'a' * 40_000}").status == 400
    assert (
        gateway.ask(f"{API}/query", bearer("shop"), *[f"X-{n}: {'a' * 30}" for n in range(5000)]).status
        == 400
    )
    assert gateway.ask("/api/v1/query", bearer("shop"), body=b"x" * 100_000).status == 413
    writer = bearer("search", "write")
    assert gateway.ask(f"{API}/push", writer, method="POST", body=b"x" * (4 << 20)).status == 200
    head = f"POST {API}/push HTTP/1.1\r\nHost: a\r\n{writer}\r\nContent-Length: {(4 << 20) + 1}\r\n\r\n"
    assert send(gateway.port, head.encode()).status == 413
    assert [len(seen.body) for seen in world.stores.behind.seen if seen.method == "POST"] == [4 << 20]


def test_a_guarded_query_of_any_length_is_judged_not_let_through(world: World) -> None:
    """The pattern is found at the far end of a long query, and a long harmless one is no error of the pattern's."""
    filler = "%2B".join(["secret"] * 3_000)
    leak = "topk(scalar(only_here)%2Csecret)"
    assert world.gateway.ask(f"/api/v1/query?query={filler}%2B{leak}", bearer("shop")).status == 403
    for text in (
        "topk(1%2C" * 2_500,
        "topk" + "+" * 30_000,
        "topk+by(" + "a," * 14_000,
        "quantile(" + "1" * 30_000,
    ):
        assert world.gateway.ask(f"/api/v1/query?query={text}", bearer("shop")).status < 500


COSTLY = [
    "{a=~'" + "(a{0,100}){0,9}" * 100 + "'}",
    "{a=~'(" + "a" * 9000 + "){1000}'}",
    "{a=~'" + "%5C%5CpL" * 1000 + "'}",
    "(" * 400 + "1" + ")" * 400,
    "%2D-" * 100 + "1",
]


def test_what_is_costly_to_read_reaches_no_store(world: World) -> None:
    """A few of these at once end prom-label-proxy, or Loki, by their memory, and both are everybody's."""
    for query in COSTLY:
        for path in (
            "query?query=",
            "query_range?query=",
            "series?match[]=",
            "labels?match[]=",
            "label/a/values?match[]=",
        ):
            for api in (f"{API}/", "/api/v1/"):
                for caller in (bearer("shop"), bearer("", "platform")):
                    answer = world.gateway.ask(api + path + query, caller)
                    assert (answer.status, b"too costly" in answer.body) == (400, True), (api, path, query)
    assert world.gateway.ask(f"/api/v1/query?query={'1-' * 8_300}1", bearer("shop")).status == 400
    assert world.gateway.ask(f"{API}/query?query={'1-' * 8_300}1", bearer("shop")).status == 200
    assert len(world.stores.behind.seen) == 1


def test_a_push_that_unpacks_without_a_bound_is_refused(world: World) -> None:
    writer = bearer("search", "write")
    for encoding in ("gzip", "deflate", "zstd", "GZIP", "snappy, gzip", "gzip\r\nContent-Encoding: snappy"):
        headers = (writer, f"Content-Encoding: {encoding}")
        assert world.gateway.ask(f"{API}/push", *headers, method="POST", body=b"x").status == 415
    assert world.stores.behind.seen == []
    for more in ([], ["Content-Encoding: snappy"]):
        assert world.gateway.ask(f"{API}/push", writer, *more, method="POST", body=b"x").status == 200


def hurried(text: str) -> str:
    """The times by which a request must be there, shorter than the rendered ones."""
    for kind, seconds in (("header", 10), ("body", 15)):
        rendered = f"client_{kind}_timeout {seconds}s;"
        assert rendered in text
        text = text.replace(rendered, f"client_{kind}_timeout 1s;")
    return text


@pytest.mark.parametrize("end", ["", f"{bearer('search', 'write')}\r\nContent-Length: 9\r\n\r\nslow"])
def test_who_does_not_finish_a_request_is_cut_off(world: World, end: str) -> None:
    with ExitStack() as stack:
        gateway = start_gateway(stack, settings_with(), world.stores, edit=hurried)
        started = time.monotonic()
        answer = send(gateway.port, f"POST {API}/push HTTP/1.1\r\nHost: a\r\n{end}".encode())
        assert answer.status in (0, 408)
        assert 0.9 < time.monotonic() - started < 4


def test_while_a_store_is_away_reads_and_pushes_are_502() -> None:
    with ExitStack() as stack:
        nowhere = f"127.0.0.1:{free_port()}"
        behind = stack.enter_context(recorder())
        gateway = start_gateway(stack, settings_with(), Stores(nowhere, nowhere, nowhere, behind))
        assert gateway.ask("/api/v1/query?query=private", bearer("shop")).status == 502
        push = gateway.ask(f"{API}/push", bearer("search", "write"), method="POST", body=b"x")
        assert push.status == 502
        assert "private" not in gateway.logged()
        # Alive, since a restart would not help; not ready, since prom-label-proxy is in the same pod.
        assert (ask(gateway.health, ALIVE_PATH).status, ask(gateway.health, READY_PATH).status) == (200, 502)


def test_health_says_nothing_but_health(world: World) -> None:
    health = world.gateway.health
    assert (ask(health, ALIVE_PATH).status, ask(health, READY_PATH).status) == (200, 200)
    for path in ("/", "/api/v1/query?query=1", f"{API}/query", "/metrics", "/nginx_status", "/healthz"):
        assert ask(health, path, bearer("", "platform")).status == 404
    assert world.stores.behind.seen == []


@pytest.mark.parametrize("signal", ["layer.metrics", "layer.logs"])
def test_without_a_signal_its_paths_are_403_and_the_rest_works(world: World, signal: str) -> None:
    with ExitStack() as stack:
        changes = [(signal, "off"), ("tenants.search", None), ("tenants.billing.metrics", None)]
        gateway = start_gateway(stack, settings_with(*changes), world.stores)
        metrics, logs = (
            gateway.ask("/api/v1/labels", bearer("shop")),
            gateway.ask(f"{API}/labels", bearer("shop")),
        )
        assert (metrics.status, logs.status) == ((403, 200) if signal == "layer.metrics" else (200, 403))
        assert ask(gateway.health, READY_PATH).status == 200
