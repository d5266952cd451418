"""Attacks on what prom-label-proxy scopes: each must give the caller's own data, nothing, or an error."""

import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from components.layer import credentials
from tests.services.gateway import samples
from tests.services.gateway.stack import Gateway, World, bearer, whole
from tests.services.gateway.test_generated import said
from tests.services.http_raw import ask
from tests.services.prometheus_server import basic
from tests.support.environments import KEY

AT = f"time={samples.LAST}"
LEAK = (
    'quantile(scalar(max(secret{namespace="billing"}))/1e12, label_replace(vector(0),"a","0","","") '
    'or label_replace(vector(1e12),"a","1","",""))'
)
# What a parameter of an aggregation can say of others: the value, a count, a bit of a label.
PARAMETERS = [
    LEAK,
    LEAK.replace("quantile(", "QUANTILE ("),
    LEAK.replace("quantile(", "quantile # comment (\n("),
    LEAK.replace("quantile(", "quantile by (a) ("),
    LEAK.replace("quantile(", "quantile without # )\n () ("),
    f"{LEAK} by (a)",
    LEAK.replace("/1e12", "/1e12 + 0"),
    LEAK.replace("quantile(", "quantile(0 +"),
    LEAK.replace("quantile(", "quantile((0) +"),
    LEAK.replace("quantile(", "quantile(-1 * -"),
    LEAK.replace('max(secret{namespace="billing"})', "max(secret{node=~'.+'})"),
    'topk(scalar(count(secret{namespace="billing"})) - 1, secret)',
    'bottomk(scalar(count(secret{namespace="billing"})) > bool 2, secret)',
    'topk(scalar(count(secret{namespace="billing",word=~"billwordo.*"}) > bool 0), secret)',
    "sum(topk by (pod) (scalar(count(only_here)), secret))",
    'vector(scalar(quantile(scalar(max(secret{namespace="billing"})) / 1e12, secret)))',
    'limitk(scalar(count(secret{namespace="billing"})), secret)',
    'limit_ratio(scalar(max(secret{namespace="billing"})) / 1e12, secret)',
    'max_over_time(topk(scalar(count(secret{namespace="billing"})) - 1, secret)[5m:1m])',
    'count_values("namespace", topk(scalar(count(secret{namespace="billing"})) - 1, secret))',
]  # fmt: skip
OTHERS = [
    'secret{namespace="billing"}', 'secret{namespace!="shop"}', 'secret{namespace=~".*"}', 'secret{namespace=""}',
    "secret{namespace='billing'}", "secret{namespace=`billing`}", r'secret{namespace="\x62illing"}',
    "{__name__=~'.+'}", '{"secret","namespace"="billing"}', '{"secret", namespace!~"shop"}', "only_here", "other",
    "count(only_here)", 'secret{namespace=~"shop|billing"}',
    'secret{namespace="shop"} or secret{namespace="billing"}', 'secret or secret{namespace=~"b.*"} offset 1m',
    "secret @ end()", "max_over_time(secret[5m:1m])", "rate(only_here[5m])", "sum(secret) by (namespace)",
    "absent(only_here)", "absent(other)", "absent_over_time(only_here[5m])", "secret{node!=''}",
    "secret * on () group_left (word) only_here", "secret and on () only_here", "secret unless on () only_here",
    "vector(scalar(only_here))", "clamp_max(vector(1e12), scalar(max(only_here)))", "info(secret)",
    "scalar(only_here)", "histogram_quantile(0.5, only_here)", "predict_linear(only_here[5m], 60)",
    'label_replace(secret,"word","$1","pod","(.*)")', 'label_replace(secret,"namespace","billing","","")',
    "count_values('word', only_here)", 'sort_by_label(secret, "word")', "timestamp(only_here)", "ALERTS",
    "recorded:billwordone", 'ALERTS{namespace="billing"}', "up", "{word!=''}", "group(other)", "topk(5, only_here)",
    "bottomk(1, {__name__=~'.+',namespace!='shop'})", "quantile(0.5, secret) by (namespace)",
    # Names in quotes, which prom-label-proxy writes out again.
    'sum by ("a\\") (x) or secret{namespace=\\"billing\\"} or sum by (\\"b") (secret)',
    'secret * on ("a\\") secret{namespace=\\"billing\\"} + on (\\"b") secret',
    'secret * on (pod) group_left ("a\\") secret{namespace=\\"billing\\"} + (\\"b") secret',
    '{"secret} or secret{namespace=\\"billing\\"} or {\\"x"}', '{"a\\",namespace=\\"billing\\",x=\\"y"="z"}',
    '{"\\u006eamespace"="billing"}', "{`namespace`=~'b.*'}", '{__name__="secret",__name__="only_here"}',
    # What newer versions bring, most of it behind flags that are not set.
    'info(secret, {namespace="billing"})', "rate(secret[step()])", "rate(secret[5m] smoothed)",
    "secret + fill(0) only_here",
    "secret offset scalar(only_here)", "secret[scalar(only_here)]", "secret @ scalar(only_here)", "secret </ only_here",
    "quantile_over_time(scalar(only_here), secret[5m])", "round(secret, scalar(only_here))", "ALERTS_FOR_STATE",
    "mad_over_time(only_here[5m])", "first_over_time(only_here[5m])", 'histogram_quantiles(secret, "q", 0.5)',
    "secret unless on () absent(only_here)", "{__name__!='x'}", "secret and on () vector(scalar(only_here) > bool 1)",
]  # fmt: skip


