"""The gateway's nginx.conf: tokens to tenants, tenants to what they may read, and nothing of the client's word for it.

In each location, in this order: 403 for the role, 405 for the method, 400 if the platform names no tenant, 403 for a
signal that is off, and for PromQL what gateway_guard.py refuses. Before any location: 401 without a token that is
listed, 405 for methods that nothing here has. All other paths are 403.
"""

from collections.abc import Iterator, Sequence

from components import names
from components.layer import credentials
from components.layer.config import gateway_cost, gateway_guard, nginx
from components.layer.config.gateway import (
    ALIVE_PATH,
    LARGEST_PUSH,
    LONGEST_REQUEST_SECONDS,
    NAMESPACE_HEADER,
    PUSHES_AT_ONCE,
    READY_PATH,
    SHUTDOWN_SECONDS,
    Places,
    queries_at_once,
)
from components.layer.config.gateway_routes import FIXED, LOG_ROUTES, METRIC_ROUTES
from components.layer.config.gateway_tenants import WITHOUT_LOGS_FILE, namespaces_file, places
from components.layer.config.gateway_tokens import LOKI_FILE, PROMETHEUS_FILE
from components.layer.config.nginx import indent
from components.layer.config.relabel import TENANT_NAME
from components.settings.model import Gateway, Settings


def gateway_config(settings: Settings, at: Places | None = None) -> str:
    """The whole nginx.conf. What names tenants is in files that it includes, tokens and credentials in others."""
    at, lists = at or Places(), places(settings)
    has_logs, has_metrics = settings.layer.logs != "off", settings.layer.metrics != "off"
    maps = [_identity(at), _tenants(), *([_logs(at)] if has_logs else [])]
    maps += [_metrics(lists, at)] if has_metrics else []
    locations = [
        *(_log_locations(settings.layer.gateway) if has_logs else ()),
        *(_metric_locations(lists, settings.layer.gateway) if has_metrics else ()),
    ]
    idle = "keepalive_min_timeout 2s;\n" if at.keeps_idle_connections else ""
    return f"""\
daemon off;
worker_processes 1;
worker_shutdown_timeout {SHUTDOWN_SECONDS}s;
pid {at.run_folder}/nginx.pid;
pcre_jit on;
error_log stderr warn;
events {{ worker_connections 4096; }}
http {{
  # Below `crit` nginx quotes request lines, and a client may put its token there; what failed is in the access log.
  error_log stderr crit;
{indent(nginx.temp_paths(at.run_folder))}
{indent(nginx.limits() + chr(10) + idle)}
{indent(chr(10).join(maps))}
{indent(_answers())}
{indent(_fairness(settings.layer.gateway))}
{indent(_LOGGING)}
  server {{
    listen {at.listen};
    {nginx.also_by_ipv6(at.run_folder, "http")}
    server_name _;
    default_type application/json;
    limit_req zone=rate burst={2 * settings.layer.gateway.requests_per_second} nodelay;
    limit_conn concurrent {settings.layer.gateway.concurrent_requests};
    set $allow "GET, POST";
    # Before any location, so that no path is open.
    if ($identity = "") {{ return 401; }}
    if ($known_method = "") {{ return 405; }}
    if ($path = "{_HIDDEN}") {{ return 403; }}
{indent("".join(locations), 4)}
    location @refused_upstream {{ return 502; }}
    location / {{ return 403; }}
  }}
{indent(_health(at, has_metrics))}
}}
"""


def _identity(at: Places) -> str:
    return f"""\
# `tenant:role` of a token. Keys ignore case: hex digits lose nothing by that.
map_hash_max_size 65536;
{nginx.token_map("identity", at.tokens, bucket=512)}
{nginx.simple_map("$request_method", "known_method", {"GET": "1", "POST": "1"})}
map $identity $role {{
  default "";
  "~:read$" read;
  "~:write$" write;
  "~:platform$" platform;
}}
{nginx.simple_map("$role", "may_read", {"read": "1", "platform": "1"})}
{nginx.simple_map("$role", "may_push", {"write": "1"})}"""


