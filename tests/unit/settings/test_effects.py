"""A setting without effect is refused with its path: it is said at preview, and never passed over."""

from typing import Any

import pytest

from components.settings import leftovers
from components.settings.load import parse
from components.settings.mistakes import SettingsError
from tests.support.environments import INCIDENT, KEY, PROJECT, changed, config, parsed, secret_keys

Changes = list[tuple[str, Any]]
EXISTING = {"kind": "existing", "selector": {"app": "x"}}
NO_METRICS: Changes = [("layer.metrics", "off")]
NO_LOGS: Changes = [("layer.logs", "off"), ("tenants.wiki.logs", None)]
NEITHER = [*NO_METRICS, *NO_LOGS]
PROVIDER = {
    "authUrl": "https://login.example.com/authorize",
    "tokenUrl": "https://login.example.com/token",
    "apiUrl": "https://login.example.com/userinfo",
}
HOST = "shop.grafana.example.com"
D = "tenants.shop.dashboards"


def mistakes(*changes: tuple[str, Any]) -> dict[str, str]:
    """Texts of the mistakes by path; empty if there are none."""
    raw = changed(INCIDENT, *changes)
    try:
        parse(config(raw), secret_keys(raw), PROJECT, "dev")
    except SettingsError as error:
        return {mistake.path: str(mistake) for mistake in error.mistakes}
    return {}


REFUSED: list[tuple[Changes, str, str]] = [
    ([("tenants.shop.onRemove", "delete")], "tenants.shop.onRemove", "adopted is never deleted"),
    ([("tenants.wiki.retention", "2d")], "tenants.wiki.retention", "logs are off"),
    ([("tenants.wiki.limits", {"logRateMB": 8})], "tenants.wiki.limits.logRateMB", "logs are off"),
    ([("tenants.wiki.limits", {"logStreams": 800})], "tenants.wiki.limits.logStreams", "logs are off"),
    ([("layer.gateway", {"openTo": ["central", "mail-in"]})], "layer.gateway.openTo[1]", "tenant 'mail'"),
    ([(D, {"tls": False})], f"{D}.tls", f"Add {D}.host"),
    ([(D, {"host": HOST, "tls": False, "tlsSecret": "certificate"})], f"{D}.tlsSecret", "tls is off"),
    ([(D, {"host": HOST}), ("tenants.wiki.dashboards", {"host": HOST})], "tenants.wiki.dashboards.host", "'shop'"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "where", "says"), REFUSED, ids=[f"{r[1]} {r[2]}" for r in REFUSED])
def test_a_setting_without_effect_is_refused(changes: Changes, where: str, says: str) -> None:
    found = mistakes(*changes)
    assert list(found) == [where]
    assert says in found[where]


ALLOWED: list[Changes] = [
    [("tenants.shop.onRemove", "delete"), ("tenants.shop.namespace", "create")],
    [("tenants.shop.onRemove", "keep")],
    [*NO_METRICS, ("layer.hostMetrics", "none")],
    [*NO_METRICS, ("layer.agents", {"preempt": False})],
    [*NO_LOGS, ("layer.agents", {"preempt": False})],
    [*NO_LOGS, ("layer.agents", {"preempt": False}), ("layer.hostMetrics", "alloy")],
    [*NO_LOGS, ("layer.gateway", {"replicas": 1}), ("layer.storageClass", "gp3")],
    [("tenants.shop.retention", "2d"), ("tenants.billing.limits", {"logRateMB": 8})],
    [("layer.gateway", {"openTo": ["central"]})],
    [(D, {"host": HOST, "tls": False})],
    [(D, {"host": HOST, "tlsSecret": "certificate"})],
    NEITHER,
]


@pytest.mark.parametrize("changes", ALLOWED, ids=str)
def test_the_same_setting_is_allowed_where_it_has_an_effect(changes: Changes) -> None:
    assert mistakes(*changes) == {}


MORE = {
    "gateway": {"replicas": 1},
    "storageClass": "gp3",
    "agents": {"maxUnavailable": 3},
    "hostMetrics": EXISTING,
}
SAID: list[tuple[Changes, str]] = [
    (NEITHER, "layer.logs and layer.metrics are off"),
    ([("layer.oauth", PROVIDER)], "layer.oauth (no tenant names a client"),
    ([*NO_METRICS, ("layer.hostMetrics", "node-exporter")], "layer.hostMetrics (layer.metrics is off)"),
    ([*NO_METRICS, ("layer.hostMetrics", EXISTING)], "layer.hostMetrics (layer.metrics is off)"),
    (
        [*NO_LOGS, ("layer.hostMetrics", "none"), ("layer.agents", {"preempt": False})],
        "layer.agents (there are no node agents)",
    ),
    ([*NO_LOGS, ("tenants.shop.retention", "2d")], "now: tenants.shop.retention (layer.logs is off)"),
    ([*NO_LOGS, ("tenants.shop.limits", {"logRateMB": 8})], "now: tenants.shop.limits (layer.logs is off)"),
    (
        [("oauth", {"gone-grafana": "a-secret-of-nobody"})],
        'ARGS="config rm --path \'oauth[\\"gone-grafana\\"]\'"',
    ),
    ([("gatewayKeyPrevious", KEY[::-1])], "config rm gatewayKeyPrevious"),
]


@pytest.mark.parametrize(("changes", "says"), SAID, ids=[says for _, says in SAID])
def test_what_is_left_over_is_said_once(changes: Changes, says: str) -> None:
    (line,) = leftovers.lines(parsed(changed(INCIDENT, *changes)), "dev")
    assert says in line
    assert "a-secret-of-nobody" not in line


def test_all_that_two_switches_leave_without_effect_is_one_line() -> None:
    raw = changed(INCIDENT, *NEITHER, *((f"layer.{key}", value) for key, value in MORE.items()))
    _, line = leftovers.lines(parsed(raw), "dev")
    assert all(f"layer.{key} (" in line for key in MORE)


def test_nothing_is_said_where_nothing_is_left_over() -> None:
    client = {"host": HOST, "oauth": {"clientId": "shop-grafana", "groups": ["team-shop"]}}
    agents = ("layer.agents", {"preempt": False})
    used = [
        agents,
        ("tenants.shop.retention", "2d"),
        ("layer.oauth", PROVIDER),
        ("oauth", {"shop-grafana": "secret"}),
        (D, client),
    ]
    alloy = [*NO_LOGS, agents, ("layer.hostMetrics", "alloy"), ("layer.gateway", {"replicas": 1})]
    for changes in ([], used, alloy, [*NO_METRICS, agents, ("layer.hostMetrics", "none")]):
        assert leftovers.lines(parsed(changed(INCIDENT, *changes)), "dev") == []
