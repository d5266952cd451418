"""What reaches the servers behind: recorders stand in for all of them, so that every header and byte is seen."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from components.layer import credentials
from components.layer.config.gateway import NAMESPACE_HEADER
from tests.services.gateway.stack import Gateway, Stores, bearer, settings_with, start_gateway
from tests.services.http_raw import Recorder, Seen, ask, recorder, send
from tests.services.prometheus_server import basic
from tests.services.sidecar import API
from tests.support.environments import KEY


@dataclass(frozen=True)
class Recorded:
    """A gateway and what it has sent on, to Loki and to the metrics servers."""

    gateway: Gateway
    logs: Recorder
    scoped: Recorder
    unscoped: Recorder

    def one(self) -> Seen:
        """The only request that reached anything since the last look."""
        (seen,) = [*self.logs.seen, *self.scoped.seen, *self.unscoped.seen]
        self.forget()
        return seen

    def forget(self) -> None:
        """Start anew."""
        for record in (self.logs, self.scoped, self.unscoped):
            record.seen.clear()


@pytest.fixture(scope="module")
def running() -> Iterator[Recorded]:
    with ExitStack() as stack:
        logs, scoped, unscoped = (stack.enter_context(recorder()) for _ in range(3))
        loki, label_proxy, prometheus = (f"127.0.0.1:{record.port}" for record in (logs, scoped, unscoped))
        stores = Stores(loki, label_proxy, prometheus, behind=logs)
        yield Recorded(start_gateway(stack, settings_with(), stores), logs, scoped, unscoped)


@pytest.fixture
def recorded(running: Recorded) -> Recorded:
    running.forget()
    return running


KNOWN = [
    "Accept: a/b",
    "User-Agent: test",
    "Accept-Encoding: gzip",
    "Content-Type: text/x",
    "Content-Encoding: snappy",
]
FOREIGN = [
    "Cookie: a=b", "X-Forwarded-For: 1.2.3.4", "X-Real-IP: 1.2.3.4", "Forwarded: for=1.2.3.4", "X-WEBAUTH-USER: admin",
    "X-Original-URL: /federate", "X-HTTP-Method-Override: DELETE", "X-Loki-Anything: x", "X-Prom-Label-Policy: x",
    "THANOS-TENANT: billing", "X_Scope_OrgID: billing", "X-Grafana-Org-Id: 2", "X-Query-Tags: a=b", "Range: bytes=0-1",
    "Proxy-Authorization: Bearer x", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__", "Expect: x", "TE: trailers",
    "X-Tenant-Namespace: billing", "x-tenant-namespace: billing", "X-Scope-OrgID: billing",
]  # fmt: skip
SAID = {
    "host",
    "accept",
    "user-agent",
    "accept-encoding",
    "content-type",
    "content-encoding",
    "authorization",
}
READS = [
    f"{API}/query",
    f"{API}/labels",
    f"{API}/label/a/values",
    "/api/v1/query",
    "/api/v1/labels",
    "/api/v1/label/a/values",
]


@pytest.mark.parametrize("path", READS)
def test_only_named_headers_go_on_and_the_callers_token_never(recorded: Recorded, path: str) -> None:
    recorded.gateway.ask(path, bearer("shop"), *KNOWN, *FOREIGN, body=b"X-Scope-OrgID=billing")
    seen = recorded.one()
    whose = "x-scope-orgid" if path.startswith(API) else NAMESPACE_HEADER.lower()
    assert {name.lower() for name, _ in seen.headers} == {*SAID, whose}
    assert seen.all(whose) == ["shop"]
    assert bearer("shop").split(": ")[1] not in seen.all("authorization")
    assert (seen.body, seen.all("content-length"), seen.all("transfer-encoding")) == (b"", [], [])


def test_a_push_carries_its_body_and_the_tokens_tenant(recorded: Recorded) -> None:
    headers = (bearer("search", "write"), *KNOWN, *FOREIGN)
    recorded.gateway.ask(f"{API}/push?x=1&tenant=billing", *headers, method="POST", body=b"lines")
    seen = recorded.one()
    assert (seen.path, seen.body, seen.all("x-scope-orgid")) == (f"{API}/push", b"lines", ["search"])
    assert {name.lower() for name, _ in seen.headers} == {*SAID, "x-scope-orgid", "content-length"}


def test_each_store_gets_the_layers_own_credential(recorded: Recorded) -> None:
    recorded.gateway.ask(f"{API}/query", bearer("shop"))
    assert recorded.one().all("authorization") == [f"Bearer {credentials.layer_token(KEY, 'gateway')}"]
    wanted = basic("layer", credentials.layer_token(KEY, "metrics")).split(": ")[1]
    for caller in (bearer("shop"), bearer("", "platform")):
        recorded.gateway.ask("/api/v1/query", caller)
        assert recorded.one().all("authorization") == [wanted]


@pytest.mark.parametrize(("tenant", "own"), [("shop", ["shop"]), ("mail", ["mail-in", "mail-out"])])
def test_a_tenants_namespaces_are_one_header_each(recorded: Recorded, tenant: str, own: list[str]) -> None:
    recorded.gateway.ask("/api/v1/query", bearer(tenant), "X-Tenant-Namespace: billing")
    assert recorded.scoped.seen[0].all(NAMESPACE_HEADER) == own
    recorded.forget()
    recorded.gateway.ask("/api/v1/query", bearer("", "platform"), f"X-Scope-OrgID: {tenant}")
    assert recorded.scoped.seen[0].all(NAMESPACE_HEADER) == own


def test_only_the_platform_that_names_no_tenant_goes_past_the_scoping(recorded: Recorded) -> None:
    recorded.gateway.ask("/api/v1/query", bearer("", "platform"))
    assert len(recorded.unscoped.seen) == 1
    for caller in (bearer("shop"), bearer("mail"), bearer("billing")):
        recorded.gateway.ask("/api/v1/query", caller, "X-Scope-OrgID: platform", "X-Tenant-Namespace: -")
    assert (len(recorded.unscoped.seen), len(recorded.scoped.seen)) == (1, 3)


# --- paths ------------------------------------------------------------------------------------------------------------

TWISTED = [
    f"{API}/query/../delete", f"{API}/query/%2e%2e/delete", f"{API}/delete/..%2fquery", f"{API}/query%2f..%2fdelete",
    f"{API}/label/%2e%2e/values", f"{API}/label/a%00/values", f"{API}/label/a%0d%0aX/values", f"{API}/query%3fx",
    f"{API}/label/..%252fdelete/values", "/loki//api/v1/query", "/%6coki/api/v1/query", f"{API}/query%0a",
    f"http://evil{API}/query", "/LOKI/API/V1/QUERY", f"{API}/query%20", f"{API}/detected_field/a/b/values",
    "/api/v1/query/../federate", "/api/v1/query/%2e%2e/federate", "/api/v1/federate/..%2fquery", "/api/v1/%71uery",
    "/api/v1/label/%2e%2e/values", "/api/v1/label/a%2f..%2f..%2fquery/values", "/api//v1/query", "/api/v1/./query",
    "http://evil/api/v1/query", "/api/v1/query;a=b", "/api/v1/query%00", "/api/v1/query%23", "/api/v1/rules/%2e%2e/x",
    "/api/v1/label/__name__/values/../../query", "/a/../api/v1/query", "/..%2fapi/v1/query", "//api/v1/query",
]  # fmt: skip


@pytest.mark.parametrize("path", TWISTED)
def test_a_twisted_path_is_refused_or_built_anew(recorded: Recorded, path: str) -> None:
    assert recorded.gateway.ask(path, bearer("shop")).status in (200, 400, 403)
    allowed = {*READS, "/loki/api/v1/query", "/api/v1/query"}
    for seen in [*recorded.logs.seen, *recorded.scoped.seen]:
        assert seen.path in allowed
        assert seen.all("host") in (["loki"], ["prometheus"])
    assert recorded.unscoped.seen == []


def test_a_query_goes_on_to_the_byte(recorded: Recorded) -> None:
    query = "?query=%7Ba%3D%22b%22%7D&limit=5&x=/../y&%zz=1;2&query=b"
    for path in (f"{API}/query", "/api/v1/series"):
        recorded.gateway.ask(path + query, bearer("shop"))
        assert recorded.one().path == path + query


def test_no_upgrade_goes_on(recorded: Recorded) -> None:
    for upgrade in ("websocket", "h2c", "WebSocket, h2c"):
        for path in (f"{API}/query", "/api/v1/query"):
            recorded.gateway.ask(path, bearer("shop"), "Connection: Upgrade", f"Upgrade: {upgrade}")
            seen = recorded.one()
            assert (seen.all("upgrade"), seen.all("connection")) == ([], [])
    assert recorded.gateway.ask(f"{API}/tail", bearer("shop"), "Upgrade: websocket").status == 403
    assert recorded.logs.seen == []


# --- where a request ends ---------------------------------------------------------------------------------------------

SMUGGLED = {
    "length and chunks": "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "two lengths": "Content-Length: 5\r\nContent-Length: 6",
    "signed length": "Content-Length: +3",
    "negative length": "Content-Length: -1",
    "unknown encoding": "Transfer-Encoding: xchunked",
    "encoded twice": "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
}


@pytest.mark.parametrize("lines", SMUGGLED.values(), ids=SMUGGLED)
@pytest.mark.parametrize("line", [f"POST {API}/push", "GET /api/v1/query", f"GET {API}/query"])
def test_a_request_with_two_ends_is_refused(recorded: Recorded, line: str, lines: str) -> None:
    caller = bearer("search", "write") if line.startswith("POST") else bearer("shop")
    head = f"{line} HTTP/1.1\r\nHost: a\r\n{caller}\r\nConnection: close\r\n{lines}\r\n\r\n"
    assert send(recorded.gateway.port, head.encode() + b"0\r\n\r\n").status in (400, 501)
    assert [*recorded.logs.seen, *recorded.scoped.seen] == []


@pytest.mark.parametrize("ending", ["Content-Length: {length}", "Transfer-Encoding: chunked"])
def test_the_body_of_a_read_is_dropped_and_is_nobodys_next_request(recorded: Recorded, ending: str) -> None:
    inner = b"GET /api/v1/labels HTTP/1.1\r\nHost: a\r\nX-Tenant-Namespace: billing\r\n\r\n"
    body = inner if "length" in ending else b"%x\r\n%b\r\n0\r\n\r\n" % (len(inner), inner)
    lines = ["GET /api/v1/query HTTP/1.1", "Host: a", bearer("shop"), ending.format(length=len(inner))]
    head = "\r\n".join([*lines, "Connection: close", "", ""]).encode()
    for _ in range(3):  # over one kept connection to the server behind
        assert send(recorded.gateway.port, head + body).status == 200
        assert ask(recorded.gateway.port, "/api/v1/rules", bearer("mail")).status == 200
    assert [seen.path for seen in recorded.scoped.seen] == ["/api/v1/query", "/api/v1/rules"] * 3
    assert all(seen.body == b"" for seen in recorded.scoped.seen)