def _tenants() -> str:
    """The tenant is the token's; only the platform says which, and says its own name by saying nothing."""
    return f"""\
{nginx.named_tenant("named")}
map $http_x_scope_orgid $read_by_platform {{
  default $named;
  "" {names.PLATFORM_TENANT};
}}
map $identity $tenant {{
  default "";
  "~^(?<owner>{TENANT_NAME}):(?:read|write)$" $owner;
  "{credentials.LAYER}:platform" $read_by_platform;
}}"""


def _logs(at: Places) -> str:
    return f"""\
{nginx.included_map("$tenant", "without_logs", f"{at.tenants_folder}/{WITHOUT_LOGS_FILE}")}
map "" $loki_authorization {{
  include {at.secret_folder}/{LOKI_FILE};
}}
map $http_content_encoding $unbounded {{
  default 1;
  "" "";
  snappy "";
}}
upstream loki {{
  server {at.loki} max_fails=0;
  keepalive 16;
}}"""


def _metrics(lists: Sequence[int], at: Places) -> str:
    """One map per place in a tenant's list of namespaces: a header without a value is not sent."""
    maps = [
        nginx.included_map("$tenant", f"namespace_{place}", f"{at.tenants_folder}/{namespaces_file(place)}")
        for place in lists
    ]
    # All headers of one name are in one bucket of the hash: 64 bytes for each are enough.
    bucket = 64 * max(2, len(lists))
    return f"""\
proxy_headers_hash_max_size 1024;
proxy_headers_hash_bucket_size {bucket};
{chr(10).join(maps)}
# The platform's own metrics are the whole cluster's: no label is enforced. No tenant can have that name.
{nginx.simple_map("$tenant", "metrics_upstream", {names.PLATFORM_TENANT: "prometheus"}, default="label_proxy")}
{nginx.simple_map('"$metrics_upstream $namespace_1"', "without_metrics", {'"label_proxy "': "1"})}
# The filter of rules and alerts reads gzip and no other compression: with `deflate` it fails.
map $http_accept_encoding $readable_encoding {{
  default "";
  "~*gzip *; *q=0" "";
  "~*gzip" gzip;
}}
map "" $prometheus_authorization {{
  include {at.secret_folder}/{PROMETHEUS_FILE};
}}
upstream label_proxy {{
  server {at.label_proxy} max_fails=0;
  keepalive 32;
}}
upstream prometheus {{
  server {at.prometheus} max_fails=0;
  keepalive 8;
}}"""


def _answers() -> str:
    """Headers that explain a refusal."""
    return f"""\
{nginx.CHALLENGE}
{nginx.simple_map("$status", "allowed_methods", {"405": "$allow"})}
add_header Allow $allowed_methods always;
{nginx.simple_map("$status", "retry_after", {"429": "1"})}
add_header Retry-After $retry_after always;"""


def _fairness(gateway: Gateway) -> str:
    """Per token's tenant and role, so that neither a tenant's pushes nor the platform use up a tenant's reads."""
    return f"""\
limit_req_zone $identity zone=rate:4m rate={gateway.requests_per_second}r/s;
limit_conn_zone $identity zone=concurrent:2m;
limit_req_status 429;
limit_conn_status 429;"""


# No query, no header of the client's but the method, and no path that holds what could be a token; such a path does not
# go on either, since a store would log it.
_HIDDEN = "(not logged)"
_LOGGING = f"""\
map $uri $path {{
  default $uri;
  "~[0-9A-Fa-f]{{40}}" "{_HIDDEN}";
}}
log_format access escape=json '{{"time":"$time_iso8601","role":"$role","tenant":"$tenant","method":"$request_method",'
  '"path":"$path","status":"$status","bytes":"$bytes_sent","seconds":"$request_time","upstream":"$upstream_status"}}';
access_log /dev/stdout access;"""


def _log_locations(gateway: Gateway) -> Iterator[str]:
    at_once = min(PUSHES_AT_ONCE, gateway.concurrent_requests)
    for route in LOG_ROUTES:
        pushes = route.method == "POST"
        may = _may_push(at_once) if pushes else [*_may("read", "GET"), _COSTLY]
        headers = {
            "Host": "loki",
            "X-Scope-OrgID": "$tenant",
            "Authorization": "$loki_authorization",
            **nginx.CLIENT_HEADERS,
        }
        sent = [*headers.items(), ("Connection", '""')]
        sending = _sending(f"http://loki{route.upstream}", sent, pushes)
        yield nginx.location(route.location, [*may, _if("$without_logs", 403), *sending])


