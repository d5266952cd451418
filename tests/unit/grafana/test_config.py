"""grafana.ini, data sources and providers: what people and a Grafana may do, and what is nowhere in them."""

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.grafana import config, sources
from components.grafana.config import Access
from components.grafana.sources import LOGS, METRICS
from components.layer import platform_grafana
from components.settings.base import DNS_LABEL
from components.settings.dashboards import Dashboards, OAuth, OAuthClient
from components.tenant import registration
from tests.support.environments import INCIDENT, changed, parsed
from tests.unit.grafana.rendered import PLATFORM, SOURCES, ini, provisioned, texts

PROVIDER = OAuth(
    auth_url="https://login.example.com/a",
    token_url="https://login.example.com/t",
    api_url="https://login.example.com/u",
)
CLIENT = OAuthClient(client_id="shop-grafana", groups=("team-shop", "on-call"))
BY_HOST = Dashboards(host="shop.grafana.example.com", oauth=CLIENT)
CLOSED = {
    "auth.anonymous": {"enabled": "false"},
    "users": {"allow_sign_up": "false", "allow_org_create": "false", "auto_assign_org_role": "Editor"},
    "snapshots": {"enabled": "false", "external_enabled": "false"},
    "public_dashboards": {"enabled": "false"},
    "unified_alerting": {"enabled": "false"},
    "cloud_migration": {"enabled": "false"},
    "news": {"news_feed_enabled": "false"},
    "metrics": {"enabled": "false"},
    "analytics": {
        "reporting_enabled": "false",
        "check_for_updates": "false",
        "check_for_plugin_updates": "false",
        "feedback_links_enabled": "false",
    },
    "plugins": {
        "plugin_admin_enabled": "false",
        "preinstall_disabled": "true",
        "preinstall_auto_update": "false",
        "public_key_retrieval_disabled": "true",
    },
}


def test_nobody_comes_in_unasked_and_nothing_goes_out() -> None:
    for access in (None, Access(BY_HOST, PROVIDER)):
        assert CLOSED.items() <= ini(access).items()
        assert ini(access)["security"]["disable_gravatar"] == "true"


@pytest.mark.parametrize(
    ("reached", "url", "secure"),
    [
        (Dashboards(), None, "false"),
        (Dashboards(host="g.example.com"), "https://g.example.com/", "true"),
        (Dashboards(host="g.example.com", tls=False), "http://g.example.com/", "false"),
    ],
)
def test_cookies_are_secure_where_people_come_by_https(
    reached: Dashboards, url: str | None, secure: str
) -> None:
    found = ini(Access(reached))
    assert found["server"].get("root_url") == url
    assert found["security"]["cookie_secure"] == secure


def test_without_a_provider_or_a_client_nobody_signs_in_by_one() -> None:
    for access in (Access(BY_HOST), Access(Dashboards(host="g.example.com"), PROVIDER), Access()):
        assert not [name for name in ini(access) if name.startswith("auth.") and name != "auth.anonymous"]


def test_only_members_of_the_clients_groups_sign_in() -> None:
    found = ini(Access(BY_HOST, PROVIDER))["auth.generic_oauth"]
    assert found == {
        "enabled": "true",
        "name": "single sign-on",
        "client_id": "shop-grafana",
        "auth_url": "https://login.example.com/a",
        "token_url": "https://login.example.com/t",
        "api_url": "https://login.example.com/u",
        "scopes": "openid profile email",
        "use_pkce": "true",
        "allow_sign_up": "true",
        "groups_attribute_path": "groups",
        "allowed_groups": "team-shop,on-call",
        "allow_assign_grafana_admin": "false",
    }


def test_no_text_holds_a_variable_but_the_token_in_the_header() -> None:
    for found in SOURCES.values():
        for file, text in texts(found, Access(BY_HOST, PROVIDER)).items():
            if not file.endswith(
                ".json"
            ):  # dashboards have variables of their own, which the browser replaces
                assert re.findall(r"\$\S*", text) == ["$READ_TOKEN"] * len(found) * (
                    file == config.DATA_SOURCES
                ), file


@pytest.mark.parametrize("whose", SOURCES)
def test_every_source_is_the_gateway_read_by_get_with_the_token_and_changed_by_nobody(whose: str) -> None:
    found = provisioned(SOURCES[whose])
    assert found
    for source in found:
        assert source["url"] == "http://gateway.observability.svc:8080"
        assert source["access"] == "proxy"
        assert source["editable"] is False
        assert source["jsonData"]["httpMethod"] == "GET"
        assert source["jsonData"]["manageAlerts"] is False
        assert source["jsonData"]["httpHeaderName1"] == "Authorization"
        assert source["secureJsonData"]["httpHeaderValue1"] == "Bearer $READ_TOKEN"
        assert "basicAuth" not in source
    assert [source["isDefault"] for source in found] == [True, *[False] * (len(found) - 1)]
    assert len({source["uid"] for source in found}) == len({source["name"] for source in found}) == len(found)