def encoded(query: str) -> list[str]:
    """As clients send it, and as one who hides something does."""
    upper = "".join(f"%{byte:02X}" for byte in query.encode())
    letters = "".join(f"%{ord(c):02x}" if c in "scqtbl" else quote(c, safe="") for c in query)
    return [quote(query, safe=""), quote_plus(query), quote(query, safe="()!*',:"), upper, letters]


def shared(worlds: tuple[World, World], target: str, tenant: str) -> tuple[int, Any]:
    """What both worlds say alike; nothing in it may be foreign."""
    answers = [said(world.gateway.ask(target, bearer(tenant))) for world in worlds]
    assert answers[0] == answers[1]
    found = str(answers[0][1]) if answers[0][0] == 200 else ""
    assert not [word for word in samples.foreign(tenant) if word in found]
    assert "987654" not in found
    return answers[0]


@pytest.mark.parametrize("query", PARAMETERS)
def test_a_parameter_tells_nothing_of_others_in_any_encoding(worlds: tuple[World, World], query: str) -> None:
    for tenant in ("shop", "mail"):
        for text in encoded(query):
            assert shared(worlds, f"/api/v1/query?{AT}&query={text}", tenant)[0] == 403
            range_ = f"start={samples.LAST - 60}&end={samples.LAST}&step=30"
            assert shared(worlds, f"/api/v1/query_range?query={text}&{range_}", tenant)[0] == 403


def test_prom_label_proxy_alone_leaks_so_the_guard_is_needed(world: World) -> None:
    """When this fails, a newer one scopes parameters, and the guard may go."""
    port = int(world.stores.label_proxy.rpartition(":")[2])
    credential = basic("layer", credentials.layer_token(KEY, "metrics"))
    answer = ask(port, f"/api/v1/query?{AT}&query={quote(LEAK)}", credential, "X-Tenant-Namespace: shop")
    value = float(json.loads(whole(answer))["data"]["result"][0]["value"][1])
    assert value == pytest.approx(987_654_422, abs=10)


@pytest.mark.parametrize("query", OTHERS)
def test_a_query_gives_own_data_or_none(worlds: tuple[World, World], query: str) -> None:
    for tenant in ("shop", "mail"):
        for text in encoded(query)[:3]:
            assert shared(worlds, f"/api/v1/query?{AT}&query={text}", tenant)[0] in (200, 400, 422)


PARAMETER_FORMS = [
    "query=secret&query=only_here", "query=only_here&query=secret", "qu%65ry=only_here",
    "query=secret;query=only_here", "%zz=1&query=only_here", "Query=only_here", "query[]=only_here",
    "query=&query=only_here", "q=1&query=only_here&", "query=secret&namespace=billing",
    "query=secret&match[]=only_here", "query%00=only_here", "query=only_here%00", "query=secret%23&query=only_here",
    "query=top%E2%84%AA(scalar(only_here),secret)", "query=secret#x", "query=topk%0c(scalar(only_here),secret)",
    "query=topk%c2%a0(scalar(only_here),secret)", "+query=only_here",
    "query=topk(scalar(count(only_here)),secret)&query=secret",
    "query=secret&query=topk(scalar(count(only_here)),secret)",
]  # fmt: skip


@pytest.mark.parametrize("parameters", PARAMETER_FORMS)
def test_a_parameter_in_another_form_is_scoped_ignored_or_refused(
    worlds: tuple[World, World], parameters: str
) -> None:
    shared(worlds, f"/api/v1/query?{AT}&{parameters}", "shop")


