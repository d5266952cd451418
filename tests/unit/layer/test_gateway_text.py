"""The gateway's text. What nginx makes of it is tested with nginx, in tests/services/gateway."""

import re
from urllib.parse import urlsplit

import pytest

from components import names
from components.layer.config import gateway, gateway_cost, gateway_guard, gateway_tenants, prometheus
from components.layer.config.gateway import LABEL_PROXY_ARGUMENTS, NAMESPACE_HEADER, Places
from components.layer.config.gateway_routes import FIXED, LOG_ROUTES, METRIC_ROUTES
from components.layer.config.gateway_text import gateway_config
from components.layer.config.prometheus import QUERIES_AT_ONCE
from tests.support.environments import INCIDENT, KEY, changed, parsed

SETTINGS = parsed(INCIDENT)
TEXT = gateway_config(SETTINGS)


def locations(text: str = TEXT) -> dict[str, str]:
    server = text[: text.index(f"    listen {gateway.HEALTH_PORT};")]
    found = re.findall(r'\n    location ([=~]) "([^"]+)" \{\n(.*?)\n    \}', server, re.DOTALL)
    return {f"{kind} {path}": body for kind, path, body in found}


PROXIED = {name: body for name, body in locations().items() if "proxy_pass " in body}


def headers(body: str) -> list[tuple[str, str]]:
    return re.findall(r"proxy_set_header (\S+) (\S+);", body)


def test_a_token_is_asked_for_before_any_location() -> None:
    server = TEXT[TEXT.index(f"    listen {names.GATEWAY_PORT};") :]
    assert server.index('if ($identity = "") { return 401; }') < server.index("\n    location ")
    assert "    location / { return 403; }\n  }" in server


def test_the_locations_are_those_of_the_tables() -> None:
    assert list(PROXIED) == [
        *(log.location for log in LOG_ROUTES),
        *(metric.location for metric in METRIC_ROUTES),
    ]
    assert set(locations()) - set(PROXIED) == {f"= {path}" for path in FIXED}
    assert not any("tail" in name for name in locations())


# One proxy_set_header in a location drops all inherited ones: whoever adds one must say all of them.
@pytest.mark.parametrize("name", PROXIED)
def test_every_location_names_every_header_and_passes_no_other(name: str) -> None:
    body = PROXIED[name]
    sent = headers(body)
    assert "proxy_pass_request_headers off;" in body
    assert {"Host", "Authorization", "Connection"} <= {header for header, _ in sent}
    if "/loki/" in name:
        assert ("X-Scope-OrgID", "$tenant") in sent
        assert ("Authorization", "$loki_authorization") in sent
    else:
        own = [value for header, value in sent if header == NAMESPACE_HEADER]
        assert own == ["$namespace_1", "$namespace_2"]  # mail has two
        assert ("Authorization", "$prometheus_authorization") in sent
    # The client's word counts for the form of the answer only.
    said = {value.removeprefix("$http_") for _, value in sent if value.startswith("$http_")}
    encoding = {"accept_encoding"} if "/loki/" in name else set()
    assert said == {"content_type", "content_encoding", "accept", "user_agent"} | encoding


def mapped(variable: str) -> list[str]:
    """The lines of a map."""
    (body,) = re.findall(rf"\n  map \S+ \${variable} \{{\n(.*?)\n  \}}", TEXT, re.DOTALL)
    return [line.strip() for line in body.split("\n")]


def test_what_a_role_may_and_whose_word_counts_for_the_tenant() -> None:
    assert mapped("may_read") == ['default "";', "read 1;", "platform 1;"]
    assert mapped("may_push") == ['default "";', "write 1;"]
    default, own, platform = mapped("tenant")
    assert default == 'default "";'
    assert own.endswith(':(?:read|write)$" $owner;')
    assert platform == '"layer:platform" $read_by_platform;'
    assert mapped("metrics_upstream") == ["default label_proxy;", "platform prometheus;"]


def test_no_header_is_set_outside_a_location() -> None:
    outside = re.sub(r'\n    location [=~] ".*?\n    \}', "", TEXT, flags=re.DOTALL)
    assert "proxy_set_header" not in outside


@pytest.mark.parametrize("name", PROXIED)
def test_every_location_builds_its_path_and_checks_role_method_and_tenant(name: str) -> None:
    body = PROXIED[name]
    (url,) = re.findall(r"proxy_pass (\S+);", body)
    assert re.match(r"http://(loki/loki|\$metrics_upstream)/api/v1/", url)
    assert not {"$uri", "$request_uri", "$document_uri"} & set(re.findall(r"\$\w+", url))
    pushes = name == "= /loki/api/v1/push"
    role, method = ("may_push", "POST") if pushes else ("may_read", "GET")
    order = [
        f'(${role} = "") {{ return 403',
        f"($request_method != {method}) {{ return 405",
        '($tenant = "") { return 400',
    ]
    assert [body.index(check) for check in order] == sorted(body.index(check) for check in order)
    assert (
        pushes
        == ("proxy_pass_request_body off;" not in body)
        == ('proxy_set_header Content-Length "";' not in body)
    )
    assert "error_page 401 = @refused_upstream;" in body


