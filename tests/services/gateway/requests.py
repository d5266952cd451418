"""Requests that hypothesis makes up: methods, paths, encodings, headers, parameters, and PromQL in them."""

from dataclasses import dataclass
from urllib.parse import quote, quote_plus

from hypothesis import strategies as st

from tests.services.gateway import samples
from tests.services.gateway.promql import METRICS, NAMESPACES, expressions, selectors
from tests.services.gateway.stack import bearer

CALLERS = ["shop", "mail"]


@dataclass(frozen=True)
class Request:
    """One request, without the caller's token."""

    caller: str
    method: str
    target: str
    headers: tuple[str, ...]
    body: bytes

    def lines(self) -> tuple[str, ...]:
        """Header lines, the token among them."""
        return (bearer(self.caller), *self.headers)


@st.composite
def _pair(draw: st.DrawFn, key: str, value: str) -> str:
    """`key=value`, encoded as clients do, or as those who want to hide something do."""
    way = draw(st.sampled_from([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]))
    if way == 1:
        return "".join(f"%{byte:02x}" for byte in key.encode()) + "=" + quote(value, safe="")
    if way == 2:
        return f"{quote(key, safe='[]')}=" + "".join(f"%{byte:02X}" for byte in value.encode())
    if way == 3:
        hidden = "".join(f"%{ord(c):02x}" if c in "sca(" else quote(c, safe="") for c in value)
        return f"{quote(key, safe='[]')}={hidden}"
    return f"{quote(key, safe='[]')}={draw(st.sampled_from([quote, quote_plus]))(value, safe='')}"


EXTRA = [
    "namespace=billing", "tenant=billing", "X-Scope-OrgID=billing", "X-Tenant-Namespace=billing", "limit=2",
    "stats=all", "lookback_delta=1h", "timeout=5s", "query=", "%zz=1", "a;b=c", "dedup=true",
    "max_source_resolution=1h", "match[]=%7Bnamespace%3D%22billing%22%7D", "=", "type=alert", "access_token=x",
]  # fmt: skip
HEADERS = [
    "X-Tenant-Namespace: billing", "x-tenant-namespace: billing", "X-Tenant-Namespace: shop,billing",
    "X-Scope-OrgID: billing", "X-Scope-OrgID: platform", "X_Tenant_Namespace: billing", "Host: prometheus",
    "X-Prometheus-Scrape-Timeout-Seconds: 1", "Content-Type: application/x-www-form-urlencoded", "Accept: */*",
    "X-Original-URL: /federate", "X-HTTP-Method-Override: POST", "Connection: X-Tenant-Namespace",
    "Connection: close, Authorization", "Cookie: a=b", "Accept-Encoding: identity", "Range: bytes=0-10",
    "X-Forwarded-For: 127.0.0.1", "Expect: 200-maybe", "THANOS-TENANT: billing",
]  # fmt: skip
PATHS = [
    "/api/v1/federate", "/federate", "/api/v1/targets", "/api/v1/status/config", "/api/v1/read", "/api/v1/metadata",
    "/api/v1/query/", "/api/v1//query", "/api/v1/query/../federate", "/api/v1/%71uery", "/api/v1/labels/",
    "/api/v1/query%2f..%2f..%2ffederate", "/api/v1/label/..%2flabels/values", "/api/v1/status/tsdb", "/graph",
    "/api/v1/QUERY", "/api/v1/search/metrics", "/api/v1/query;x", "/metrics", "/api/v1/format_query", "/api/v2/alerts",
    "/api/v1/parse_query", "/api/v1/admin/tsdb/delete_series", "/api/v1/label/%5f%5fname%5f%5f/values",
]  # fmt: skip


