"""The texts of a Grafana, read back."""

import configparser
import json
from collections.abc import Iterator
from typing import Any

import yaml

from components.grafana import config
from components.grafana.config import Access
from components.grafana.sources import LOGS, METRICS, Source
from components.layer import platform_grafana
from tests.support.environments import INCIDENT, parsed

Json = dict[str, Any]
PLATFORM = platform_grafana.sources_of(parsed(INCIDENT))
# What a Grafana can have, by who has it.
SOURCES = {
    "both signals": [METRICS, LOGS],
    "metrics only": [METRICS],
    "logs only": [LOGS],
    "the platform": PLATFORM,
}


def texts(found: list[Source], access: Access | None = None) -> dict[str, str]:
    """All files."""
    return config.files(found, "60s", access or Access())


def ini(access: Access | None = None) -> dict[str, dict[str, str]]:
    """grafana.ini by section, without interpolation: as Grafana finds it."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(texts([METRICS, LOGS], access)[config.INI])
    return {name: dict(parser[name]) for name in parser.sections()}


def provisioned(found: list[Source]) -> list[Json]:
    """The data sources."""
    return list(yaml.safe_load(texts(found)[config.DATA_SOURCES])["datasources"])


def dashboards(found: list[Source]) -> dict[str, Json]:
    """The dashboards by file name."""
    return {file: json.loads(text) for file, text in texts(found).items() if file.endswith(".json")}


def panels(dashboard: Json) -> Iterator[Json]:
    """All panels but rows."""
    yield from (panel for panel in dashboard["panels"] if panel["type"] != "row")


def expressions(dashboard: Json, kind: str) -> Iterator[str]:
    """All queries of one kind of source."""
    for panel in panels(dashboard):
        if panel["datasource"]["type"] == kind:
            yield from (target["expr"] for target in panel["targets"])
