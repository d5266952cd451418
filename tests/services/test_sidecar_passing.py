"""What the sidecar lets a role do, and what of a request reaches Loki."""

import json
import re
from contextlib import ExitStack

import pytest

from components.layer.config.loki_sidecar import Role, token_map
from tests.services.http_raw import ask, send
from tests.services.running import free_port, until
from tests.services.sidecar import API, METRICS, PUSH, QUERY, ROLES, SHOP, TOKENS, Sidecar, bearer, start

# --- roles ------------------------------------------------------------------------------------------------------------

READS = [
    *(
        f"{API}/{name}"
        for name in ("query", "query_range", "labels", "series", "index/stats", "index/volume")
    ),
    *(f"{API}/{name}" for name in ("index/volume_range", "patterns", "detected_labels", "detected_fields")),
    f"{API}/label/namespace/values",
    f"{API}/detected_field/level.x/values",
    f"{API}/tail",
]
OTHERS = [
    "/", "/ready", "/config", "/services", "/ring", "/flush", "/log_level", "/ingester/shutdown", "/memberlist",
    f"{API}/delete", f"{API}/rules", f"{API}/status/buildinfo", f"{API}/format_query", "/api/prom/push",
    "/api/prom/query", "/otlp/v1/logs", f"{API}/push/", f"{API}/Push", f"{API}/label/namespace", "/debug/pprof/",
    "/compactor/ring", "/loki/api/v2/query", f"{QUERY};a=b", f"{QUERY}/", "/metrics/", "/ui/",
]  # fmt: skip
MAY = {
    "push": {("POST", PUSH)},
    "read": {*(("GET", path) for path in READS), ("GET", METRICS)},
    "scrape": {("GET", METRICS)},
    "gateway": {("POST", PUSH), *(("GET", path) for path in READS)},
}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_do_what_the_table_says_and_nothing_else(sidecar: Sidecar, role: Role) -> None:
    passed = set()
    for path in (PUSH, METRICS, *READS, *OTHERS):
        for method in ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"):
            body = b"x" if method in ("POST", "PUT", "PATCH") else b""
            status = ask(sidecar.port, path, bearer(role), SHOP, method=method, body=body).status
            assert status in (200, 403), (method, path, status)
            if status == 200:
                passed.add((method, path))
    assert passed == MAY[role]
    assert {(seen.method, seen.path) for seen in sidecar.behind.seen} == MAY[role]


@pytest.mark.parametrize("request_line", ["TRACE / HTTP/1.1", "CONNECT a:80 HTTP/1.1", "get / HTTP/1.1"])
def test_methods_that_nginx_itself_refuses_reach_nothing(sidecar: Sidecar, request_line: str) -> None:
    answer = send(sidecar.port, f"{request_line}\r\nHost: a\r\n{bearer('read')}\r\n\r\n".encode())
    assert answer.status in (400, 405)
    assert sidecar.behind.seen == []


TRAVERSALS = [
    f"{API}/query/../delete", f"{API}/query/%2e%2e/delete", f"{API}/delete/..%2fquery", f"{API}/query%2f..%2fdelete",
    f"{API}/label/%2e%2e/values", f"{API}/label/a%00/values", f"{API}/label/a%0d%0aX/values", f"{API}/query%3fx",
    f"{API}/label/..%252fdelete/values", "/loki//api/v1/query", "/%6coki/api/v1/query", f"{API}/query%0a",
    f"http://evil{API}/query", "/LOKI/API/V1/QUERY", f"{API}/query%20", f"{API}/detected_field/a/b/values",
]  # fmt: skip


@pytest.mark.parametrize("path", TRAVERSALS)
def test_a_twisted_path_is_refused_or_reaches_a_path_of_the_table(sidecar: Sidecar, path: str) -> None:
    assert ask(sidecar.port, path, bearer("read"), SHOP).status in (200, 403, 400)
    allowed = {path for _, path in MAY["read"]}
    assert {seen.path for seen in sidecar.behind.seen} <= allowed
    assert all(seen.all("host") == ["loki"] for seen in sidecar.behind.seen)


