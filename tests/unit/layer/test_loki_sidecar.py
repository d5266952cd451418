"""The sidecar's text. What nginx makes of it is tested with nginx, in tests/services/test_loki_sidecar.py."""

import re

import pytest

from components.layer.config import loki_sidecar
from components.layer.config.loki_sidecar import ALLOWED, sidecar_config, token_map

TEXT = sidecar_config()
PUSH, READ = "a" * 64, "b" * 64


def locations() -> dict[str, str]:
    found = re.findall(r'\n    location ([=~]) "([^"]+)" \{\n(.*?)\n    \}', TEXT, re.DOTALL)
    return {f"{kind} {path}": body for kind, path, body in found}


def test_the_credential_is_asked_for_before_any_location() -> None:
    server = TEXT[TEXT.index("  server {") :]
    assert server.index('if ($role = "") { return 401; }') < server.index("\n    location ")
    assert server.rstrip().endswith("location / { return 403; }\n  }\n}")
    assert TEXT.count("listen ") == 1


# One proxy_set_header in a location drops all inherited ones: whoever adds one must say all of them.
def test_every_location_names_every_header_and_passes_no_other() -> None:
    assert list(locations()) == [route.location for route in ALLOWED]
    for name, body in locations().items():
        assert "proxy_pass_request_headers off;" in body, name
        assert "proxy_set_header X-Scope-OrgID $tenant;" in body, name
        headers = re.findall(r"proxy_set_header (\S+) ", body)
        assert {*loki_sidecar._HEADERS, "Connection"} <= set(headers), name
        assert len(headers) == len(set(headers)), name
    outside = re.sub(r'\n    location [=~] ".*?\n    \}', "", TEXT, flags=re.DOTALL)
    assert "proxy_set_header" not in outside


def test_every_location_builds_its_path() -> None:
    for name, body in locations().items():
        (path,) = re.findall(r"proxy_pass http://loki(\S*);", body)
        assert path.startswith(("/loki/api/v1/", "/metrics")), name
        assert not {"$uri", "$request_uri", "$document_uri"} & set(re.findall(r"\$\w+", path)), name


def test_pushing_is_for_agents_reading_for_readers_and_metrics_for_prometheus() -> None:
    push = [route for route in ALLOWED if route.method == "POST"]
    assert [(route.location, set(route.roles)) for route in push] == [
        ("= /loki/api/v1/push", {"push", "gateway"})
    ]
    for route in ALLOWED:
        if route.method == "GET":
            assert "push" not in route.roles
        if "scrape" in route.roles:
            assert route.location == "= /metrics"
        assert route.tenant or route.location == "= /metrics"


def test_neither_credential_nor_query_is_logged() -> None:
    assert re.findall(r"error_log (.*);", TEXT) == ["stderr warn", "stderr crit"]
    log = TEXT[TEXT.index("log_format") : TEXT.index("access_log")]
    assert {"$uri", "$role", "$tenant", "$status"} <= set(re.findall(r"\$\w+", log))
    assert not set(re.findall(r"\$\w+", log)) & {"$request", "$request_uri", "$args", "$http_authorization"}
    assert TEXT.count("$http_authorization") == 1  # the map's key


def test_everything_that_nginx_writes_is_in_the_run_folder() -> None:
    text = sidecar_config(run_folder="/somewhere")
    assert re.findall(r"(\w+)_temp_path /somewhere/\w+;", text) == [
        "client_body",
        "proxy",
        "fastcgi",
        "uwsgi",
        "scgi",
    ]
    assert "pid /somewhere/nginx.pid;" in text
    assert "user " not in text


def test_a_map_has_a_line_for_each_token_and_is_the_same_in_any_order() -> None:
    text = token_map({"read": [READ], "push": ["c" * 64, PUSH]})
    assert text == f'"Bearer {PUSH}" push;\n"Bearer {"c" * 64}" push;\n"Bearer {READ}" read;\n'
    assert text == token_map({"push": {PUSH, "c" * 64}, "read": [READ]})
    assert token_map({}) == ""


@pytest.mark.parametrize(
    "token", ["", "short", "A" * 64, "g" * 64, f"{'a' * 63}$", f'{"a" * 64}"', f"{'a' * 64}\n"]
)
def test_what_is_no_token_is_refused_without_being_quoted(token: str) -> None:
    with pytest.raises(ValueError, match=r"role push is not 64 .* hex digits") as error:
        token_map({"push": [token]})
    assert not token or token not in str(error.value)


def test_a_token_has_one_role() -> None:
    with pytest.raises(ValueError, match="role read is another") as error:
        token_map({"push": [PUSH], "read": [PUSH]})
    assert PUSH not in str(error.value)