def _metric_locations(lists: Sequence[int], gateway: Gateway) -> Iterator[str]:
    for route in METRIC_ROUTES:
        checks = [*_may("read", "GET"), _if("$without_metrics", 403)]
        if route.promql:
            checks.append(_refuse(gateway_guard.REFUSED, 403, gateway_guard.ANSWER))
        checks += [_TOO_LONG, _COSTLY, f"limit_conn concurrent {queries_at_once(gateway)};"]
        headers = {
            "Host": "prometheus",
            "Authorization": "$prometheus_authorization",
            **nginx.CLIENT_HEADERS,
            "Accept-Encoding": "$readable_encoding",
        }
        scope = [(NAMESPACE_HEADER, f"$namespace_{place}") for place in lists]
        sent = [*headers.items(), *scope, ("Connection", '""')]
        url = f"http://$metrics_upstream{route.upstream}"
        yield nginx.location(route.location, [*checks, *_sending(url, sent, pushes=False)])
    for path, body in FIXED.items():
        checks = [*_may("read", "GET"), _if("$without_metrics", 403)]
        yield nginx.location(f"= {path}", [*checks, f"return 200 '{body}';"])


def _may(what: str, method: str) -> list[str]:
    """Role, method, and that there is a tenant; in this order."""
    return [
        f"set $allow {method};",
        f'if ($may_{what} = "") {{ return 403; }}',
        f"if ($request_method != {method}) {{ return 405; }}",
        'if ($tenant = "") { return 400; }',
    ]


def _may_push(at_once: int) -> list[str]:
    """And few at once, and none that is unpacked without a bound: Loki reads what gzip and deflate give whole."""
    return [*_may("push", "POST"), _if("$unbounded", 415), f"limit_conn concurrent {at_once};"]


def _if(variable: str, status: int) -> str:
    return f"if ({variable}) {{ return {status}; }}"


def _refuse(pattern: str, status: int, answer: str) -> str:
    """In an `if`, which fails closed: should the pattern not run, nginx answers 500."""
    return f"if ($args ~* \"{pattern}\") {{ return {status} '{answer}'; }}"


_COSTLY = _refuse(gateway_cost.COSTLY, 400, gateway_cost.ANSWER)
_TOO_LONG = _refuse(gateway_cost.TOO_LONG, 400, gateway_cost.ANSWER)


def _sending(url: str, headers: list[tuple[str, str]], pushes: bool) -> list[str]:
    """A read has no body. A store that refuses the layer's credential, as while a key is being replaced, is 502, which
    a collector tries again, and not 401, which it does not."""
    largest = LARGEST_PUSH if pushes else "64k"
    body = [f"client_max_body_size {largest};", *([] if pushes else ["proxy_pass_request_body off;"])]
    # Without this nginx announces the body that it does not send, and the server behind takes the next request for it.
    length = [] if pushes else [("Content-Length", '""')]
    return [
        *body,
        *nginx.passing(url, [*headers, *length], read_timeout=f"{LONGEST_REQUEST_SECONDS}s"),
        "proxy_connect_timeout 5s;",
        "proxy_max_temp_file_size 0;",
        "proxy_hide_header Location;",
        "proxy_hide_header Set-Cookie;",
        "proxy_intercept_errors on;",
        "error_page 401 = @refused_upstream;",
    ]


def _health(at: Places, has_metrics: bool) -> str:
    asked = ["proxy_pass_request_headers off;", "proxy_connect_timeout 1s;", "proxy_read_timeout 2s;"]
    ready = [*asked, "proxy_pass http://label_proxy/healthz;"] if has_metrics else ["return 200 'ready';"]
    return f"""\
server {{
  listen {at.health};
  {nginx.also_by_ipv6(at.run_folder, "health")}
  access_log off;
{indent(nginx.location(f"= {ALIVE_PATH}", ["return 200 'alive';"]))}
{indent(nginx.location(f"= {READY_PATH}", ready))}
  location / {{ return 404; }}
}}"""
