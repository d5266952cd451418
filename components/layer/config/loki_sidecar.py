"""nginx beside Loki, as the pod's only open port: who lacks the layer's credential gets 401 on every path.

Loki has no authentication: whoever reaches it chooses a tenant. What a credential may do is one table, ALLOWED; all
else is 403. The text loads on nginx 1.22.1 and needs nothing newer.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from components import names
from components.layer.config import nginx
from components.layer.config.nginx import indent

# push: the node agents. read: a reader of the layer's. scrape: Prometheus, which reads no lines. gateway: reads for
# tenants and pushes what their own collectors bring; it decides whose, so it may do both.
Role = Literal["push", "read", "scrape", "gateway"]

# What the pod mounts and passes. The run folder is the only one that nginx writes to.
CONFIG_FOLDER = "/etc/loki-sidecar"
CONFIG_FILE = "nginx.conf"
CREDENTIAL_FOLDER = "/etc/loki-sidecar-credential"
TOKEN_MAP_FILE = "tokens.map"  # noqa: S105 - a file's name
RUN_FOLDER = "/run/nginx"
LISTENER = "http"
COMMAND = nginx.command(f"{CONFIG_FOLDER}/{CONFIG_FILE}", RUN_FOLDER, {LISTENER: names.LOKI_PORT})

_API = "/loki/api/v1"
_READS = (
    "query", "query_range", "labels", "series", "index/stats", "index/volume", "index/volume_range", "patterns",
    "detected_labels", "detected_fields",
)  # fmt: skip


@dataclass(frozen=True)
class Route:
    """A path, or a pattern with named groups, that some roles may call, and the path it is built anew from."""

    location: str
    upstream: str
    method: Literal["GET", "POST"]
    roles: tuple[Role, ...]
    tenant: bool = True  # whether the call must name one
    websocket: bool = False


ALLOWED = (
    Route(f"= {_API}/push", f"{_API}/push", "POST", ("push", "gateway")),
    Route(f"~ ^{_API}/(?<api>{'|'.join(_READS)})$", f"{_API}/$api$is_args$args", "GET", ("read", "gateway")),
    Route(
        f"~ ^{_API}/(?<kind>label|detected_field)/(?<name>[A-Za-z_][A-Za-z0-9_.-]*)/values$",
        f"{_API}/$kind/$name/values$is_args$args",
        "GET",
        ("read", "gateway"),
    ),
    Route(f"= {_API}/tail", f"{_API}/tail$is_args$args", "GET", ("read", "gateway"), websocket=True),
    Route("= /metrics", "/metrics", "GET", ("scrape", "read"), tenant=False),
)


def sidecar_config(
    *,
    listen: str = str(names.LOKI_PORT),
    upstream: str = f"127.0.0.1:{names.LOKI_LOOPBACK_PORT}",
    token_map_file: str = f"{CREDENTIAL_FOLDER}/{TOKEN_MAP_FILE}",
    run_folder: str = RUN_FOLDER,
) -> str:
    """The whole nginx.conf. The arguments exist for tests, which have other ports and folders."""
    return f"""\
daemon off;
worker_processes 1;
pid {run_folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
  # Below `crit` nginx quotes request lines, and a client of the gateway may put its token there.
  error_log stderr crit;
{indent(nginx.temp_paths(run_folder))}
{indent(nginx.limits())}
{indent(_identity(token_map_file))}
{indent(_LOGGING)}
  upstream loki {{
    server {upstream} max_fails=0;
    keepalive 16;
  }}
  server {{
    listen {listen};
    {nginx.also_by_ipv6(run_folder, LISTENER)}
    server_name _;
    # Before any location, so that no path is open.
    if ($role = "") {{ return 401; }}
{indent("".join(_location(route) for route in ALLOWED), 4)}
    location / {{ return 403; }}
  }}
}}
"""


def token_map(tokens: Mapping[Role, Collection[str]]) -> str:
    """The included file: one line per token; a role has several while its token is being replaced. A secret text.

    An empty text is valid and lets nobody in. Errors name the role and never the token.
    """
    grants = [(token, role, f"role {role}") for role, own in sorted(tokens.items()) for token in sorted(own)]
    return "".join(nginx.token_lines(grants))


def _identity(token_map_file: str) -> str:
    return f"""\
{nginx.token_map("role", token_map_file)}
# Exactly one tenant, or none: no list, no pattern.
{nginx.named_tenant("tenant")}
map $http_upgrade $upgrade_header {{
  default "";
  "~*^websocket$" websocket;
}}
map $upgrade_header $connection_header {{
  default "";
  websocket upgrade;
}}
{nginx.CHALLENGE}"""


# $uri and not the request line: a query may hold what nobody should keep. What the agents push without a fault is not
# logged: the agents would push those lines too, and so on.
_LOGGING = """\
map "$role $status" $logged {
  default 1;
  "~^(push|scrape) 2" 0;
}
log_format access escape=json '{"time":"$time_iso8601","role":"$role","tenant":"$tenant","method":"$request_method",'
  '"path":"$uri","status":"$status","bytes":"$bytes_sent","seconds":"$request_time","upstream":"$upstream_status"}';
access_log /dev/stdout access if=$logged;"""

_HEADERS = {"Host": "loki", "X-Scope-OrgID": "$tenant", **nginx.CLIENT_HEADERS}


def _location(route: Route) -> str:
    upgrade = {"Upgrade": "$upgrade_header", "Connection": "$connection_header" if route.websocket else '""'}
    headers = {**_HEADERS, **upgrade} if route.websocket else {**_HEADERS, "Connection": '""'}
    checks = [
        f"if ($role !~ ^({'|'.join(route.roles)})$) {{ return 403; }}",
        f"if ($request_method != {route.method}) {{ return 403; }}",
    ]
    if route.tenant:
        checks.append('if ($tenant = "") { return 400; }')
    timeout = "3600s" if route.websocket else "120s"
    sending = nginx.passing(f"http://loki{route.upstream}", list(headers.items()), read_timeout=timeout)
    return nginx.location(route.location, [*checks, *sending])
