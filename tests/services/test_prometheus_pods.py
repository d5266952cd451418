"""What a real Prometheus makes of tenants' pods, hostile ones among them."""

import json
from typing import Any

import pytest

from tests.services.prometheus_server import SLOTS, Exporter, Prometheus
from tests.services.running import until


@pytest.fixture(scope="module")
def scraped(server_with_pods: Prometheus) -> dict[str, dict[str, Any]]:
    """The active targets, after each was scraped."""
    expected = {"web-0", "named", "spoof", "redirect", "many", "wide", "long", "large", "untyped"}

    def done() -> bool:
        found = server_with_pods.pods()
        return set(found) == expected and all(t["health"] != "unknown" for t in found.values())

    until(done, lambda: json.dumps(server_with_pods.pods(), indent=1))
    until(lambda: bool(server_with_pods.query("honest")), lambda: "no sample of an honest pod")
    return server_with_pods.pods()


def test_each_pod_is_scraped_once_whatever_it_declares(scraped: dict[str, dict[str, Any]]) -> None:
    assert scraped["web-0"]["health"] == "up", scraped["web-0"]["lastError"]
    assert scraped["named"]["health"] == "up", scraped["named"]["lastError"]
    assert (scraped["web-0"]["scrapePool"], scraped["named"]["scrapePool"]) == ("pods", "pods-by-port-name")
    assert {scraped[name]["labels"]["job"] for name in ("web-0", "named")} == {"pods"}


def test_a_page_that_says_no_content_type_is_read_as_text(
    server_with_pods: Prometheus, scraped: dict[str, dict[str, Any]]
) -> None:
    assert scraped["untyped"]["health"] == "up", scraped["untyped"]["lastError"]
    until(lambda: bool(server_with_pods.query("untyped")), lambda: "no sample of a page without a type")


def test_of_an_api_server_only_a_few_metrics_are_kept(server_with_pods: Prometheus) -> None:
    def kept() -> set[str]:
        of_the_scrape = ("up", "scrape_")
        found = {series["__name__"] for series in server_with_pods.query('{job="apiserver"}')}
        return {name for name in found if not name.startswith(of_the_scrape)}

    until(lambda: bool(kept()), lambda: "no sample of the API server")
    assert kept() == {
        "apiserver_request_total",
        "apiserver_request_duration_seconds_sum",
        "apiserver_request_duration_seconds_count",
        "apiserver_current_inflight_requests",
    }


def test_as_many_targets_as_pod_slots_do_not_trip_the_limit(
    server_with_pods: Prometheus, scraped: dict[str, dict[str, Any]]
) -> None:
    assert sum(target["scrapePool"] == "pods" for target in scraped.values()) == SLOTS
    assert not any("target_limit" in target["lastError"] for target in scraped.values())
    assert server_with_pods.query("prometheus_target_scrape_pool_exceeded_target_limit_total > 0") == []


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("redirect", "302 Found"),
        ("many", "sample limit exceeded"),
        ("wide", "label_limit exceeded"),
        ("long", "label_value_length_limit"),
        ("large", "body size limit exceeded"),
    ],
)
def test_a_pod_that_misbehaves_fails_alone(scraped: dict[str, dict[str, Any]], name: str, error: str) -> None:
    assert scraped[name]["health"] == "down"
    assert error in scraped[name]["lastError"]


def test_nothing_that_a_pod_answers_changes_whose_its_samples_are(
    server_with_pods: Prometheus, scraped: dict[str, dict[str, Any]]
) -> None:
    assert server_with_pods.query("spoofed") == [
        {
            "__name__": "spoofed",
            "cluster": "dev",
            "instance": scraped["spoof"]["labels"]["instance"],
            "job": "pods",
            "namespace": "shop",
            "pod": "spoof",
            "tenant": "shop",
            "exported_cluster": "prod",
            "exported_instance": "y",
            "exported_job": "kubelet",
            "exported_namespace": "billing",
            "exported_pod": "x",
            "exported_tenant": "billing",
        }
    ]
    assert server_with_pods.query('{namespace="billing"}') == []


def test_no_redirect_was_followed_and_nobody_elses_metrics_were_read(
    server_with_pods: Prometheus, scraped: dict[str, dict[str, Any]]
) -> None:
    assert any(path.endswith("/redirect") for path in Exporter.asked)
    assert [path for path in Exporter.asked if path.endswith("/secret")] == []
    assert server_with_pods.query("secret") == []
