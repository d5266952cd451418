"""What each role may call, and what then reaches the stores."""

import pytest

from tests.services.gateway.stack import World, bearer, token, whole
from tests.services.http_raw import send
from tests.services.sidecar import API

LOG_READS = [
    *(
        f"{API}/{name}"
        for name in ("query", "query_range", "labels", "series", "index/stats", "index/volume")
    ),
    *(f"{API}/{name}" for name in ("index/volume_range", "patterns", "detected_labels", "detected_fields")),
    f"{API}/label/namespace/values",
    f"{API}/detected_field/level.x/values",
]
METRIC_READS = [
    *(f"/api/v1/{name}?query=1&start=1&end=2&step=1" for name in ("query", "query_range", "query_exemplars")),
    *(
        f"/api/v1/{name}"
        for name in ("labels", "rules", "alerts", "label/namespace/values", "series?match[]=up")
    ),
    "/api/v1/metadata",
    "/api/v1/status/buildinfo",
]
PUSH = f"{API}/push"
OTHERS = [
    "/", "/ready", "/alive", "/config", "/services", "/ring", "/flush", "/log_level", "/ingester/shutdown", "/metrics",
    f"{API}/delete", f"{API}/rules", f"{API}/tail", f"{API}/status/buildinfo", f"{API}/format_query", "/api/prom/push",
    "/api/prom/query", "/api/prom/tail", "/otlp/v1/logs", f"{PUSH}/", f"{API}/Push", f"{API}/label/namespace",
    "/loki/api/v2/query", f"{API}/query;a=b", f"{API}/query/", "/LOKI/API/V1/QUERY",
    *(f"/api/v1/{name}" for name in (
        "federate", "read", "write", "otlp/v1/metrics", "targets", "targets/metadata", "scrape_pools", "alertmanagers",
        "status/config", "status/flags", "status/tsdb", "status/runtimeinfo", "status/walreplay", "admin/tsdb/snapshot",
        "admin/tsdb/delete_series", "features", "format_query", "parse_query", "query_cost", "search/metrics",
        "notifications", "notifications/live", "openapi.yaml", "label/namespace", "label//values", "metadata/", "QUERY",
    )),
    "/federate", "/api/v2/silences", "/api/v2/alerts", "/api/v2/silence/1", "/graph", "/-/reload", "/-/quit",
    "/debug/pprof/", "/api/v1", "/api/v1/", "/prometheus/api/v1/query", "/healthz", "/classic/", "/version",
]  # fmt: skip
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "PROPFIND"]
EVERYTHING = [PUSH, *LOG_READS, *METRIC_READS, *OTHERS]
MAY = {
    ("shop", "read"): {("GET", path) for path in (*LOG_READS, *METRIC_READS)},
    ("search", "write"): {("POST", PUSH)},
    ("", "platform"): {("GET", path) for path in (*LOG_READS, *METRIC_READS)},
    # Signals that are off: nothing to read of them.
    ("wiki", "read"): {("GET", path) for path in METRIC_READS},
    ("search", "read"): {("GET", path) for path in LOG_READS},
}


def expected(method: str, path: str, may: set[tuple[str, str]], *, pushes: bool) -> set[int]:
    """Methods that nothing here has are 405 anywhere; then a path that the role has no business with is 403."""
    if (method, path) in may:
        return {200, 204}  # 204: Prometheus has no exemplars
    if method not in ("GET", "POST"):
        return {405}
    known = {PUSH} if pushes else {*LOG_READS, *METRIC_READS}
    return {405} if path in known and method != ("POST" if pushes else "GET") else {403}


