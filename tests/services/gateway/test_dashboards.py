"""What the provisioned dashboards and data sources ask passes the real gateway, and gets what the tenant may see."""

import json
from collections.abc import Iterator
from urllib.parse import quote_plus, urlencode

import pytest
import yaml

from components.grafana import sources
from components.grafana.sources import LOGS, METRICS
from tests.services.gateway import samples
from tests.services.gateway.stack import Gateway, World, bearer, token, whole
from tests.services.test_alert_rules import RULES
from tests.unit.grafana.rendered import dashboards, expressions

AT = f"time={samples.LAST}"
RANGE = f"start={samples.LAST - 600}&end={samples.LAST}&step=60"
OVERVIEW, LINES = dashboards([METRICS, LOGS]).values()
# What the variable becomes: all, one, or several namespaces.
CHOSEN = {"shop": [".+", "shop"], "mail": [".+", "mail-in", "mail-in|mail-out"]}


def asked(kind: str, tenant: str) -> Iterator[str]:
    """Each query of a dashboard as Grafana sends it for each choice."""
    dashboard = OVERVIEW if kind == "prometheus" else LINES
    for chosen in CHOSEN[tenant]:
        for expression in expressions(dashboard, kind):
            text = expression.replace("$namespace", chosen).replace("$pod", ".+").replace("$container", ".+")
            yield text.replace("$__rate_interval", "4m").replace("$__auto", "1m").replace("$search", "")


@pytest.mark.parametrize("tenant", CHOSEN)
def test_every_query_of_the_overview_is_answered(gateway: Gateway, tenant: str) -> None:
    queries = list(asked("prometheus", tenant))
    assert len(queries) > 30
    for query in queries:
        for path in (f"query?{AT}", f"query_range?{RANGE}"):
            answer = gateway.ask(f"/api/v1/{path}&query={quote_plus(query)}", bearer(tenant))
            assert answer.status == 200, f"{query}: {answer.body!r}"
            assert json.loads(whole(answer))["status"] == "success"


def test_a_namespace_that_is_not_the_tenants_is_an_error_and_shows_nothing(gateway: Gateway) -> None:
    query = next(expressions(OVERVIEW, "prometheus")).replace("$namespace", "billing")
    answer = gateway.ask(f"/api/v1/query?{AT}&query={quote_plus(query)}", bearer("shop"))
    assert answer.status == 400


def test_the_choice_of_namespaces_is_the_tenants_own(gateway: Gateway) -> None:
    """Grafana turns label_values(METRIC, namespace) into this request."""
    for tenant, own in (("shop", ["shop"]), ("mail", ["mail-in", "mail-out"])):
        selector = urlencode({"match[]": "secret", "start": samples.LAST - 3600, "end": samples.LAST})
        answer = gateway.ask(f"/api/v1/label/namespace/values?{selector}", bearer(tenant))
        assert json.loads(whole(answer))["data"] == own


def test_every_query_for_lines_reaches_loki_under_the_tenants_name(world: World) -> None:
    for query in asked("loki", "shop"):
        answer = world.gateway.ask(
            f"/loki/api/v1/query_range?{RANGE}&query={quote_plus(query)}", bearer("shop")
        )
        assert answer.status == 200, query
    values = urlencode({"query": '{namespace=~".+"}', "start": 1, "end": 2})
    for label in ("namespace", "pod", "container"):
        assert world.gateway.ask(f"/loki/api/v1/label/{label}/values?{values}", bearer("shop")).status == 200
    assert {tuple(seen.all("X-Scope-OrgID")) for seen in world.stores.behind.seen} == {("shop",)}
    assert len(world.stores.behind.seen) == 3 + len(list(asked("loki", "shop")))


def test_what_a_central_grafana_is_given_opens_the_gateway(gateway: Gateway) -> None:
    text = sources.for_others([METRICS, LOGS], "60s", token("shop"))
    for source in yaml.safe_load(text)["datasources"]:
        name = source["jsonData"]["httpHeaderName1"]
        header = f"{name}: {source['secureJsonData']['httpHeaderValue1']}"
        path = f"/api/v1/query?{AT}&query=1%2B1" if source["type"] == "prometheus" else "/loki/api/v1/labels"
        assert gateway.ask(path, header).status == 200


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_the_expressions_for_an_evaluator_elsewhere_are_answered_to_the_platform(
    gateway: Gateway, rule: dict[str, str]
) -> None:
    """By GET, and without naming a tenant: docs/alerting.md."""
    path = f"/api/v1/query?{AT}&query={quote_plus(rule['expr'])}"
    answer = gateway.ask(path, bearer("", "platform"))
    assert answer.status == 200, answer.body
    assert json.loads(whole(answer))["status"] == "success"
    assert gateway.ask(path).status == 401
