"""docs/alert-rules.yaml, for an evaluator elsewhere: each speaks in one world and is silent in another."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from commands.environments import ROOT
from components import names
from components.layer.config import scrape_jobs
from tests.services.running import check, tool
from tests.support.environments import INCIDENT, parsed

FILE = ROOT / "docs" / "alert-rules.yaml"
RULES: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["groups"][0]["rules"]
EVERYTHING_LASTS = "2h"
NODE = 'cluster="prod",node="web-0",instance="web-0"'
OTHER = 'cluster="prod",node="web-1",instance="web-1"'
LAYER, NODES = f'namespace="{names.LAYER_NAMESPACE}"', f'namespace="{names.NODES_NAMESPACE}"'
QUOTA = (
    f'kube_resourcequota{{cluster="prod",namespace="shop",resourcequota="{names.PODS_QUOTA}",resource="pods"'
)
VOLUME = f'{{{LAYER},persistentvolumeclaim="loki"}}'
# Series with their value, or what each minute adds, when the alert has to speak, and when it has to be silent.
WORLDS: dict[str, tuple[dict[str, str], dict[str, str], str]] = {
    "NodeWithoutLogAgent": (
        {
            f'up{{job="kubelet",{NODE}}}': "1",
            f'up{{job="alloy",{NODE}}}': "0",
            f'up{{job="alloy",{OTHER}}}': "1",
        },
        {f'up{{job="kubelet",{NODE}}}': "1", f'up{{job="alloy",{NODE}}}': "1"},
        "web-0",
    ),
    "NodeWithoutExporter": (
        {f'up{{job="kubelet",{NODE}}}': "1", f'up{{job="node-exporter",{OTHER}}}': "1"},
        {f'up{{job="kubelet",{NODE}}}': "1", f'up{{job="node-exporter",{NODE}}}': "1"},
        "web-0",
    ),
    "AgentsNotReady": (
        {
            f'kube_daemonset_status_desired_number_scheduled{{{NODES},daemonset="alloy"}}': "15",
            f'kube_daemonset_status_number_ready{{{NODES},daemonset="alloy"}}': "14",
        },
        {
            f'kube_daemonset_status_desired_number_scheduled{{{NODES},daemonset="alloy"}}': "15",
            f'kube_daemonset_status_number_ready{{{NODES},daemonset="alloy"}}': "15",
            'kube_daemonset_status_desired_number_scheduled{namespace="shop",daemonset="x"}': "15",
            'kube_daemonset_status_number_ready{namespace="shop",daemonset="x"}': "1",
        },
        "alloy",
    ),
    "LayerNotReady": (
        {f'kube_deployment_status_replicas_unavailable{{{LAYER},deployment="loki"}}': "1"},
        {
            f'kube_deployment_status_replicas_unavailable{{{LAYER},deployment="loki"}}': "0",
            'kube_deployment_status_replicas_unavailable{namespace="shop",deployment="app"}': "3",
        },
        "loki",
    ),
    "LinesDropped": (
        {f'loki_write_dropped_entries_total{{job="alloy",{NODE},reason="rate_limited",tenant="shop"}}': "+6"},
        {f'loki_write_dropped_entries_total{{job="alloy",{NODE},reason="rate_limited",tenant="shop"}}': "7"},
        "rate_limited",
    ),
    "LinesRefused": (
        {'loki_discarded_samples_total{job="loki",cluster="prod",tenant="shop",reason="rate_limited"}': "+6"},
        {'loki_discarded_samples_total{job="loki",cluster="prod",tenant="shop",reason="rate_limited"}': "0"},
        "shop",
    ),
    "StoreVolumeFull": (
        {
            f"kubelet_volume_stats_available_bytes{VOLUME}": "9",
            f"kubelet_volume_stats_capacity_bytes{VOLUME}": "100",
        },
        {
            f"kubelet_volume_stats_available_bytes{VOLUME}": "20",
            f"kubelet_volume_stats_capacity_bytes{VOLUME}": "100",
        },
        "loki",
    ),
    "ManySeries": (
        {'prometheus_tsdb_head_series{job="prometheus"}': "700000"},
        {'prometheus_tsdb_head_series{job="prometheus"}': "500000"},
        "700000",
    ),
    "TargetsFail": (
        {'up{job="kubelet",cluster="prod",node="a"}': "0", 'up{job="kubelet",cluster="prod",node="b"}': "1"},
        {'up{job="pods",cluster="prod",pod="a"}': "0", 'up{job="kubelet",cluster="prod",node="b"}': "1"},
        "kubelet",
    ),
    "QuotaOfPodsFull": (
        {f'{QUOTA},type="used"}}': "119", f'{QUOTA},type="hard"}}': "120"},
        {f'{QUOTA},type="used"}}': "90", f'{QUOTA},type="hard"}}': "120"},
        "shop",
    ),
}


def fired(name: str, world: dict[str, str], folder: Path) -> str:
    """What promtool says when it is told that the alert is silent in this world; empty if it is."""
    values = {
        series: f"0{value}x120" if value[0] == "+" else f"{value}+0x120" for series, value in world.items()
    }
    unit = {
        "interval": "1m",
        "input_series": [{"series": series, "values": value} for series, value in values.items()],
        "alert_rule_test": [{"eval_time": EVERYTHING_LASTS, "alertname": name, "exp_alerts": []}],
    }
    file = folder / "test.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(FILE)], "evaluation_interval": "1m", "tests": [unit]}))
    try:
        check(tool("promtool"), "test", "rules", str(file))
    except AssertionError as said:
        return str(said)
    return ""


def test_promtool_accepts_the_file() -> None:
    check(tool("promtool"), "check", "rules", str(FILE))


def test_every_alert_has_two_worlds_and_a_row_on_the_page() -> None:
    assert {rule["alert"] for rule in RULES} == set(WORLDS)
    page = (ROOT / "docs" / "alerting.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in WORLDS)


@pytest.mark.parametrize("name", WORLDS)
def test_an_alert_speaks_where_something_is_wrong_and_nowhere_else(name: str, tmp_path: Path) -> None:
    wrong, right, told = WORLDS[name]
    said = fired(name, wrong, tmp_path)
    assert name in said
    assert told in said
    assert fired(name, right, tmp_path) == ""


def test_the_jobs_that_are_asked_for_are_scraped() -> None:
    settings = parsed(INCIDENT)
    assert settings.layer.metrics != "off"
    jobs = {
        job["job_name"] for job in scrape_jobs.scrape_jobs(settings, settings.layer.metrics, target_limit=9)
    }
    asked = {"kubelet", "alloy", "node-exporter", "loki", "prometheus", "pods", "kube-state-metrics"}
    assert asked <= jobs