def test_whatever_evaluates_promql_is_guarded() -> None:
    guarded = {name for name, body in PROXIED.items() if gateway_guard.REFUSED in body}
    assert guarded == {"~ ^/api/v1/(?<api>query|query_range|query_exemplars)$"}
    # `if` fails closed: if the pattern cannot be run, the answer is 500. A map would take its default.
    assert all('if ($args ~* "' in PROXIED[name] for name in guarded)


@pytest.mark.parametrize(("replicas", "at_once"), [(1, 20), (2, 10), (3, 6), (20, 1)])
def test_one_tenants_reads_of_metrics_are_half_of_what_prometheus_evaluates_at_once(
    replicas: int, at_once: int
) -> None:
    text = gateway_config(parsed(changed(INCIDENT, ("layer.gateway", {"replicas": replicas}))))
    found = [re.findall(r"limit_conn concurrent (\d+);", body) for name, body in locations(text).items()
             if name in PROXIED and "/loki/" not in name]  # fmt: skip
    assert found == [[str(at_once)]] * len(METRIC_ROUTES)
    assert 2 * replicas * at_once <= QUERIES_AT_ONCE
    assert f"--query.max-concurrency={QUERIES_AT_ONCE}" in prometheus.ARGUMENTS


def test_whatever_reads_a_query_is_spared_the_costly_ones() -> None:
    for name, body in PROXIED.items():
        assert (gateway_cost.COSTLY in body) == (name != "= /loki/api/v1/push")
        assert (gateway_cost.TOO_LONG in body) == ("/loki/" not in name)


def test_a_tenants_pushes_cannot_fill_the_volume_and_answers_are_never_written() -> None:
    push = PROXIED["= /loki/api/v1/push"]
    assert "client_max_body_size 4m;" in push
    assert "limit_conn concurrent 4;" in push
    # The server's own rate holds in all: a location with one of its own would lose it.
    assert not [name for name, body in PROXIED.items() if "limit_req" in body]
    assert not [
        name for name, body in PROXIED.items() if "limit_conn" in body and "/loki/" in name and body != push
    ]
    assert all("proxy_max_temp_file_size 0;" in body for body in PROXIED.values())
    few = parsed(changed(INCIDENT, ("layer.gateway", {"concurrentRequests": 2})))
    assert "limit_conn concurrent 2;" in locations(gateway_config(few))["= /loki/api/v1/push"]


def test_no_secret_is_in_the_text() -> None:
    assert KEY not in TEXT
    assert not re.search("[0-9a-f]{32}", TEXT)
    assert "Bearer " not in TEXT.replace("401 Bearer;", "")
    assert re.findall(r"include (\S+);", TEXT) == [
        "/etc/gateway-secret/tokens-*.map",
        "/etc/gateway-tenants/without-logs.map",
        "/etc/gateway-secret/loki.map",
        "/etc/gateway-tenants/namespaces-1.map",
        "/etc/gateway-tenants/namespaces-2.map",
        "/etc/gateway-secret/prometheus.map",
        "/run/nginx/ipv6-http*.conf",
        "/run/nginx/ipv6-health*.conf",
    ]


def test_the_log_holds_neither_query_nor_token() -> None:
    log = TEXT[TEXT.index("log_format") : TEXT.index("access_log")]
    used = set(re.findall(r"\$\w+", log))
    assert {"$path", "$role", "$tenant", "$status", "$method"} - {"$method"} <= used
    assert not [name for name in used if name.startswith(("$http_", "$arg", "$cookie"))]
    assert not used & {"$request", "$request_uri", "$uri", "$args", "$query_string"}
    # For a request nginx quotes its line below `crit`; at start `warn` tells what is wrong with the text.
    assert re.findall(r"error_log (.*);", TEXT) == ["stderr warn", "stderr crit"]


def test_a_tenants_namespaces_are_its_own_and_a_signal_that_is_off_has_none() -> None:
    assert gateway_tenants.namespaces(SETTINGS) == {
        "mail": ("mail-in", "mail-out"),
        "search": ("search",),
        "shop": ("shop",),
        "wiki": ("wiki",),
    }
    assert gateway_tenants.without_logs(SETTINGS) == ("wiki",)
    assert gateway_tenants.namespaces(parsed(changed(INCIDENT, ("layer.metrics", "off")))) == {}


