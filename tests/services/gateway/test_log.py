"""What is written down: who asked for what, and never a token or a query."""

import json
import re

import pytest

from components.layer import credentials
from components.layer.config.loki_sidecar import Role
from tests.services.gateway.stack import World, bearer, token
from tests.services.http_raw import send
from tests.services.sidecar import API
from tests.support.environments import INCIDENT, KEY

LAYERS: tuple[Role, ...] = ("gateway", "push", "read", "scrape")
TOKENS = [
    *(token(tenant, role) for tenant in INCIDENT["tenants"] for role in ("read", "write")),
    token("", "platform"),
    *(credentials.layer_token(KEY, role) for role in LAYERS),
    credentials.layer_token(KEY, "metrics"),
]


def logs(world: World) -> dict[str, str]:
    """Everything that every server has written."""
    files = [world.gateway.log, *world.stores.logs]
    return {str(file): file.read_text(errors="replace") for file in files}


def attempts(bearing: str) -> list[bytes]:
    """Requests with a token in every place where one does not belong."""
    good = f"Authorization: Bearer {bearing}"
    head = "Host: a\r\nConnection: close"
    lines = [
        f"GET /api/v1/query?query=1&access_token={bearing} HTTP/1.1\r\n{head}\r\n{good}",
        f"GET /api/v1/query?query={bearing} HTTP/1.1\r\n{head}\r\n{good}",
        f"GET /{bearing} HTTP/1.1\r\n{head}\r\n{good}",
        f"GET /{bearing.upper()}/x HTTP/1.1\r\n{head}",
        f"GET /%{ord(bearing[0]):x}{bearing[1:]} HTTP/1.1\r\n{head}",
        f"GET {API}/label/a{bearing}/values HTTP/1.1\r\n{head}\r\n{good}",
        f"{bearing.upper()} / HTTP/1.1\r\n{head}\r\n{good}",
        f"GET / HTTP/{bearing}\r\n{head}\r\n{good}",
        f"GET / HTTP/1.1\r\n{head}\r\n{good}\r\n{good}",
        f"GET / HTTP/1.1\r\n{head}\r\nAuthorization:\r\n Bearer {bearing}",
        f"GET / HTTP/1.1\r\n{head}\r\nAuthorization : Bearer {bearing}",
        f"GET / HTTP/1.1\r\n{head}\r\nX {bearing}",
        f"GET / HTTP/1.1\r\nHost: {bearing}\r\nConnection: close\r\n{good}",
        f"GET / HTTP/1.1\r\n{head}\r\nContent-Length: {bearing}\r\n{good}",
        f"GET / HTTP/1.1\r\n{head}\r\nUser-Agent: {bearing}\r\nReferer: http://{bearing}/\r\n{good}",
        f"GET / HTTP/1.1\r\n{head}\r\nX-Scope-OrgID: {bearing}\r\nCookie: {bearing}\r\n{good}",
        f"GET http://{bearing}/api/v1/query?query=1 HTTP/1.1\r\n{head}\r\n{good}",
        f"{bearing}",
    ]
    return [f"{text}\r\n\r\n".encode() for text in lines]


@pytest.mark.parametrize("caller", [("shop", "read"), ("search", "write"), ("", "platform")])
def test_a_token_is_in_no_log_wherever_it_was_sent(world: World, caller: tuple[str, str]) -> None:
    for request in attempts(token(*caller)):
        send(world.gateway.port, request)
    send(world.gateway.port, b"GET /%ff%fe%22%5c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    for name, text in logs(world).items():
        assert not [at for at in TOKENS if at in text.lower()], name


def test_each_line_is_json_and_says_who_asked_for_what(world: World) -> None:
    before = len(world.gateway.logged())
    world.gateway.ask("/api/v1/query?query=private", bearer("shop"))
    world.gateway.ask(f"{API}/push?private", bearer("search", "write"), method="POST", body=b"private")
    world.gateway.ask("/federate?private", bearer("mail"))
    world.gateway.ask("/api/v1/query?private")
    lines = [json.loads(line) for line in world.gateway.logged()[before:].splitlines()]
    assert [(at["tenant"], at["role"], at["method"], at["path"], at["status"]) for at in lines] == [
        ("shop", "read", "GET", "/api/v1/query", "200"),
        ("search", "write", "POST", f"{API}/push", "200"),
        ("mail", "read", "GET", "/federate", "403"),
        ("", "", "GET", "/api/v1/query", "401"),
    ]
    assert "private" not in world.gateway.logged()


def test_every_line_so_far_is_json_and_none_is_an_alarm(world: World) -> None:
    for line in world.gateway.logged().splitlines():
        assert isinstance(json.loads(line), dict), line
    assert not re.search(r"\[(emerg|alert|crit)\]", world.gateway.logged())
