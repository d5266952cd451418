"""Who may call the gateway: one token per tenant and role, under the key and, while it is replaced, the one before.

All of it are secret texts, in files of Secrets that the gateway mounts as one folder. A Secret is named after its
content by a keyed digest, so a changed one is a new object and the pods that mount it roll: nginx reads tokens at its
start only, and a new pod may be given the old content of a Secret that kept its name (kubernetes/kubernetes#129645).
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from components import names
from components.layer import credentials
from components.layer.config import nginx, scrape_jobs
from components.settings.model import Settings

# read: a tenant's Grafana. write: a tenant's own collector. platform: names the tenant that it reads.
GatewayRole = Literal["read", "write", "platform"]

# Files of the Secrets. The two credentials are what the gateway shows to the stores.
TOKEN_FILES = "tokens-*.map"  # noqa: S105 - files' names
LOKI_FILE = "loki.map"
PROMETHEUS_FILE = "prometheus.map"

# A Secret holds 1 MiB; a line has up to 150 bytes, usually 90, so this is about 5,500 tenants while two keys are good.
LARGEST_FILE = 512 * 1024


@dataclass(frozen=True)
class Grant:
    """What one token is good for."""

    token: str
    tenant: str
    role: GatewayRole


def grants(settings: Settings) -> list[Grant]:
    """Every token that is good now, in the order of tenants, roles and keys.

    A tenant that pushes no lines itself has no token to push with, and one without a signal none at all.
    """
    keys = credentials.gateway_keys(settings)
    found = [Grant(credentials.platform_token(key), credentials.LAYER, "platform") for key in keys]
    for name, tenant in sorted(settings.tenants.items()):
        roles: list[GatewayRole] = ["read"] if tenant.logs != "off" or tenant.metrics else []
        roles += ["write"] if tenant.logs == "api" else []
        tokens = [
            (credentials.token(key, name, r, tenant.token_generation), r) for r in roles for key in keys
        ]
        found += [Grant(token, name, role) for token, role in tokens]
    return found


def token_files(granted: Sequence[Grant], largest: int = LARGEST_FILE) -> list[str]:
    """The maps from tokens to `tenant:role`: one, or several where one would be too large for a Secret."""
    wanted = ((g.token, f"{g.tenant}:{g.role}", f"tenant {g.tenant}, role {g.role}") for g in granted)
    files = [""]
    for line in nginx.token_lines(wanted):
        if len(files[-1]) + len(line) > largest:
            files.append("")
        files[-1] += line
    return files


def secrets(settings: Settings) -> list[dict[str, str]]:
    """Texts by file name for each Secret: one, more only beyond some thousand tenants."""
    key = settings.gateway_key.get_secret_value()
    first, *more = token_files(grants(settings))
    password = credentials.layer_token(key, "metrics")
    basic = base64.b64encode(f"{scrape_jobs.USER}:{password}".encode()).decode()
    credential = {
        LOKI_FILE: f'default "Bearer {credentials.layer_token(key, "gateway")}";\n',
        PROMETHEUS_FILE: f'default "Basic {basic}";\n',
    }
    return [
        {**credential, _token_file(1): first},
        *({_token_file(number): text} for number, text in enumerate(more, start=2)),
    ]


def secret_name(key: str, files: dict[str, str]) -> str:
    """Of a Secret with this content; it tells nothing about it."""
    content = "\n".join(f"{name}\n{text}" for name, text in sorted(files.items()))
    return f"{names.GATEWAY}-tokens-{credentials.keyed_digest(key, content)[:10]}"


def _token_file(number: int) -> str:
    return TOKEN_FILES.replace("*", str(number))
