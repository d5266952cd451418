"""Words that dashboards are written in: queries, panels, variables and rows, as Grafana's JSON. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.grafana.sources import Source

Json = dict[str, Any]
COLUMNS = 24
SCHEMA_VERSION = 42  # of grafana-foundation-sdk 0.0.21, by whose models the tests read it
GREEN, YELLOW, RED = "green", "yellow", "red"


@dataclass(frozen=True)
class Row:
    """Panels beside each other, each as wide as the others."""

    title: str
    height: int
    panels: Sequence[Json]


@dataclass(frozen=True)
class Query:
    """One query and how its series are called."""

    expr: str
    legend: str = ""


def timeseries(
    title: str, source: Source, *queries: Query, unit: str, says: str, stacked: bool = False
) -> Json:
    """Series over time."""
    custom = {"fillOpacity": 20 if stacked else 5, "showPoints": "never", "spanNulls": False}
    stacking = {"stacking": {"mode": "normal", "group": "A"}} if stacked else {}
    return {
        **_panel("timeseries", title, source, says),
        "targets": [_target(source, query, place) for place, query in enumerate(queries)],
        "fieldConfig": {
            "defaults": {"unit": unit, "min": 0, "custom": {**custom, **stacking}},
            "overrides": [],
        },
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
    }


def stat(
    title: str, source: Source, query: Query, *, unit: str, says: str, steps: Mapping[str, float]
) -> Json:
    """The value of now; its colour changes at the steps."""
    coloured = [{"color": GREEN, "value": None}, *({"color": c, "value": v} for c, v in steps.items())]
    thresholds = {"mode": "absolute", "steps": coloured}
    return {
        **_panel("stat", title, source, says),
        "targets": [_target(source, query, instant=True)],
        "fieldConfig": {"defaults": {"unit": unit, "thresholds": thresholds}, "overrides": []},
        "options": {
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "colorMode": "value",
            "graphMode": "none",
            "textMode": "auto",
            "justifyMode": "auto",
            "orientation": "auto",
        },
    }


def table(title: str, source: Source, query: Query, *, says: str) -> Json:
    """What holds now, a line each."""
    return {
        **_panel("table", title, source, says),
        "targets": [{**_target(source, query, instant=True), "format": "table"}],
        "transformations": [{"id": "organize", "options": {"excludeByName": {"Time": True}}}],
        "fieldConfig": {"defaults": {}, "overrides": []},
        "options": {"showHeader": True, "cellHeight": "sm"},
    }


def log_lines(title: str, source: Source, query: Query, *, says: str) -> Json:
    """Lines, the newest first. The panel's own defaults show neither times nor details."""
    return {
        **_panel("logs", title, source, says),
        "targets": [{**_target(source, query), "maxLines": 1000}],
        "options": {
            "showTime": True,
            "showLabels": False,
            "showCommonLabels": False,
            "wrapLogMessage": True,
            "prettifyLogMessage": False,
            "enableLogDetails": True,
            "dedupStrategy": "none",
            "sortOrder": "Descending",
        },
    }


def choice(name: str, label: str, source: Source, query: str | Json) -> Json:
    """A variable with the values that a query gives; all of them unless some are chosen.

    `.+` for all: a list of hundreds of pods would not fit into a request line.
    """
    return {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": source.ref,
        "query": query,
        "definition": query if isinstance(query, str) else name,
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".+",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def text_box(name: str, label: str) -> Json:
    """A variable that people type."""
    return {
        "type": "textbox",
        "name": name,
        "label": label,
        "query": "",
        "current": {"text": "", "value": ""},
    }


def dashboard(uid: str, title: str, says: str, *, variables: Sequence[Json], rows: Sequence[Row]) -> Json:
    """A dashboard that nobody changes in the browser; its panels stand as the rows say."""
    return {
        "uid": uid,
        "title": title,
        "description": says,
        "tags": ["shared-observability"],
        "editable": False,
        "graphTooltip": 1,
        "schemaVersion": SCHEMA_VERSION,
        "timezone": "browser",
        "time": {"from": "now-1h", "to": "now"},
        "refresh": "1m",
        "annotations": {"list": []},
        "templating": {"list": list(variables)},
        "panels": [{"id": place, **panel} for place, panel in enumerate(_placed(rows), start=1)],
    }


def _placed(rows: Sequence[Row]) -> Iterator[Json]:
    top = 0
    for row in rows:
        yield {
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "gridPos": {"x": 0, "y": top, "w": COLUMNS, "h": 1},
            "panels": [],
        }
        width = COLUMNS // len(row.panels)
        for place, panel in enumerate(row.panels):
            yield {**panel, "gridPos": {"x": place * width, "y": top + 1, "w": width, "h": row.height}}
        top += 1 + row.height


def _panel(kind: str, title: str, source: Source, says: str) -> Json:
    return {"type": kind, "title": title, "description": says, "datasource": source.ref}


def _target(source: Source, query: Query, place: int = 0, *, instant: bool = False) -> Json:
    named = {"refId": chr(ord("A") + place), "expr": query.expr}
    legend = {"legendFormat": query.legend} if query.legend else {}
    if source.kind == "loki":
        return {**named, **legend, "queryType": "instant" if instant else "range"}
    return {**named, **legend, "instant": instant, "range": not instant}