@pytest.mark.parametrize("caller", MAY, ids=lambda caller: "-".join(caller).strip("-"))
def test_a_role_may_do_what_the_table_says_and_nothing_else(world: World, caller: tuple[str, str]) -> None:
    tenant, role = caller
    may, pushes = MAY[caller], role == "write"
    for path in EVERYTHING:
        for method in METHODS:
            body = b"x" if method in ("POST", "PUT", "PATCH") else b""
            answer = world.gateway.ask(path, bearer(tenant, role), method=method, body=body)
            assert answer.status in expected(method, path, may, pushes=pushes), (method, path)
            if answer.status == 405:
                allowed = "GET, POST" if method not in ("GET", "POST") else ("POST" if pushes else "GET")
                assert answer.headers["allow"] == allowed
    reached = {(seen.method, seen.path) for seen in world.stores.behind.seen}
    assert reached == {(method, path) for method, path in may if path.startswith("/loki/")}
    names = {seen.all("x-scope-orgid")[0] for seen in world.stores.behind.seen}
    assert names <= {tenant or "platform"}


@pytest.mark.parametrize("line", ["TRACE / HTTP/1.1", "CONNECT a:80 HTTP/1.1", "get / HTTP/1.1"])
def test_methods_that_nginx_itself_refuses_reach_nothing(world: World, line: str) -> None:
    answer = send(world.gateway.port, f"{line}\r\nHost: a\r\n{bearer('shop')}\r\n\r\n".encode())
    assert answer.status in (400, 405)
    assert world.stores.behind.seen == []


def test_what_no_store_has_per_tenant_is_a_fixed_answer(world: World) -> None:
    assert world.gateway.ask("/api/v1/metadata", bearer("shop")).body == b'{"status":"success","data":{}}'
    build = world.gateway.ask("/api/v1/status/buildinfo", bearer("shop"))
    assert (build.status, build.headers["content-type"]) == (200, "application/json")
    assert b'"version":"3.' in build.body


# --- the platform -----------------------------------------------------------------------------------------------------


def test_the_platform_names_the_tenant_that_it_reads(world: World) -> None:
    def words(*headers: str) -> str:
        return whole(
            world.gateway.ask("/api/v1/label/word/values", bearer("", "platform"), *headers)
        ).decode()

    assert "mailoutword" in words("X-Scope-OrgID: mail")
    assert "shopword" not in words("X-Scope-OrgID: mail")
    assert all(word in words() for word in ("shopword", "mailinword", "billwordone", "nodewordone"))
    world.gateway.ask(f"{API}/query", bearer("", "platform"), "X-Scope-OrgID: billing")
    world.gateway.ask(f"{API}/query", bearer("", "platform"))
    assert [seen.all("x-scope-orgid") for seen in world.stores.behind.seen] == [["billing"], ["platform"]]


@pytest.mark.parametrize(
    "name", ["a|b", "shop,billing", "*", "Shop", "a/b", "-a", "x" * 64, "..", "shop billing"]
)
def test_the_platform_names_one_tenant_or_gets_nothing(world: World, name: str) -> None:
    for path in (f"{API}/query", "/api/v1/query?query=1"):
        assert world.gateway.ask(path, bearer("", "platform"), f"X-Scope-OrgID: {name}").status == 400
    assert world.stores.behind.seen == []


def test_the_platform_gets_no_metrics_of_a_tenant_that_is_not_there(world: World) -> None:
    headers = (bearer("", "platform"), "X-Scope-OrgID: nobody")
    assert world.gateway.ask("/api/v1/query?query=1", *headers).status == 403
    assert world.gateway.ask(f"{API}/query", *headers).status == 200  # its lines outlive it


def test_nobody_but_the_platform_can_say_platform(world: World) -> None:
    answer = world.gateway.ask("/api/v1/label/word/values", bearer("shop"), "X-Scope-OrgID: platform")
    assert whole(answer) == b'{"status":"success","data":["shopword"]}'


def test_the_platforms_reads_are_told_apart_in_the_log(world: World) -> None:
    world.gateway.ask("/api/v1/query?query=1", bearer("", "platform"), "X-Scope-OrgID: mail")
    last = world.gateway.logged().splitlines()[-1]
    assert '"role":"platform","tenant":"mail"' in last
    assert token("", "platform") not in last