@st.composite
def _parameters(draw: st.DrawFn, path: str) -> list[str]:
    pairs: list[str] = []
    if "query" in path:
        pairs += [
            draw(_pair("query", draw(expressions()))) for _ in range(draw(st.sampled_from([1, 1, 1, 1, 2])))
        ]
    if path.endswith(("query_range", "query_exemplars")):
        start = samples.LAST - draw(st.sampled_from([0, 300, 1200]))
        pairs += [f"start={start}", f"end={samples.LAST}", f"step={draw(st.sampled_from(['30', '5m']))}"]
    elif "query" in path:
        pairs.append(f"time={samples.LAST}")
    else:
        count = draw(st.integers(0, 2))
        pairs += [draw(_pair("match[]", draw(selectors()))) for _ in range(count)]
        pairs += draw(st.sampled_from([[], [], [f"start={samples.LAST - 600}", f"end={samples.LAST}"]]))
    pairs += draw(st.lists(st.sampled_from(EXTRA), max_size=2))
    return draw(st.permutations(pairs)) if draw(st.booleans()) else pairs


@st.composite
def metric_requests(draw: st.DrawFn) -> Request:
    """Mostly what Grafana would send, with something odd about it."""
    label = draw(st.sampled_from(["namespace", "word", "pod", "__name__", "node", "a", "__value__"]))
    known = [
        "query",
        "query",
        "query",
        "query_range",
        "query_exemplars",
        "series",
        "labels",
        "rules",
        "alerts",
    ]
    paths = [f"/api/v1/{name}" for name in known] + [f"/api/v1/label/{label}/values"]
    odd = draw(st.integers(0, 14)) == 0
    path = draw(st.sampled_from(PATHS if odd else paths))
    target = path
    pairs = draw(_parameters(path))
    if pairs:
        target += "?" + "&".join(pairs)
    method = draw(st.sampled_from(["GET"] * 20 + ["POST", "PUT", "HEAD"]))
    body = b""
    headers = draw(st.lists(st.sampled_from(HEADERS[:3]) | st.sampled_from(HEADERS), max_size=2))
    if method == "POST" or draw(st.integers(0, 9)) == 0:
        body = draw(_pair("query", draw(expressions()))).encode()
        headers.append("Content-Type: application/x-www-form-urlencoded")
    return Request(draw(st.sampled_from(CALLERS)), method, target, tuple(headers), body)


LOG_PATHS = [
    *(f"/loki/api/v1/{name}" for name in ("query", "query_range", "labels", "series", "index/stats", "patterns")),
    "/loki/api/v1/label/namespace/values", "/loki/api/v1/push", "/loki/api/v1/tail", "/loki/api/v1/delete",
    "/loki/api/v1/query/../delete", "/loki/api/v1/delete/..%2fquery", "/loki/api/v1/label/%2e%2e/values", "/ready",
    "/loki/api/v1/rules", "/api/prom/push", "/otlp/v1/logs", "/config", "/loki/api/v1/%71uery", "/loki//api/v1/query",
    "/loki/api/v1/detected_field/a.b/values", "/loki/api/v1/query%0d%0aX-Scope-OrgID:%20billing", "/metrics",
]  # fmt: skip
LOG_HEADERS = [*HEADERS, "X-Scope-OrgID: shop|billing", "x-scope-orgid: billing", "X-Loki-Tenant: billing",
               "Upgrade: websocket", "Connection: Upgrade", "Upgrade: h2c", "X-Prom-Label-Policy: a"]  # fmt: skip


@st.composite
def log_requests(draw: st.DrawFn) -> Request:
    """What reaches Loki is what counts, so the query itself is of no interest."""
    target = draw(st.sampled_from(LOG_PATHS))
    values = st.sampled_from(['{namespace="billing"}', *METRICS, *NAMESPACES])
    keys = st.sampled_from(["query", "X-Scope-OrgID", "tenant", "match[]", "orgid", "limit"])
    pairs = [draw(_pair(draw(keys), draw(values))) for _ in range(draw(st.integers(0, 2)))]
    if pairs:
        target += "?" + "&".join(pairs)
    method = draw(st.sampled_from(["GET"] * 6 + ["POST", "POST", "PUT", "DELETE", "HEAD"]))
    body = b"X-Scope-OrgID=billing" if method in ("POST", "PUT") else b""
    headers = tuple(draw(st.lists(st.sampled_from(LOG_HEADERS), max_size=3)))
    return Request(draw(st.sampled_from([*CALLERS, "search"])), method, target, headers, body)
