"""Prometheus' own settings: retention, timeouts, and the web configuration."""

from typing import Any

import pytest
import yaml

from components.layer.config import prometheus, scrape_jobs
from tests.support.environments import INCIDENT, changed, parsed


def config(*changes: tuple[str, Any]) -> dict[str, Any]:
    rendered: dict[str, Any] = yaml.safe_load(
        prometheus.prometheus_config(parsed(changed(INCIDENT, *changes)), target_limit=9)
    )
    return rendered


@pytest.mark.parametrize(
    ("storage", "blocks"), [("50Gi", "40960MB"), ("1Ti", "838860MB"), ("1500Mi", "1200MB"), ("1Gi", "819MB")]
)
def test_blocks_leave_a_fifth_of_the_volume_free(storage: str, blocks: str) -> None:
    stated = config(("layer.metrics", {"storage": storage, "retention": "30d"}))["storage"]["tsdb"][
        "retention"
    ]
    assert stated == {"time": "30d", "size": blocks}


@pytest.mark.parametrize(
    ("interval", "timeout"),
    [("60s", "10s"), ("1m", "10s"), ("10s", "10s"), ("9s", "9s"), ("1s", "1s"), ("15s", "10s")],
)
def test_the_timeout_is_never_longer_than_the_interval(interval: str, timeout: str) -> None:
    stated = config(("layer.metrics", {"scrapeInterval": interval}))["global"]
    assert (stated["scrape_interval"], stated["scrape_timeout"]) == (interval, timeout)


def test_alerts_carry_the_cluster() -> None:
    assert config()["global"]["external_labels"] == {"cluster": "dev"}


def test_nothing_may_be_written_from_outside() -> None:
    assert {"remote_write", "remote_read", "otlp", "alerting"}.isdisjoint(config())
    assert not any("receiver" in argument or "enable" in argument for argument in prometheus.ARGUMENTS)


def test_no_value_is_an_alias() -> None:
    text = prometheus.prometheus_config(parsed(INCIDENT), target_limit=9)
    assert "&id" not in text
    assert "*id" not in text


def test_the_web_configuration_holds_the_users_and_refuses_to_let_everybody_in() -> None:
    assert yaml.safe_load(prometheus.web_config({"layer": "$2b$10$x"})) == {
        "basic_auth_users": {"layer": "$2b$10$x"}
    }
    with pytest.raises(ValueError, match="everybody"):
        prometheus.web_config({})


def test_the_probe_names_the_credentials_file_and_holds_no_secret() -> None:
    stated = yaml.safe_load(prometheus.probe_config())
    assert stated["basic_auth"] == {
        "username": "layer",
        "password_file": "/etc/prometheus-credential/password",
    }
    folder = scrape_jobs.CREDENTIAL_FOLDER
    assert f"--http.config.file={folder}/{prometheus.PROBE_FILE}" in prometheus.READY_COMMAND
    assert f"--web.config.file={folder}/{prometheus.WEB_CONFIG_FILE}" in prometheus.ARGUMENTS
