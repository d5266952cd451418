"""The data sources of a Grafana, as its provisioning reads them: all of them are the gateway, which knows who asks.

What a data source says about tenants counts for nothing unless its token is the platform's. Pure.

- `httpMethod: GET`: the gateway answers 405 to a read by POST, and prom-label-proxy would ignore its filter.
- `editable: false`: nobody changes them in the browser, and a restart brings them back.
- No alert rules from them: Grafana's alerting is off.
"""

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from components import names, versions
from components.layer.config.yaml_text import to_yaml

URL = f"http://{names.GATEWAY}.{names.LAYER_NAMESPACE}.svc:{names.GATEWAY_PORT}"
# Grafana's provisioning replaces it by the environment variable, so that the token is in no ConfigMap.
TOKEN_VARIABLE = "READ_TOKEN"  # noqa: S105 - a variable's name
MOST_OF_UID = 40
SECONDS = 60  # Loki's query_timeout; the gateway waits a little longer


@dataclass(frozen=True)
class Source:
    """One data source."""

    name: str
    uid: str
    kind: Literal["prometheus", "loki"]
    tenant: str = ""
    """Whose lines the platform wants to see; a tenant's own token reads its own, whatever is said."""

    @property
    def ref(self) -> dict[str, str]:
        """How a dashboard names it."""
        return {"type": self.kind, "uid": self.uid}


METRICS = Source("Metrics", "metrics", "prometheus")
LOGS = Source("Logs", "logs", "loki")


def of_signals(*, metrics: bool, logs: bool) -> list[Source]:
    """One for each signal that is on; the first is the default."""
    return [*([METRICS] if metrics else []), *([LOGS] if logs else [])]


def uid(text: str) -> str:
    """A data source's uid: the text, or its start and a digest where Grafana would refuse it as too long.

    Grafana takes 40 characters (`ValidateUID`; in provisioning since 12.0), and ends at its start over a longer one.
    """
    if len(text) <= MOST_OF_UID:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[: MOST_OF_UID - len(digest) - 1]}-{digest}"


@functools.cache  # equal for all tenants with the same signals
def for_own(sources: tuple[Source, ...], scrape_interval: str) -> str:
    """Provisioning of a Grafana of ours: these sources and no others, the first of them the default."""
    listed = [
        {**_source(source, scrape_interval, f"Bearer ${TOKEN_VARIABLE}"), "isDefault": source == sources[0]}
        for source in sources
    ]
    return to_yaml({"apiVersion": 1, "prune": True, "datasources": listed})


def for_others(sources: Sequence[Source], scrape_interval: str, token: str) -> str:
    """The same for a Grafana that has others too: a secret text, since the token is in it."""
    listed = [_source(source, scrape_interval, f"Bearer {token}") for source in sources]
    return to_yaml({"apiVersion": 1, "datasources": listed})


def _source(source: Source, scrape_interval: str, authorization: str) -> dict[str, Any]:
    headers = {"Authorization": authorization, **({"X-Scope-OrgID": source.tenant} if source.tenant else {})}
    named = {f"httpHeaderName{place}": name for place, name in enumerate(headers, start=1)}
    values = {f"httpHeaderValue{place}": value for place, value in enumerate(headers.values(), start=1)}
    return {
        "name": source.name,
        "uid": source.uid,
        "type": source.kind,
        "access": "proxy",
        "url": URL,
        "editable": False,
        "jsonData": {
            "httpMethod": "GET",
            **(_of_prometheus(scrape_interval) if source.kind == "prometheus" else {"maxLines": 1000}),
            "manageAlerts": False,
            "timeout": SECONDS,
            **named,
        },
        "secureJsonData": values,
    }


def _of_prometheus(scrape_interval: str) -> dict[str, Any]:
    return {
        "prometheusType": "Prometheus",
        "prometheusVersion": versions.PROMETHEUS,
        "timeInterval": scrape_interval,
        "allowAsRecordingRulesTarget": False,
    }