def test_a_query_is_passed_on_and_a_push_has_none(sidecar: Sidecar) -> None:
    query = "?query=%7Ba%3D%22b%22%7D&limit=5&x=/../y"
    assert ask(sidecar.port, QUERY + query, bearer("read"), SHOP).status == 200
    assert ask(sidecar.port, f"{PUSH}?x=1", bearer("push"), SHOP, method="POST", body=b"lines").status == 200
    assert [seen.path for seen in sidecar.behind.seen] == [QUERY + query, PUSH]
    assert sidecar.behind.seen[1].body == b"lines"


# --- what reaches Loki ------------------------------------------------------------------------------------------------

TENANTS = [
    "",
    "a|b",
    "shop|billing",
    "a,b",
    "*",
    ".*",
    "Shop",
    "a.b",
    "a/b",
    "../x",
    "-a",
    "a-",
    "x" * 64,
    "shop ",
]


@pytest.mark.parametrize("tenant", [None, *TENANTS])
def test_a_call_names_exactly_one_tenant(sidecar: Sidecar, tenant: str | None) -> None:
    headers = [bearer("gateway")] if tenant is None else [bearer("gateway"), f"X-Scope-OrgID: {tenant}"]
    statuses = {
        ask(sidecar.port, QUERY, *headers).status,
        ask(sidecar.port, PUSH, *headers, method="POST", body=b"x").status,
    }
    if tenant == "shop ":  # blanks around a value are no part of it
        assert statuses == {200}
        assert [seen.all("x-scope-orgid") for seen in sidecar.behind.seen] == [["shop"], ["shop"]]
    else:
        assert statuses == {400}
        assert sidecar.behind.seen == []


def test_a_tenant_named_twice_is_one_or_none(sidecar: Sidecar) -> None:
    answer = ask(sidecar.port, QUERY, bearer("read"), SHOP, "X-Scope-OrgID: billing")
    assert answer.status in (
        200,
        400,
    )  # nginx before 1.23 takes the first, later ones join both, which is no name
    assert [seen.all("x-scope-orgid") for seen in sidecar.behind.seen] in ([], [["shop"]])


FOREIGN = [
    "Cookie: a=b", "X-Forwarded-For: 1.2.3.4", "X-Real-IP: 1.2.3.4", "Forwarded: for=1.2.3.4",
    "X-Original-URL: /delete", "X-HTTP-Method-Override: DELETE", "X-Loki-Anything: x", "X-Prom-Label-Policy: x",
    "THANOS-TENANT: x", "X_Scope_OrgID: a",
    "Proxy-Authorization: Bearer x", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__", "Range: bytes=0-1",
]  # fmt: skip


def test_only_named_headers_reach_loki_and_the_credential_never(sidecar: Sidecar) -> None:
    known = [
        "Accept: a/b",
        "User-Agent: test",
        "Accept-Encoding: gzip",
        "Content-Type: application/x-protobuf",
    ]
    ask(sidecar.port, QUERY, bearer("gateway"), SHOP, *known, *FOREIGN)
    ask(sidecar.port, PUSH, bearer("gateway"), SHOP, *known, *FOREIGN, method="POST", body=b"x")
    ask(sidecar.port, METRICS, bearer("scrape"), *known, *FOREIGN)
    assert len(sidecar.behind.seen) == 3
    allowed = {
        "host",
        "x-scope-orgid",
        "content-type",
        "accept",
        "accept-encoding",
        "user-agent",
        "content-length",
    }
    for seen in sidecar.behind.seen:
        assert {name.lower() for name, _ in seen.headers} <= allowed, seen.path
        assert seen.all("content-type") == ["application/x-protobuf"]
    assert not any("Bearer" in value for seen in sidecar.behind.seen for _, value in seen.headers)