LISTS = [
    "series?match[]=only_here", "series?match[]={namespace='billing'}", "series?match[]={__name__=~'.%2b'}",
    "series?match[]=secret&match[]={namespace='billing'}", "labels?match[]={namespace='billing'}", "labels",
    "label/namespace/values", "label/namespace/values?match[]={namespace='billing'}", "label/word/values", "rules",
    "label/__name__/values?match[]={namespace!='shop'}", "rules?match[]={namespace='billing'}", "alerts",
    "label/node/values", "rules?type=alert&rule_name[]=Alertbillwordone", "rules?rule_group[]=billwordone",
    "rules?file[]=x", "rules?group_limit=1", "rules?exclude_alerts=true", "alerts?namespace=billing",
    "series?match%5B%5D=%7Bnamespace%3D%22billing%22%7D", "query_exemplars?query=only_here&start=0&end=1",
    "labels?limit=1", "label/U__word/values", "label/__tenant_id__/values",
]  # fmt: skip


@pytest.mark.parametrize("path", LISTS)
def test_lists_hold_nothing_foreign(worlds: tuple[World, World], path: str) -> None:
    for tenant in ("shop", "mail"):
        shared(worlds, f"/api/v1/{path}", tenant)


@pytest.mark.parametrize(
    "wanted", ["gzip", "deflate", "zstd", "gzip, deflate, br", "deflate, gzip;q=0", "*", "GZIP"]
)
def test_rules_are_filtered_whatever_compression_is_asked_for(world: World, wanted: str) -> None:
    for path, own in (("rules", "Alertshopword"), ("alerts", "Alertshopword")):
        answer = world.gateway.ask(f"/api/v1/{path}", bearer("shop"), f"Accept-Encoding: {wanted}")
        assert own.encode() in whole(answer)
        assert not any(word.encode() in answer.body for word in samples.foreign("shop"))


# --- what is not refused ----------------------------------------------------------------------------------------------

HARMLESS = [
    "topk(5, secret)", "TOPK by (pod) (1, secret)", "quantile(0.9, secret) by (pod)", "bottomk( 2 , secret)",
    "scalar(secret)", "quantile without (pod, word) (1e-1, secret)", 'count_values("v", secret)',
    "vector(scalar(secret))", "topk(1_0, secret)", "sum(secret) / scalar(count(secret))", 'secret{quantile="0.5"}',
    'secret{quantile = "0.5"}', "sum by (quantile) (secret)", "histogram_quantile(0.99, secret)",
    "topk(3, scalar(sum(secret)) * secret)", "quantile(-Inf, secret)", "quantile(.5, secret)",
]  # fmt: skip


@pytest.mark.parametrize("query", HARMLESS)
def test_what_dashboards_ask_is_not_refused(gateway: Gateway, query: str) -> None:
    for text in (quote(query, safe=""), quote_plus(query), quote(query, safe="()!*',")):
        answer = gateway.ask(f"/api/v1/query?{AT}&query={text}", bearer("shop"))
        assert answer.status == 200, answer.body
        assert json.loads(whole(answer))["data"]["result"] or "histogram" in query


def test_a_refusal_says_why_in_the_form_that_grafana_shows(gateway: Gateway) -> None:
    answer = gateway.ask(f"/api/v1/query?query={quote(LEAK)}", bearer("shop"))
    assert (answer.status, answer.headers["content-type"]) == (403, "application/json")
    assert "must be a plain number" in json.loads(answer.body)["error"]


def test_a_query_for_anothers_namespace_is_an_error_and_not_own_data_under_its_name(gateway: Gateway) -> None:
    for matcher in ('="billing"', '!="shop"', '=~"b.*"', '=""'):
        query = quote(f"secret{{namespace{matcher}}}")
        assert gateway.ask(f"/api/v1/query?{AT}&query={query}", bearer("shop")).status == 400
    for matcher in ('="shop"', '=~".*"', '=~"shop|billing"', '!~"kube-.*"'):
        query = quote(f"secret{{namespace{matcher}}}")
        assert gateway.ask(f"/api/v1/query?{AT}&query={query}", bearer("shop")).status == 200


def test_reads_of_own_data_answer_with_it(gateway: Gateway) -> None:
    def result(tenant: str, query: str) -> Any:
        answer = gateway.ask(f"/api/v1/query?{AT}&query={quote(query)}", bearer(tenant))
        return json.loads(whole(answer))["data"]["result"]

    assert {s["metric"]["word"] for s in result("shop", "secret")} == {"shopword"}
    assert {s["metric"]["word"] for s in result("mail", "secret")} == {"mailinword", "mailoutword"}
    assert result("shop", "max(secret)")[0]["value"][1] == "1111100"
    assert result("mail", 'count(secret{namespace="mail-out"})')[0]["value"][1] == "2"
