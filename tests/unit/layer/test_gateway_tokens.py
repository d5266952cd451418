"""Tokens of the gateway: who has one, in which files, under which names."""

import re

import pytest

from components.layer import credentials
from components.layer.config import gateway_tokens
from components.layer.config.gateway_tokens import Grant, grants, secret_name, secrets, token_files
from components.settings.load import SECRET_KEYS, parse
from components.settings.model import Settings
from tests.support.environments import INCIDENT, KEY, PROJECT, changed, config, parsed

PREVIOUS = KEY[::-1]


def rotating() -> Settings:
    raw = changed(INCIDENT, ("gatewayKeyPrevious", PREVIOUS))
    return parse(config(raw), {f"{PROJECT}:{key}" for key in SECRET_KEYS}, PROJECT, "dev")


def test_each_tenant_reads_and_only_who_collects_itself_pushes() -> None:
    settings = parsed(changed(INCIDENT, ("tenants.search.logs", "api"), ("tenants.billing.logs", "off")))
    found = {(grant.tenant, grant.role) for grant in grants(settings)}
    assert found == {
        ("layer", "platform"),
        ("mail", "read"),
        ("search", "read"),
        ("search", "write"),
        ("shop", "read"),
        ("wiki", "read"),
    }  # billing has neither signal


def test_tokens_are_the_stated_ones() -> None:
    settings = parsed(changed(INCIDENT, ("tenants.shop.tokenGeneration", 3)))
    by_tenant = {grant.tenant: grant.token for grant in grants(settings)}
    assert by_tenant["shop"] == credentials.token(KEY, "shop", "read", 3)
    assert by_tenant["mail"] == credentials.token(KEY, "mail", "read", 1)
    assert by_tenant["layer"] == credentials.token(KEY, "layer", "platform")


def test_two_keys_are_two_tokens_for_each() -> None:
    one, two = grants(parsed(INCIDENT)), grants(rotating())
    assert len(two) == 2 * len(one) == len({grant.token for grant in two})
    assert {grant.token for grant in one} < {grant.token for grant in two}


def test_the_stores_credentials_are_of_the_current_key_only() -> None:
    (files,) = secrets(rotating())
    assert files[gateway_tokens.LOKI_FILE] == f'default "Bearer {credentials.layer_token(KEY, "gateway")}";\n'
    assert files[gateway_tokens.PROMETHEUS_FILE].startswith('default "Basic ')
    assert set(files) == {"loki.map", "prometheus.map", "tokens-1.map"}
    assert all(
        re.fullmatch(r'"Bearer [0-9a-f]{64}" [a-z0-9-]+:[a-z]+;', at)
        for at in files["tokens-1.map"].splitlines()
    )


def test_a_map_that_is_too_large_is_split_and_nothing_is_lost() -> None:
    granted = [Grant(f"{at:064x}", f"tenant-{at}", "read") for at in range(100)]
    whole = token_files(granted)
    split = token_files(granted, largest=1000)
    assert len(whole) == 1
    assert len(split) > 8
    assert "".join(split) == whole[0]
    assert max(map(len, split)) <= 1000
    assert token_files([]) == [""]


def test_five_thousand_tenants_fit_into_secrets_of_less_than_a_mebibyte() -> None:
    name = "x" * 63
    granted = [Grant(f"{at:064x}", name, "platform") for at in range(20_000)]
    assert max(map(len, token_files(granted))) < 2**20


def test_a_secrets_name_changes_with_its_content_and_tells_nothing() -> None:
    (now,), (rotated,) = secrets(parsed(INCIDENT)), secrets(rotating())
    (raised,) = secrets(parsed(changed(INCIDENT, ("tenants.shop.tokenGeneration", 2))))
    found = {secret_name(KEY, files) for files in (now, rotated, raised)} | {secret_name(PREVIOUS, now)}
    assert len(found) == 4
    assert secret_name(KEY, now) == secret_name(KEY, dict(reversed(now.items())))
    assert all(re.fullmatch("gateway-tokens-[0-9a-f]{10}", name) for name in found)


def test_a_token_that_is_there_twice_is_refused_without_being_quoted() -> None:
    twice = [Grant("a" * 64, "shop", "read"), Grant("a" * 64, "mail", "read")]
    with pytest.raises(ValueError, match="tenant mail, role read") as error:
        token_files(twice)
    assert "a" * 64 not in str(error.value)
    with pytest.raises(ValueError, match="64 lower-case hex"):
        token_files([Grant("$uri", "shop", "read")])