@given(st.sets(st.from_regex(DNS_LABEL, fullmatch=True), min_size=2))
def test_a_source_of_any_tenant_has_a_uid_that_grafana_takes_and_no_other_has(tenants: set[str]) -> None:
    for before, after in (("logs-", ""), ("", "-metrics"), ("", "-logs")):
        found = {sources.uid(f"{before}{tenant}{after}") for tenant in tenants}
        assert len(found) == len(tenants)
        assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,40}", uid) for uid in found)  # ValidateUID of Grafana


def test_tenants_with_the_longest_names_have_uids_that_grafana_takes() -> None:
    long = {f"{'t' * 62}{end}": {"pods": 5, "runsOn": ["web"]} for end in "ab"}
    settings = parsed(changed(INCIDENT, ("layer.dashboards", True), ("tenants", long)))
    uids = [source.uid for source in platform_grafana.sources_of(settings)]
    assert len(set(uids)) == len(uids) == 4
    assert max(map(len, uids)) <= 40
    texts = [
        registration.values([METRICS, LOGS], tenant=name, token="t" * 64, scrape_interval="60s")
        for name in long
    ]
    given_out = [
        source["uid"] for text in texts for source in yaml.safe_load(text["datasources.yaml"])["datasources"]
    ]
    assert len(set(given_out)) == 4
    assert max(map(len, given_out)) <= 40


@pytest.mark.parametrize("whose", ["both signals", "metrics only", "logs only"])
def test_a_tenants_grafana_has_the_sources_of_its_signals_and_says_no_tenants_name(whose: str) -> None:
    found = provisioned(SOURCES[whose])
    assert [source["uid"] for source in found] == [source.uid for source in SOURCES[whose]]
    assert all("httpHeaderName2" not in source["jsonData"] for source in found)


def test_the_platforms_grafana_names_each_tenant_that_has_lines_and_its_own_by_saying_nothing() -> None:
    named = {
        source["uid"]: source["secureJsonData"].get("httpHeaderValue2") for source in provisioned(PLATFORM)
    }
    assert named == {
        "metrics": None,
        "logs": None,
        **{f"logs-{name}": name for name in ("billing", "mail", "search", "shop")},  # wiki has no lines
    }
    assert {s["jsonData"].get("httpHeaderName2") for s in provisioned(PLATFORM)} == {None, "X-Scope-OrgID"}


def test_the_metrics_source_knows_how_often_samples_come() -> None:
    text = config.files([METRICS], "30s", Access())[config.DATA_SOURCES]
    assert yaml.safe_load(text)["datasources"][0]["jsonData"]["timeInterval"] == "30s"


def test_dashboards_are_read_from_the_mounted_folder_and_neither_changed_nor_deleted_in_the_browser() -> None:
    (provider,) = yaml.safe_load(texts([LOGS])[config.PROVIDERS])["providers"]
    assert provider["options"]["path"] == f"{config.FOLDER}/dashboards"
    assert provider["disableDeletion"] is True
    assert provider["allowUiUpdates"] is False


def test_every_file_is_mounted_where_grafana_looks_for_it() -> None:
    assert {file: config.mounted_at(file) for file in texts([METRICS, LOGS])} == {
        "grafana.ini": "grafana.ini",
        "datasources.yaml": "provisioning/datasources/datasources.yaml",
        "dashboards.yaml": "provisioning/dashboards/dashboards.yaml",
        "namespace-overview.json": "dashboards/namespace-overview.json",
        "logs.json": "dashboards/logs.json",
    }
    assert config.ENVIRONMENT["GF_PATHS_CONFIG"] == f"{config.FOLDER}/grafana.ini"
    assert config.ENVIRONMENT["GF_PATHS_PROVISIONING"] == f"{config.FOLDER}/provisioning"


def test_for_a_grafana_of_others_the_sources_have_names_of_their_own_and_delete_nothing() -> None:
    text = sources.for_others([METRICS, LOGS], "60s", "a" * 64)
    found = yaml.safe_load(text)
    assert "prune" not in found
    assert all("isDefault" not in source for source in found["datasources"])
    assert {s["secureJsonData"]["httpHeaderValue1"] for s in found["datasources"]} == {f"Bearer {'a' * 64}"}
