"""The provisioned JSON: by the models of Grafana's own SDK, and by what these let pass."""

import copy
import re
from itertools import combinations
from typing import Any

import pytest

from components.grafana.config import FOLDER, INI
from components.grafana.panels import COLUMNS, SCHEMA_VERSION
from components.grafana.sources import METRICS
from tests.unit.grafana.rendered import (
    SOURCES,
    Json,
    dashboards,
    expressions,
    ini,
    panels,
    provisioned,
    texts,
)
from tests.unit.grafana.sdk import not_known

ALL = [(whose, file) for whose, sources in SOURCES.items() for file in dashboards(sources)]
each_dashboard = pytest.mark.parametrize(("whose", "file"), ALL, ids=[" ".join(names) for names in ALL])
SIZE = 40_000  # characters; each tenant's state holds two versions


def the(whose: str, file: str) -> Json:
    """One dashboard."""
    return dashboards(SOURCES[whose])[file]


def test_each_signal_has_one_dashboard_and_without_the_signal_there_is_none() -> None:
    assert {whose: list(dashboards(sources)) for whose, sources in SOURCES.items()} == {
        "both signals": ["namespace-overview.json", "logs.json"],
        "metrics only": ["namespace-overview.json"],
        "logs only": ["logs.json"],
        "the platform": ["namespace-overview.json", "logs.json"],
    }


@each_dashboard
def test_the_sdks_models_know_every_key_and_value(whose: str, file: str) -> None:
    assert not_known(the(whose, file)) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("titel", "x"),
        ("panels.1.fieldConfg", {}),
        ("panels.1.options.graphMod", "none"),
        ("panels.1.targets.0.exprr", "up"),
        ("templating.list.0.multy", True),
    ],
)
def test_a_misspelt_key_would_be_found(path: str, value: Any) -> None:
    dashboard = copy.deepcopy(the("both signals", "namespace-overview.json"))
    node: Any = dashboard
    *parents, last = path.split(".")
    for part in parents:
        node = node[int(part)] if part.isdigit() else node[part]
    node[last] = value
    assert not_known(dashboard) == [f".{path}"]


@each_dashboard
def test_uids_are_the_files_names_and_ids_of_panels_are_there_once(whose: str, file: str) -> None:
    dashboard = the(whose, file)
    assert file == f"{dashboard['uid']}.json"
    assert re.fullmatch("[a-z-]{1,40}", dashboard["uid"])
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
    assert min(ids) > 0
    assert dashboard["schemaVersion"] == SCHEMA_VERSION
    assert dashboard["editable"] is False


@each_dashboard
def test_panels_are_inside_the_grid_and_do_not_overlap(whose: str, file: str) -> None:
    placed = [(panel["title"], panel["gridPos"]) for panel in the(whose, file)["panels"]]
    for title, at in placed:
        assert at["x"] >= 0, title
        assert at["x"] + at["w"] <= COLUMNS, title
        assert at["w"] > 0, title
        assert at["h"] > 0, title
    for (one, a), (other, b) in combinations(placed, 2):
        beside = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
        below = a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
        assert beside or below, f"{one} overlaps {other}"


@each_dashboard
def test_every_data_source_that_it_names_is_provisioned_or_chosen_among_those(whose: str, file: str) -> None:
    dashboard, found = the(whose, file), provisioned(SOURCES[whose])
    there = {(source["type"], source["uid"]) for source in found}
    variables = dashboard["templating"]["list"]
    chosen = {(v["query"], f"${{{v['name']}}}") for v in variables if v["type"] == "datasource"}
    refs = [panel["datasource"] for panel in panels(dashboard)]
    refs += [variable["datasource"] for variable in variables if "datasource" in variable]
    assert {(ref["type"], ref["uid"]) for ref in refs} <= there | chosen


@each_dashboard
def test_every_panel_says_what_it_shows_and_every_variable_that_a_query_uses_is_there(
    whose: str, file: str
) -> None:
    dashboard = the(whose, file)
    assert all(panel["description"] and panel["title"] for panel in panels(dashboard))
    own = {variable["name"] for variable in dashboard["templating"]["list"]}
    asked = [e for kind in ("prometheus", "loki") for e in expressions(dashboard, kind)]
    used = {name for expression in asked for name in re.findall(r"\$\{?(\w+)", expression)}
    assert used <= own | {"__rate_interval", "__auto"}
    assert {name for name in own if name != "source"} <= used | {"source"}


def test_every_metric_is_asked_for_with_the_namespace() -> None:
    """Metrics of nodes are no tenant's, so a panel that needs one would be empty."""
    asked = list(expressions(the("both signals", "namespace-overview.json"), "prometheus"))
    assert len(asked) > 15
    for expression in asked:
        selectors = re.findall(
            r"[a-z_]+\{([^}]*)\}", re.sub(r'"[^"]*"', lambda m: m[0].replace("}", ""), expression)
        )
        assert selectors, expression
        assert all('namespace=~"$namespace"' in selector for selector in selectors), expression


def test_nothing_is_asked_for_by_node_or_joined_on_one() -> None:
    for expression in expressions(the("both signals", "namespace-overview.json"), "prometheus"):
        assert "node" not in expression.replace("kubelet_", ""), expression
        assert "group_left" not in expression, expression


def test_the_first_dashboard_is_the_home_page() -> None:
    for sources in SOURCES.values():
        home = re.search(r"default_home_dashboard_path = (.*)", texts(sources)[INI])
        assert home
        assert home[1] == f"{FOLDER}/dashboards/{next(iter(dashboards(sources)))}"
    assert "default_home_dashboard_path" in ini()["dashboards"]


def test_they_are_small_enough_for_the_state_of_hundreds_of_tenants() -> None:
    assert sum(map(len, texts(SOURCES["both signals"]).values())) < SIZE


def test_the_platform_chooses_whose_lines_it_sees_and_a_tenant_has_no_such_choice() -> None:
    variables = {
        whose: [v["name"] for v in the(whose, "logs.json")["templating"]["list"]]
        for whose in ("both signals", "the platform")
    }
    assert variables["the platform"] == ["source", *variables["both signals"]]
    assert METRICS in SOURCES["the platform"]