def test_adding_and_removing_tenants_leaves_exactly_the_live_ones_and_the_text_as_it_was() -> None:
    both = {"shop": {"pods": 5}, "zoo": {"namespaces": {"a": {"pods": 5}}, "logs": "off"}}
    second = parsed(changed(INCIDENT, ("tenants", both)))
    later = parsed(changed(INCIDENT, ("tenants", {"zoo": both["zoo"]})))
    assert gateway_tenants.files(second) == {
        "namespaces-1.map": "shop shop;\nzoo a;\n",
        "without-logs.map": "zoo 1;\n",
    }
    assert gateway_tenants.files(later) == {"namespaces-1.map": "zoo a;\n", "without-logs.map": "zoo 1;\n"}
    assert gateway_config(second) == gateway_config(later)


def test_the_longest_list_of_namespaces_says_how_many_headers_there_are() -> None:
    """It is all that nginx.conf knows of the tenants."""
    found = gateway_tenants.files(SETTINGS)
    assert found["namespaces-2.map"] == "mail mail-out;\n"
    assert set(found) == {"namespaces-1.map", "namespaces-2.map", "without-logs.map"}
    assert "$namespace_2" in TEXT
    assert "$namespace_3" not in TEXT
    assert not set(SETTINGS.tenants) & set(re.findall(r"[a-z0-9-]+", TEXT))


def test_what_a_version_does_not_know_is_left_out() -> None:
    line = "keepalive_min_timeout 2s;"
    assert line in gateway_config(SETTINGS, Places(nginx="1.28.0"))
    assert line in gateway_config(SETTINGS, Places(nginx="1.27.4"))
    assert line not in gateway_config(SETTINGS, Places(nginx="1.27.3"))
    assert line not in gateway_config(SETTINGS, Places(nginx="1.22.1"))


@pytest.mark.parametrize("signal", ["logs", "metrics"])
def test_a_signal_that_is_off_is_absent(signal: str) -> None:
    text = gateway_config(parsed(changed(INCIDENT, (f"layer.{signal}", "off"))))
    prefix = "/loki/" if signal == "logs" else " ^/api/"
    assert locations(text)
    assert not [name for name in locations(text) if prefix in name]
    assert f"upstream {'loki' if signal == 'logs' else 'label_proxy'} {{" not in text


# --- the pod ----------------------------------------------------------------------------------------------------------

UNSAFE = [
    "unsafe-passthrough-paths", "regex-match", "query-param", "header-uses-list-syntax", "label-value",
    "insecure-skip-verify", "enable-promql", "rules-with-active-alerts", "enable-label-matchers-for-rules-api",
    "internal-listen-address",
]  # fmt: skip


def test_prom_label_proxy_is_given_nothing_that_opens_it() -> None:
    assert not [argument for argument in LABEL_PROXY_ARGUMENTS for flag in UNSAFE if flag in argument]
    given = dict(argument.partition("=")[::2] for argument in LABEL_PROXY_ARGUMENTS)
    assert given["-label"] == "namespace"
    assert given["-header-name"] == NAMESPACE_HEADER
    assert given["-insecure-listen-address"].startswith("127.0.0.1:")
    # With a path in it rules and alerts come back unfiltered.
    upstream = urlsplit(given["-upstream"])
    assert (upstream.scheme, upstream.path, upstream.query) == ("http", "", "")


def test_tests_replace_only_arguments_that_exist() -> None:
    assert "-label=namespace" in gateway.label_proxy_arguments({"-upstream": "http://a"})
    with pytest.raises(ValueError, match="-nothing"):
        gateway.label_proxy_arguments({"-nothing": "x"})


def test_the_times_of_a_pods_end_fit_into_each_other() -> None:
    shutdown = f"worker_shutdown_timeout {gateway.SHUTDOWN_SECONDS}s;"
    assert shutdown in TEXT
    assert f"proxy_read_timeout {gateway.LONGEST_REQUEST_SECONDS}s;" in TEXT
    assert gateway.LONGEST_REQUEST_SECONDS < gateway.SHUTDOWN_SECONDS
    assert gateway.PRE_STOP_SECONDS + gateway.SHUTDOWN_SECONDS < gateway.TERMINATION_GRACE_SECONDS
    assert (gateway.MAX_SURGE, gateway.MAX_UNAVAILABLE) == (1, 0)


def test_everything_that_nginx_writes_is_in_the_run_folder() -> None:
    text = gateway_config(SETTINGS, Places(run_folder="/somewhere"))
    assert len(re.findall(r"(\w+)_temp_path /somewhere/\w+;", text)) == 5
    assert "pid /somewhere/nginx.pid;" in text
    assert "user " not in text
