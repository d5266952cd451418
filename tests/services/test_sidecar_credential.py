"""Without the layer's credential the sidecar answers 401 on every path, and nothing reaches Loki."""

from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.layer.config.loki_sidecar import token_map
from tests.services.http_raw import ask, recorder, send
from tests.services.running import free_port, until
from tests.services.sidecar import API, METRICS, PUSH, QUERY, SHOP, TOKENS, Sidecar, bearer, start

TOKEN = TOKENS["read"]
WRONG = {
    "nothing": [],
    "empty": ["Authorization:"],
    "no token": ["Authorization: Bearer"],
    "blank token": ["Authorization: Bearer "],
    "unknown token": [f"Authorization: Bearer {'0' * 64}"],
    "token alone": [f"Authorization: {TOKEN}"],
    "basic": [f"Authorization: Basic {TOKEN}"],
    "too long": [f"Authorization: Bearer {TOKEN}0"],
    "too short": [f"Authorization: Bearer {TOKEN[:-1]}"],
    "two blanks": [f"Authorization: Bearer  {TOKEN}"],
    "tab": [f"Authorization: Bearer\t{TOKEN}"],
    "list": [f"Authorization: Bearer {TOKEN}, Bearer {TOKEN}"],
    "quoted": [f'Authorization: "Bearer {TOKEN}"'],
    "other header": [f"Proxy-Authorization: Bearer {TOKEN}", f"X-Authorization: Bearer {TOKEN}"],
    "cookie": [f"Cookie: Authorization=Bearer {TOKEN}; token={TOKEN}"],
}
PATHS = ["/", PUSH, QUERY, METRICS, "/ready", "/config", "/nginx.conf", f"{API}/delete", "//", "/%2e/x"]


@pytest.mark.parametrize("headers", WRONG.values(), ids=WRONG)
def test_without_the_credential_every_path_is_401(sidecar: Sidecar, headers: list[str]) -> None:
    for path in PATHS:
        for method, body in (("GET", b""), ("POST", b"x")):
            answer = ask(sidecar.port, path, SHOP, *headers, method=method, body=body)
            assert (answer.status, answer.headers.get("www-authenticate")) == (401, "Bearer"), (method, path)
    assert ask(sidecar.port, f"{QUERY}?access_token={TOKEN}&token={TOKEN}", SHOP, *headers).status == 401
    assert sidecar.behind.seen == []


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=60),
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "PROPFIND"]),
)
def test_no_path_at_all_gets_through_without_the_credential(sidecar: Sidecar, path: str, method: str) -> None:
    answer = ask(sidecar.port, f"/{path}", SHOP, method=method)
    assert answer.status in (401, 400)  # 400: a path that is no path, such as `/%zz`
    assert sidecar.behind.seen == []


def test_a_body_without_the_credential_is_not_read(sidecar: Sidecar) -> None:
    head = f"POST {PUSH} HTTP/1.1\r\nHost: test\r\nContent-Length: 999999999\r\n\r\n"
    assert send(sidecar.port, head.encode() + b"x" * 1000).status in (401, 413)
    assert sidecar.behind.seen == []


MALFORMED = {
    "twice": f"{bearer('read')}\r\n{bearer('read')}",
    "blank before the colon": f"Authorization : Bearer {TOKEN}",
    "folded": f"Authorization:\r\n Bearer {TOKEN}",
    "zero byte": f"Authorization: Bearer {TOKEN}\0",
}


@pytest.mark.parametrize("lines", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_credential_is_refused(sidecar: Sidecar, lines: str) -> None:
    answer = send(
        sidecar.port,
        f"GET {QUERY} HTTP/1.1\r\nHost: a\r\n{SHOP}\r\n{lines}\r\nConnection: close\r\n\r\n".encode(),
    )
    assert answer.status in (400, 401)
    assert sidecar.behind.seen == []


def test_an_empty_token_map_lets_nobody_in() -> None:
    with ExitStack() as stack:
        behind = stack.enter_context(recorder())
        port, _ = start(stack, token_map({}), behind.port)
        assert {ask(port, path, bearer("read"), SHOP).status for path in PATHS} == {401}
        assert behind.seen == []


def test_while_loki_is_away_neither_a_query_nor_what_is_beside_it_is_in_the_log() -> None:
    """The gateway passes a client's whole query string on, and a client may have put its token there."""
    with ExitStack() as stack:
        port, log = start(stack, token_map({"gateway": [TOKENS["gateway"]]}), free_port())
        assert ask(port, f"{QUERY}?query=private&access_token=secret", bearer("gateway"), SHOP).status == 502
        until(lambda: '"status":"502"' in log.read_text(), log.read_text)
        assert not [word for word in ("private", "secret") if word in log.read_text()]
