"""Tenants' pods: which are scraped, once, at their own address, and under whose name."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components import names
from components.layer.config import relabel
from tests.unit.layer.relabelling import Target, targets
from tests.unit.layer.rendered import TENANT_JOBS, jobs
from tests.unit.layer.samples import SCRAPED, SHOP, pod, port

JOBS = jobs()


def scraped(*discovered: dict[str, str]) -> list[Target]:
    """The targets of both tenant jobs, as often as they are scraped."""
    return [
        target
        for job in TENANT_JOBS
        for target in sorted(targets(JOBS[job], discovered), key=lambda t: t.url)
    ]


ANNOTATED = pod(annotations=SCRAPED)
BY_NAME = pod(annotations={"prometheus.io/scrape": "true"})


def test_a_tenants_sample_gets_its_labels_from_discovery_only() -> None:
    assert [target.of for target in scraped(ANNOTATED)] == [
        {
            "job": "pods",
            "cluster": "dev",
            "instance": "10.0.0.7:8080",
            "namespace": "shop",
            "pod": "web-0",
            "tenant": "shop",
        }
    ]
    for name in TENANT_JOBS:
        assert JOBS[name]["honor_labels"] is False
        assert JOBS[name]["honor_timestamps"] is False
        assert "metric_relabel_configs" not in JOBS[name]


@pytest.mark.parametrize(
    "discovered",
    [
        pod(annotations=SCRAPED, of_namespace={}),
        pod(annotations=SCRAPED, of_namespace={**SHOP, names.METRICS_LABEL: "false"}),
        pod(annotations=SCRAPED, of_namespace={**SHOP, names.METRICS_LABEL: "True"}),
        pod(annotations=SCRAPED, of_namespace={names.METRICS_LABEL: "true"}),
        pod(annotations=SCRAPED, of_namespace={names.TENANT_LABEL: "shop"}),
        pod(annotations=SCRAPED, of_namespace={**SHOP, names.TENANT_LABEL: "Shop"}),
        pod(annotations={**SCRAPED, "prometheus.io/scrape": "false"}),
        pod(annotations={"prometheus.io/port": "8080"}),
        pod(annotations=SCRAPED, more={"pod_phase": "Succeeded"}),
        pod(annotations=SCRAPED, more={"pod_phase": "Failed"}),
        pod(annotations={**SCRAPED, "prometheus.io/port": "http"}),
        pod(annotations={**SCRAPED, "prometheus.io/port": "0"}),
        pod(annotations={**SCRAPED, "prometheus.io/port": "8080 "}),
        pod(annotations={**SCRAPED, "prometheus.io/port": "8080\n"}),
        pod(annotations={**SCRAPED, "prometheus.io/port": "80@evil:80"}),
        pod(annotations={**SCRAPED, "prometheus.io/port": "123456"}),
        BY_NAME,
        port(BY_NAME, 8080, "http"),
        {**port(BY_NAME, 8080, "metrics"), relabel.CONTAINER_PORT_PROTOCOL: "UDP"},
        # A mistyped port is no request for another one.
        port(pod(annotations={**SCRAPED, "prometheus.io/port": "http"}), 9000, "metrics"),
    ],
)
def test_these_are_not_scraped(discovered: dict[str, str]) -> None:
    assert scraped(discovered) == []


@pytest.mark.parametrize("phase", ["Running", "Pending"])
def test_a_pod_that_has_an_address_is_scraped(phase: str) -> None:
    assert len(scraped(pod(annotations=SCRAPED, more={"pod_phase": phase}))) == 1


def test_a_pod_with_several_ports_and_containers_is_scraped_once_where_its_annotation_says() -> None:
    found = scraped(
        port(ANNOTATED, 8080, "http"),
        port(ANNOTATED, 9090, "metrics"),
        port(ANNOTATED, 7000, "metrics", container="sidecar"),
        {**ANNOTATED, relabel.CONTAINER: "init", "__meta_kubernetes_pod_container_init": "true"},
    )
    assert [target.url for target in found] == ["http://10.0.0.7:8080/metrics"]


def test_without_that_annotation_the_declared_port_named_metrics_is_scraped_once() -> None:
    found = scraped(
        port(BY_NAME, 8080, "http"),
        port(BY_NAME, 9090, "metrics"),
        {**port(BY_NAME, 9090, "metrics", container="init"), "__meta_kubernetes_pod_container_init": "true"},
        port(BY_NAME, 7000, "admin", container="sidecar"),
    )
    assert [(target.url, target.of["job"]) for target in found] == [("http://10.0.0.7:9090/metrics", "pods")]


@pytest.mark.parametrize(
    ("ip", "url"),
    [
        ("10.0.0.7", "http://10.0.0.7:8080/metrics"),
        ("2001:db8::7", "http://[2001:db8::7]:8080/metrics"),
        ("::ffff:10.0.0.7", "http://[::ffff:10.0.0.7]:8080/metrics"),
    ],
)
def test_the_address_is_the_pods_own(ip: str, url: str) -> None:
    discovered = pod(ip=ip, annotations=SCRAPED)
    assert [target.url for target in scraped(discovered, port(discovered, 1))] == [url]


def test_path_and_scheme_can_be_chosen() -> None:
    chosen = {**SCRAPED, "prometheus.io/path": "/-/my.metrics", "prometheus.io/scheme": "https"}
    assert [target.url for target in scraped(pod(annotations=chosen))] == [
        "https://10.0.0.7:8080/-/my.metrics"
    ]


HOSTILE = [
    "1.2.3.4:80",
    "@evil",
    "80/..",
    "//evil/",
    "/?x=1#",
    "http://evil",
    "80;9",
    "$1",
    "/a\n/b",
    "%2f",
    "\x00",
]
VALUES = st.one_of(st.sampled_from(HOSTILE), st.text(), st.from_regex(r"\A[0-9]{1,6}\Z"))


@given(
    port_=st.none() | VALUES,
    path=st.none() | VALUES,
    scheme=st.none() | VALUES,
    more=st.dictionaries(
        st.sampled_from(["prometheus.io/host", "prometheus.io/param_x", "tenant", "namespace"]), VALUES
    ),
    ip=st.sampled_from(["10.0.0.7", "2001:db8::7"]),
)
def test_no_annotation_changes_the_host_the_labels_or_the_number_of_targets(
    port_: str | None, path: str | None, scheme: str | None, more: dict[str, str], ip: str
) -> None:
    said = {"scrape": "true", "port": port_, "path": path, "scheme": scheme}
    stated = {f"prometheus.io/{name}": value for name, value in said.items() if value is not None}
    discovered = pod(ip=ip, annotations={**more, **stated})
    found = scraped(port(discovered, 8080, "http"), port(discovered, 9090, "metrics"))
    assert len(found) <= 1
    assert found or port_
    for target in found:
        url = urlsplit(target.url)
        assert url.netloc == f"{f'[{ip}]' if ':' in ip else ip}:{port_ or 9090}"
        assert url.scheme in ("http", "https")
        assert not url.query + url.fragment
        assert {name: target.of[name] for name in ("namespace", "pod", "tenant", "cluster", "job")} == {
            "namespace": "shop",
            "pod": "web-0",
            "tenant": "shop",
            "cluster": "dev",
            "job": "pods",
        }
        assert set(target.of) == {"namespace", "pod", "tenant", "cluster", "job", "instance"}


def test_limits_hold_for_tenants_targets_and_one_pod_is_one_of_the_declared_slots() -> None:
    job = jobs(("layer.metrics", {"samplesPerTarget": 100_000}))["pods"]
    assert job["sample_limit"] == 100_000
    assert job["body_size_limit"] == "48MB"
    assert job["target_limit"] == 755
    assert (job["label_limit"], job["label_name_length_limit"], job["label_value_length_limit"]) == (
        50,
        128,
        1024,
    )


def test_a_small_sample_limit_still_allows_a_body() -> None:
    assert jobs(("layer.metrics", {"samplesPerTarget": 100}))["pods"]["body_size_limit"] == "1MB"
