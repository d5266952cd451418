"""What the layer's nginx configurations have in common: Loki's sidecar and the gateway. Nothing needs more than 1.22.1.

Both keep three rules. A credential is asked for before any location. The path that goes on is built from the table of
allowed paths, never the client's. And no header of the client's goes on but what a location names: each location names
all of them, since a single proxy_set_header in a location drops every inherited one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from components.layer.config.relabel import TENANT_NAME

# Bodies: an agent's batch is 1 MiB before compression (loki.write, batch_size). A larger one is refused with 413, which
# the agent does not retry.
LARGEST_BODY = "16m"

# What the client may say of its request; all else is dropped.
CLIENT_HEADERS = {
    "Content-Type": "$http_content_type",
    "Content-Encoding": "$http_content_encoding",
    "Accept": "$http_accept",
    "Accept-Encoding": "$http_accept_encoding",
    "User-Agent": "$http_user_agent",
}

CHALLENGE = """\
map $status $challenge {
  default "";
  401 Bearer;
}
add_header WWW-Authenticate $challenge always;"""


# There where the kernel has IPv6; where it has none, `listen [::]` would end nginx.
IPV6 = "/proc/net/if_inet6"


def command(
    config: str, run_folder: str, listeners: Mapping[str, int], *, kernel: str = IPV6
) -> tuple[str, ...]:
    """What starts nginx: it listens by IPv6 too where the kernel has it, as Go's servers do by themselves. On EKS with
    IPv6 a pod has no other address. nginx takes the shell's place, and so the signals that end it.

    Args:
        config: its configuration, whose servers have `also_by_ipv6`.
        run_folder: the folder that it may write to.
        listeners: ports by the name that `also_by_ipv6` has.
        kernel: the file that is there where the kernel has IPv6; tests have another.
    """
    lines = "".join(
        f"echo 'listen [::]:{port};' >{run_folder}/ipv6-{name}.conf; " for name, port in listeners.items()
    )
    return ("/bin/sh", "-ec", f"if [ -e {kernel} ]; then {lines}fi; exec nginx -e stderr -c {config}")


def also_by_ipv6(run_folder: str, name: str) -> str:
    """The line of a server that takes over what `command` has written; a pattern may match nothing."""
    return f"include {run_folder}/ipv6-{name}*.conf;"


def temp_paths(run_folder: str) -> str:
    """All that nginx writes goes into one folder: the rest of the file system is read-only."""
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    return "\n".join(f"{kind}_temp_path {run_folder}/{kind};" for kind in kinds)


def limits() -> str:
    """Sizes and times, after which a client is cut off."""
    return f"""\
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


def token_map(variable: str, include: str, *, bucket: int = 128) -> str:
    """The map from a credential to what it stands for; what it does not list stands for nothing.

    `Bearer ` and 64 hex digits are 71 bytes: the default bucket of 64 fails with a single token. Larger ones serve some
    thousand tokens.
    """
    return f"""\
map_hash_bucket_size {bucket};
map $http_authorization ${variable} {{
  default "";
  include {include};
}}"""


def named_tenant(variable: str) -> str:
    """The map from the header that names a tenant: exactly one, or none; no list, no pattern."""
    return f"""\
map $http_x_scope_orgid ${variable} {{
  default "";
  "~^{TENANT_NAME}$" $http_x_scope_orgid;
}}"""


def token_lines(grants: Iterable[tuple[str, str, str]]) -> list[str]:
    """Lines of the included file, in the order given. Secret texts.

    nginx quotes a token that is there twice in its error, so that is refused here, without quoting.

    Args:
        grants: token, what it stands for, and how errors call that.
    """
    lines: dict[str, str] = {}
    for token, meaning, whose in grants:
        if not re.fullmatch("[0-9a-f]{64}", token):
            raise ValueError(f"a token of {whose} is not 64 lower-case hex digits")
        if token in lines:
            raise ValueError(f"a token of {whose} is another's too")
        lines[token] = f'"Bearer {token}" {meaning};\n'
    return list(lines.values())


def location(path: str, body: Sequence[str]) -> str:
    """A location such as `= /a` or `~ ^/b$`; the path is quoted, since a pattern may hold braces."""
    kind, _, pattern = path.partition(" ")
    inside = indent("\n".join(body))
    return f'location {kind} "{pattern}" {{\n{inside}\n}}\n'


def passing(url: str, headers: Sequence[tuple[str, str]], *, read_timeout: str) -> list[str]:
    """Directives that send a request on with these headers and no other; a header without a value is left out."""
    drops_query = [] if "$args" in url else ['set $args "";']  # nginx would append the client's
    return [
        *drops_query,
        "proxy_http_version 1.1;",
        "proxy_pass_request_headers off;",
        *(f"proxy_set_header {name} {value};" for name, value in headers),
        "proxy_next_upstream off;",
        "proxy_redirect off;",
        f"proxy_read_timeout {read_timeout};",
        f"proxy_pass {url};",
    ]


def simple_map(source: str, variable: str, values: Mapping[str, str], default: str = '""') -> str:
    """A map with literal keys."""
    lines = [f"  {key} {value};" for key, value in values.items()]
    return "\n".join([f"map {source} ${variable} {{", f"  default {default};", *lines, "}"])


def included_map(source: str, variable: str, file: str) -> str:
    """A map with literal keys that are in a file; what it does not list is empty."""
    return "\n".join([f"map {source} ${variable} {{", '  default "";', f"  include {file};", "}"])


def indent(text: str, columns: int = 2) -> str:
    """The text, each line moved to the right."""
    return "\n".join(" " * columns + line for line in text.rstrip("\n").split("\n"))
