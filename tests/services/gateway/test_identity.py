"""Who is let in: exactly the tokens that are listed, spelled exactly, and for as long as they are listed."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from tests.services.gateway.stack import Gateway, World, bearer, settings_with, start_gateway, token
from tests.services.http_raw import send
from tests.services.sidecar import API
from tests.support.environments import KEY

TOKEN = token("shop")
REFUSED = {
    "nothing": [],
    "empty": ["Authorization:"],
    "no token": ["Authorization: Bearer"],
    "blank token": ["Authorization: Bearer "],
    "unknown token": [f"Authorization: Bearer {'0' * 64}"],
    "no such tenant": [bearer("nobody")],
    "the layer's own": [bearer("layer")],
    "token alone": [f"Authorization: {TOKEN}"],
    "basic": [f"Authorization: Basic {TOKEN}"],
    "too long": [f"Authorization: Bearer {TOKEN}0"],
    "too short": [f"Authorization: Bearer {TOKEN[:-1]}"],
    "two blanks": [f"Authorization: Bearer  {TOKEN}"],
    "tab": [f"Authorization: Bearer\t{TOKEN}"],
    "list": [f"Authorization: Bearer {TOKEN}, Bearer {token('billing')}"],
    "quoted": [f'Authorization: "Bearer {TOKEN}"'],
    "other header": [f"Proxy-Authorization: Bearer {TOKEN}", f"X-Authorization: Bearer {TOKEN}"],
    "cookie": [f"Cookie: Authorization=Bearer {TOKEN}; access_token={TOKEN}"],
    "write without pushing": [bearer("shop", "write")],  # the node agents push shop's lines
    "off altogether": [bearer("wiki", "write")],
}
PATHS = [
    "/", "/api/v1/query?query=up", "/api/v1/metadata", f"{API}/query", f"{API}/push", f"{API}/tail", "/alive", "/ready",
    "/metrics", "/nginx.conf", "//", "/%2e/x", f"/api/v1/query?query=up&access_token={TOKEN}&token={TOKEN}",
]  # fmt: skip


@pytest.mark.parametrize("headers", REFUSED.values(), ids=REFUSED)
def test_without_a_listed_token_every_path_is_401(world: World, headers: list[str]) -> None:
    for path in PATHS:
        for method, body in (("GET", b""), ("POST", b"x"), ("PUT", b"x"), ("OPTIONS", b"")):
            answer = world.gateway.ask(path, *headers, "X-Scope-OrgID: shop", method=method, body=body)
            assert (answer.status, answer.headers.get("www-authenticate")) == (401, "Bearer"), (method, path)
    assert world.stores.behind.seen == []


MALFORMED = {
    "twice": f"{bearer('shop')}\r\n{bearer('shop')}",
    "two tenants": f"{bearer('shop')}\r\n{bearer('mail')}",
    "blank before the colon": f"Authorization : Bearer {TOKEN}",
    "folded": f"Authorization:\r\n Bearer {TOKEN}",
    "zero byte": f"Authorization: Bearer {TOKEN}\0",
}


@pytest.mark.parametrize("lines", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_token_is_refused(world: World, lines: str) -> None:
    request = f"GET {API}/query HTTP/1.1\r\nHost: a\r\n{lines}\r\nConnection: close\r\n\r\n"
    assert send(world.gateway.port, request.encode()).status in (400, 401)
    assert world.stores.behind.seen == []


def test_a_client_of_http_1_0_without_a_host_is_let_in_with_a_token_only(world: World) -> None:
    def ask(line: str, *headers: str) -> int:
        return send(world.gateway.port, "\r\n".join([line, *headers, "", ""]).encode()).status

    assert ask(f"GET {API}/query HTTP/1.0", bearer("shop")) == 200
    assert ask(f"GET {API}/query HTTP/1.0") == 401
    assert ask("PRI * HTTP/2.0") in (0, 400, 505)
    assert ask(f"GET {API}/query HTTP/1.1", "Host: a", "Host: b", bearer("shop")) == 400


@contextmanager
def gateway_with(world: World, *changes: tuple[str, Any]) -> Iterator[Gateway]:
    """Another gateway before the same stores."""
    with ExitStack() as stack:
        yield start_gateway(stack, settings_with(*changes), world.stores)


def status(gateway: Gateway, bearing: str) -> int:
    return gateway.ask("/api/v1/query?query=1", f"Authorization: Bearer {bearing}").status


def test_a_removed_tenant_is_out_and_no_other(world: World) -> None:
    with gateway_with(world, ("tenants.shop", None)) as gateway:
        assert status(gateway, TOKEN) == 401
        assert status(gateway, token("mail")) == 200


def test_a_raised_generation_revokes_one_tenants_tokens(world: World) -> None:
    with gateway_with(world, ("tenants.shop.tokenGeneration", 2)) as gateway:
        assert status(gateway, TOKEN) == 401
        assert status(gateway, token("shop", generation=2)) == 200
        assert status(gateway, token("mail")) == 200


def test_both_keys_are_good_while_one_is_replaced_and_the_old_one_not_after(world: World) -> None:
    new = KEY[::-1]
    with gateway_with(world, ("gatewayKey", new), ("gatewayKeyPrevious", KEY)) as gateway:
        assert status(gateway, TOKEN) != 401
        assert status(gateway, token("shop", key=new)) != 401
    with gateway_with(world, ("gatewayKey", new)) as gateway:
        assert status(gateway, TOKEN) == 401
        assert status(gateway, token("shop", "platform")) == 401
        assert status(gateway, token("shop", key=new)) != 401


def test_a_store_that_refuses_the_layers_credential_is_502_and_not_the_callers_fault(world: World) -> None:
    with gateway_with(world, ("gatewayKey", KEY[::-1]), ("gatewayKeyPrevious", KEY)) as gateway:
        assert status(gateway, TOKEN) == 502
        assert gateway.ask(f"{API}/query", bearer("shop")).status == 502
        assert gateway.ask("/api/v1/query?query=1", bearer("x", "platform")).status == 502


def test_without_tenants_nobody_but_the_platform_is_let_in(world: World) -> None:
    with gateway_with(world, ("tenants", None)) as gateway:
        assert {status(gateway, token(name)) for name in ("shop", "mail", "billing")} == {401}
        assert status(gateway, token("", "platform")) == 200
