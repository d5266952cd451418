"""Dashboards, sign-in and registries as settings: what is on by default, what is refused, and what is a secret."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.settings.dashboards import Dashboards
from components.settings.load import parse
from components.settings.mistakes import SettingsError
from components.settings.stack_file import UNREAD, read_settings
from components.settings.tenant_checks import own_pods
from tests.support.environments import INCIDENT, PROJECT, changed, config, parsed, secret_keys

PROVIDER = {
    "authUrl": "https://login.example.com/authorize",
    "tokenUrl": "https://login.example.com/token",
    "apiUrl": "https://login.example.com/userinfo",
}
HOST = "shop.grafana.example.com"
CLIENT = {"clientId": "shop-grafana", "groups": ["team-shop"]}
SECRET = "the-identity-providers-secret"
SIGN_IN = changed(
    INCIDENT,
    ("layer.oauth", PROVIDER),
    ("oauth", {"shop-grafana": SECRET}),
    ("tenants.shop.dashboards", {"host": HOST, "oauth": CLIENT}),
)


def mistakes(raw: dict[str, Any], secret: set[str] | None = None) -> dict[str, str]:
    """Texts of the mistakes by path."""
    with pytest.raises(SettingsError) as caught:
        parse(config(raw), secret_keys(raw) if secret is None else secret, PROJECT, "dev")
    return {mistake.path: str(mistake) for mistake in caught.value.mistakes}


def test_every_tenant_that_has_something_to_show_has_dashboards_unless_it_says_no() -> None:
    tenants = parsed(changed(INCIDENT, ("tenants.billing.dashboards", "off"))).tenants
    assert {name: tenant.dashboards for name, tenant in tenants.items()} == {
        **dict.fromkeys(("shop", "search", "mail", "wiki"), True),
        "billing": False,
    }


def test_a_tenant_without_signals_has_none_and_may_not_ask_for_them() -> None:
    dark = changed(INCIDENT, ("tenants.shop.logs", "off"), ("tenants.shop.metrics", False))
    assert parsed(dark).tenants["shop"].dashboards is False
    found = mistakes(changed(dark, ("tenants.shop.dashboards", True)))
    assert list(found) == ["tenants.shop.dashboards"]
    assert "nothing to show" in found["tenants.shop.dashboards"]


def test_where_the_layer_has_no_signal_nobody_has_dashboards() -> None:
    raw = changed(INCIDENT, ("layer.logs", "off"), ("layer.metrics", "off"), ("tenants.wiki.logs", None))
    assert {tenant.dashboards for tenant in parsed(raw).tenants.values()} == {False}
    assert list(mistakes(changed(raw, ("layer.dashboards", True)))) == ["layer.dashboards"]


def test_a_mapping_says_how_they_are_reached() -> None:
    found = parsed(SIGN_IN).tenants["shop"].dashboards
    assert isinstance(found, Dashboards)
    assert (found.host, found.tls, found.ingress_class) == (HOST, True, None)
    assert found.oauth is not None
    assert found.oauth.groups == ("team-shop",)


@pytest.mark.parametrize(
    ("tenant", "own"),
    [
        ({"pods": 9}, {"shop": 1}),
        ({"pods": 9, "dashboards": False}, {"shop": 0}),
        ({"pods": 9, "dashboards": {"host": HOST}}, {"shop": 1}),
        ({"pods": 9, "logs": "api"}, {"shop": 2}),
        ({"pods": 9, "logs": "api", "dashboards": "off"}, {"shop": 1}),
        ({"namespaces": {"b": {"pods": 5}, "a": {"pods": 5}}}, {"a": 1, "b": 0}),
        ({"namespaces": {"b": {"pods": 5}, "a": {"pods": 5}}, "logs": "api"}, {"a": 2, "b": 1}),
        ({"pods": 9, "logs": "off", "metrics": False}, {"shop": 0}),
    ],
)
def test_a_tenants_own_pods_are_a_grafana_in_its_first_namespace_and_a_collector_in_each(
    tenant: dict[str, Any], own: dict[str, int]
) -> None:
    assert own_pods("shop", tenant) == own


D = "tenants.shop.dashboards"
WRONG: list[tuple[str, Any, str, str]] = [
    (D, "yes", D, "true or false"),
    (f"{D}.hots", HOST, f"{D}.hots", "closest: host"),
    (f"{D}.host", "grafana", f"{D}.host", "shop.grafana.example.com"),
    (f"{D}.host", "shop.example.com/grafana", f"{D}.host", "host name"),
    (f"{D}.host", "a.example.com\nadmin_password = x", f"{D}.host", "host name"),
    (f"{D}.annotations", {"key": 5}, f"{D}.annotations.key", "Write text"),
    (f"{D}.oauth.groups", [], f"{D}.oauth.groups", "too short"),
    (f"{D}.oauth.groups", ["a b"], f"{D}.oauth.groups[0]", "letters, digits"),
    (f"{D}.oauth.clientId", "other", f"{D}.oauth.clientId", "--path 'oauth[\\\"other\\\"]'\""),
    ("layer.oauth", None, f"{D}.oauth", "Add layer.oauth"),
    ("oauth", {}, f"{D}.oauth.clientId", "secret of this client is not known"),
    ("layer.oauth.authUrl", "http://login.example.com/", "layer.oauth.authUrl", "https"),
    ("layer.oauth.authUrl", "https://x/$__file{/etc/passwd}", "layer.oauth.authUrl", "https"),
    ("layer.oauth.name", "${HOME}", "layer.oauth.name", "plain name"),
    ("layer.oauth.groupsPath", "a b", "layer.oauth.groupsPath", "dots"),
    ("layer.imageRegistry", "https://registry.example.com", "layer.imageRegistry", "without https://"),
    ("layer.gateway", {"openTo": ["Central"]}, "layer.gateway.openTo[0]", "DNS label"),
    ("layer.dashboards", {"host": HOST}, "layer.dashboards", "true or false"),
    ("cluster.networkPolicies", "on", "cluster.networkPolicies", "enforced or notEnforced"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "where", "says"), WRONG, ids=[f"{w[2]}={w[1]!r}" for w in WRONG])
def test_each_mistake_has_one_message_with_its_path_and_the_way_out(
    path: str, value: Any, where: str, says: str
) -> None:
    found = mistakes(changed(SIGN_IN, (path, value)))
    assert list(found) == [where]
    assert says in found[where]


@pytest.mark.parametrize("key", ["ingressClass", "annotations", "tlsSecret", "oauth"])
def test_what_only_an_ingress_uses_is_refused_without_a_host(key: str) -> None:
    value = {"annotations": {"a": "b"}, "oauth": CLIENT}.get(key, "alb")
    found = mistakes(changed(SIGN_IN, (D, {key: value})))
    assert list(found) == [f"{D}.{key}"]
    assert f"Add {D}.host" in found[f"{D}.{key}"]


def test_the_identity_providers_secrets_are_never_shown() -> None:
    settings = parsed(SIGN_IN)
    assert settings.oauth["shop-grafana"].get_secret_value() == SECRET
    assert SECRET not in repr(settings)
    for raw in (
        SIGN_IN,
        changed(SIGN_IN, ("oauth", SECRET)),
        changed(SIGN_IN, ("oauth.shop-grafana", [SECRET])),
    ):
        found = mistakes(changed(raw, ("layer.nonsense", 1)))
        assert SECRET not in "".join(found.values())


def test_the_identity_providers_secrets_in_plain_text_are_refused() -> None:
    found = mistakes(SIGN_IN, secret={f"{PROJECT}:gatewayKey"})
    assert list(found) == ["oauth"]
    assert "plain text" in found["oauth"]
    assert SECRET not in found["oauth"]


def test_commands_that_read_no_secret_read_the_same_settings(tmp_path: Path) -> None:
    plain = {f"{PROJECT}:{key}": value for key, value in SIGN_IN.items()}
    encrypted = {f"{PROJECT}:gatewayKey": {"secure": "v1:x"}, f"{PROJECT}:oauth": {"secure": "v1:y"}}
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(yaml.safe_dump({"config": {**plain, **encrypted}}))
    read = read_settings(file, PROJECT, "dev")
    assert read.oauth["shop-grafana"].get_secret_value() == UNREAD
    hidden = {"gateway_key", "oauth"}
    assert read.model_dump(exclude=hidden) == parsed(SIGN_IN).model_dump(exclude=hidden)


def test_a_secret_of_each_client_may_be_encrypted_by_itself(tmp_path: Path) -> None:
    """`pulumi config set --secret --path 'oauth["CLIENT"]'` leaves a mapping whose values are encrypted."""
    plain = {f"{PROJECT}:{key}": value for key, value in SIGN_IN.items()}
    encrypted = {
        f"{PROJECT}:gatewayKey": {"secure": "v1:x"},
        f"{PROJECT}:oauth": {"shop-grafana": {"secure": "v1:y"}},
    }
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(json.dumps({"config": {**plain, **encrypted}}))
    assert list(read_settings(file, PROJECT, "dev").oauth) == ["shop-grafana"]
