"""nginx beside Loki, as the pod's only open port: who lacks the layer's credential gets 401 on every path.

Loki has no authentication: whoever reaches it chooses a tenant. What a credential may do is one table, ALLOWED; all
else is 403. The text loads on nginx 1.22.1 and needs nothing newer.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from components import names
from components.layer.config.relabel import TENANT_NAME

# push: the node agents. read: a reader of the layer's. scrape: Prometheus, which reads no lines. gateway: reads for
# tenants and pushes what their own collectors bring; it decides whose, so it may do both.
Role = Literal["push", "read", "scrape", "gateway"]

# What the pod mounts and passes. The run folder is the only one that nginx writes to.
CONFIG_FOLDER = "/etc/loki-sidecar"
CONFIG_FILE = "nginx.conf"
CREDENTIAL_FOLDER = "/etc/loki-sidecar-credential"
TOKEN_MAP_FILE = "tokens.map"  # noqa: S105 - a file's name
RUN_FOLDER = "/run/nginx"
COMMAND = ("nginx", "-e", "stderr", "-c", f"{CONFIG_FOLDER}/{CONFIG_FILE}")

# Bodies: an agent's batch is 1 MiB before compression (loki.write, batch_size). A larger one is refused with 413, which
# the agent does not retry.
LARGEST_BODY = "16m"

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
# Not `info`: it quotes malformed Authorization lines whole.
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
{_indent(_paths(run_folder))}
{_indent(_LIMITS)}
{_indent(_identity(token_map_file))}
{_indent(_LOGGING)}
  upstream loki {{
    server {upstream} max_fails=0;
    keepalive 16;
  }}
  server {{
    listen {listen};
    server_name _;
    # Before any location, so that no path is open.
    if ($role = "") {{ return 401; }}
{_indent("".join(_location(route) for route in ALLOWED), 4)}
    location / {{ return 403; }}
  }}
}}
"""


def token_map(tokens: Mapping[Role, Collection[str]]) -> str:
    """The included file: one line per token; a role has several while its token is being replaced. A secret text.

    An empty text is valid and lets nobody in. Errors name the role and never the token.
    """
    lines: dict[str, str] = {}
    for role, of_role in sorted(tokens.items()):
        for token in sorted(of_role):
            if not re.fullmatch("[0-9a-f]{64}", token):
                raise ValueError(f"a token of role {role} is not 64 lower-case hex digits")
            if token in lines:
                raise ValueError(f"a token of role {role} is another role's too")
            lines[token] = f'"Bearer {token}" {role};\n'
    return "".join(lines.values())


def _paths(run_folder: str) -> str:
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    return "\n".join(f"{kind}_temp_path {run_folder}/{kind};" for kind in kinds)


_LIMITS = f"""\
server_tokens off;
merge_slashes off;
absolute_redirect off;
client_max_body_size {LARGEST_BODY};
client_body_buffer_size 256k;
client_header_timeout 10s;
client_body_timeout 15s;
send_timeout 60s;
keepalive_timeout 75s;
reset_timedout_connection on;
large_client_header_buffers 4 32k;  # long queries are in the request line"""


def _identity(token_map_file: str) -> str:
    """`Bearer ` and 64 hex digits are 71 bytes: the default bucket of 64 fails with a single token."""
    return f"""\
map_hash_bucket_size 128;
map $http_authorization $role {{
  default "";
  include {token_map_file};
}}
# Exactly one tenant, or none: no list, no pattern.
map $http_x_scope_orgid $tenant {{
  default "";
  "~^{TENANT_NAME}$" $http_x_scope_orgid;
}}
map $http_upgrade $upgrade_header {{
  default "";
  "~*^websocket$" websocket;
}}
map $upgrade_header $connection_header {{
  default "";
  websocket upgrade;
}}
map $status $challenge {{
  default "";
  401 Bearer;
}}
add_header WWW-Authenticate $challenge always;"""


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

# Nothing of the client's reaches Loki but what is named here. Each location names all of it: a single proxy_set_header
# in a location drops every inherited one.
_HEADERS = {
    "Host": "loki",
    "X-Scope-OrgID": "$tenant",
    "Content-Type": "$http_content_type",
    "Content-Encoding": "$http_content_encoding",
    "Accept": "$http_accept",
    "Accept-Encoding": "$http_accept_encoding",
    "User-Agent": "$http_user_agent",
}


def _location(route: Route) -> str:
    upgrade = {"Upgrade": "$upgrade_header", "Connection": "$connection_header"}
    headers = _HEADERS | (upgrade if route.websocket else {"Connection": '""'})
    checks = [
        f"if ($role !~ ^({'|'.join(route.roles)})$) {{ return 403; }}",
        f"if ($request_method != {route.method}) {{ return 403; }}",
    ]
    if route.tenant:
        checks.append('if ($tenant = "") { return 400; }')
    passing = [
        "proxy_http_version 1.1;",
        "proxy_pass_request_headers off;",
        *(f"proxy_set_header {name} {value};" for name, value in headers.items()),
        "proxy_next_upstream off;",
        "proxy_redirect off;",
        f"proxy_read_timeout {'3600s' if route.websocket else '120s'};",
        f"proxy_pass http://loki{route.upstream};",
    ]
    if "$args" not in route.upstream:
        passing.insert(0, 'set $args "";')  # nginx would append the client's
    body = "\n".join(f"  {line}" for line in (*checks, *passing))
    # Quoted: a pattern may hold braces.
    kind, path = route.location.split(" ", 1)
    return f'location {kind} "{path}" {{\n{body}\n}}\n'


def _indent(text: str, columns: int = 2) -> str:
    return "\n".join(" " * columns + line for line in text.rstrip("\n").split("\n"))