def test_only_a_tail_may_become_a_websocket(sidecar: Sidecar) -> None:
    upgrade = ["Upgrade: websocket"]
    ask(sidecar.port, f"{API}/tail", bearer("read"), SHOP, *upgrade)
    ask(sidecar.port, QUERY, bearer("read"), SHOP, *upgrade)
    tail, query = sidecar.behind.seen
    assert (tail.all("upgrade"), tail.all("connection")) == (["websocket"], ["upgrade"])
    assert (query.all("upgrade"), query.all("connection")) == ([], [])


# --- limits and faults ------------------------------------------------------------------------------------------------


def test_a_large_batch_passes_and_a_larger_one_is_413(sidecar: Sidecar) -> None:
    assert ask(sidecar.port, PUSH, bearer("push"), SHOP, method="POST", body=b"x" * (4 << 20)).status == 200
    head = (
        f"POST {PUSH} HTTP/1.1\r\nHost: a\r\n{SHOP}\r\n{bearer('push')}\r\nContent-Length: {17 << 20}\r\n\r\n"
    )
    assert send(sidecar.port, head.encode()).status == 413
    assert [len(seen.body) for seen in sidecar.behind.seen] == [4 << 20]


def test_a_long_query_passes(sidecar: Sidecar) -> None:
    assert ask(sidecar.port, f"{QUERY}?query={'a' * 30_000}", bearer("read"), SHOP).status == 200


SMUGGLED = {
    "length and chunks": "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "two lengths": "Content-Length: 5\r\nContent-Length: 6",
    "unknown encoding": "Transfer-Encoding: xchunked",
}


@pytest.mark.parametrize("lines", SMUGGLED.values(), ids=SMUGGLED)
def test_a_request_with_two_ends_is_refused(sidecar: Sidecar, lines: str) -> None:
    head = f"POST {PUSH} HTTP/1.1\r\nHost: a\r\n{SHOP}\r\n{bearer('push')}\r\nConnection: close\r\n{lines}\r\n\r\n"
    assert send(sidecar.port, head.encode() + b"0\r\n\r\n").status in (400, 501)
    assert sidecar.behind.seen == []


def test_while_loki_is_away_an_agent_is_told_to_try_again() -> None:
    with ExitStack() as stack:
        port, _ = start(stack, token_map({"push": [TOKENS["push"]]}), free_port())
        assert ask(port, PUSH, bearer("push"), SHOP, method="POST", body=b"x").status == 502


def test_neither_a_token_nor_a_query_is_in_the_log_and_good_pushes_are_not_either(sidecar: Sidecar) -> None:
    before = sidecar.log.stat().st_size
    ask(sidecar.port, PUSH, bearer("push"), SHOP, method="POST", body=b"x")
    ask(sidecar.port, METRICS, bearer("scrape"))
    ask(sidecar.port, f"{QUERY}?query=private", bearer("read"), SHOP)
    ask(sidecar.port, f"{PUSH}?private", bearer("read"), SHOP)

    def written() -> list[str]:
        return sidecar.log.read_bytes()[before:].decode().splitlines()

    # A line is written after its answer is sent; the requests went out one after the other.
    until(lambda: len(written()) >= 2, lambda: f"logged: {written()}")
    lines = written()
    logged = [{key: json.loads(line)[key] for key in ("role", "tenant", "path", "status")} for line in lines]
    assert logged == [
        {"role": "read", "tenant": "shop", "path": QUERY, "status": "200"},
        {"role": "read", "tenant": "shop", "path": PUSH, "status": "403"},
    ]
    everything = sidecar.log.read_text(errors="replace")
    assert not [role for role, token in TOKENS.items() if token in everything]
    assert "private" not in everything
    assert not re.search(r"\[(emerg|alert|crit)\]", everything)
