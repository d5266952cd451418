"""Made-up requests against two worlds that differ only in what is foreign to the caller.

An answer must hold no other owner's word, and must be the same in both worlds: the second finds what leaks bit by bit,
which no search for foreign values does. GATEWAY_CASES sets how many there are.
"""

import json
import os
import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from components.layer.config import gateway_guard
from tests.services.gateway import samples
from tests.services.gateway.requests import Request, log_requests, metric_requests
from tests.services.gateway.stack import Gateway, World, settings_with, start_gateway, whole
from tests.services.http_raw import Answer
from tests.services.sidecar import API

CASES = int(os.environ.get("GATEWAY_CASES", "500"))
LOG_CASES = CASES // 5
METRIC_CASES = CASES - LOG_CASES

# What differs between two servers that were told the same: when they evaluated, and where their files are.
CHANGING = {"file", "evaluationTime", "lastEvaluation", "activeAt", "timings"}


def steady(value: Any) -> Any:
    """JSON less what depends on when it was asked; series, alerts and warnings come in the order of a hash map."""
    if isinstance(value, dict):
        kept = {key: steady(inner) for key, inner in value.items() if key not in CHANGING}
        lists = [key for key in ("alerts", "result", "warnings", "infos") if isinstance(kept.get(key), list)]
        return kept | {key: sorted(kept[key], key=str) for key in lists}
    return [steady(inner) for inner in value] if isinstance(value, list) else value


def said(answer: Answer) -> tuple[int, Any]:
    """Status, and the body as JSON if it is."""
    body = whole(answer)
    try:
        return answer.status, steady(json.loads(body))
    except ValueError:
        return answer.status, body


def told(gateway: Gateway, request: Request) -> tuple[int, Any]:
    """What the caller is told."""
    return said(gateway.ask(request.target, *request.lines(), method=request.method, body=request.body))


def check(one: Gateway, two: Gateway, request: Request) -> None:
    """Both properties."""
    first = told(one, request)
    asked = f"{request.target} {request.body!r}"
    words = {word for word in samples.foreign(request.caller) if word not in asked}
    assert not [word for word in words if word in str(first)], first
    assert first == told(two, request)


@settings(max_examples=METRIC_CASES, suppress_health_check=[HealthCheck.too_slow])
@given(request=metric_requests())
def test_no_answer_about_metrics_depends_on_anything_foreign(
    worlds: tuple[World, World], request: Request
) -> None:
    check(worlds[0].gateway, worlds[1].gateway, request)


READ = re.compile(
    rf"{API}/(query|query_range|labels|series|index/stats|patterns|(label|detected_field)/[^/]+/values)$"
)
PASSED = {"host", "x-scope-orgid", "content-type", "content-encoding", "accept", "accept-encoding", "user-agent",
          "content-length", "connection"}  # fmt: skip


@settings(
    max_examples=LOG_CASES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(request=log_requests())
def test_what_reaches_loki_names_the_caller_and_nobody_else(world: World, request: Request) -> None:
    world.stores.behind.seen.clear()
    status, _ = told(world.gateway, request)
    assert bool(world.stores.behind.seen) == (status == 200), status
    for seen in world.stores.behind.seen:
        path = seen.path.partition("?")[0]
        pushed = request.caller == "search" and seen.method == "POST" and path == f"{API}/push"
        assert pushed or (seen.method == "GET" and READ.match(path)), seen
        assert seen.all("x-scope-orgid") == [request.caller]
        assert seen.all("host") == ["loki"]
        assert {name.lower() for name, _ in seen.headers} <= PASSED


# --- the generator is worth something ---------------------------------------------------------------------------------


def unguarded(text: str) -> str:
    guard = re.compile(r'\n *if \(\$args ~\* ".*"\) \{ return 403 .*\}')
    assert len(guard.findall(text)) == 1
    return guard.sub("", text)


def scalar_allowed(text: str) -> str:
    """A guard that forgets one of the aggregations."""
    assert gateway_guard.REFUSED in text
    return text.replace("|quantile|", "|")


def headers_forgotten(text: str) -> str:
    """Nothing overwrites the namespaces, and the client's pass."""
    text = re.sub(r"proxy_set_header X-Tenant-Namespace \$namespace_[0-9];", "", text)
    return text.replace("proxy_pass_request_headers off;", "")


BROKEN = {"no guard": unguarded, "quantile forgotten": scalar_allowed, "headers forgotten": headers_forgotten}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_the_made_up_requests_find_each_hole(
    worlds: tuple[World, World], broken: Callable[[str], str]
) -> None:
    with ExitStack() as stack:
        one, two = (start_gateway(stack, settings_with(), world.stores, edit=broken) for world in worlds)

        @settings(
            max_examples=3000,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=[HealthCheck.too_slow],
            report_multiple_bugs=False,
        )
        @given(request=metric_requests())
        def attack(request: Request) -> None:
            check(one, two, request)

        with pytest.raises(AssertionError):
            attack()
