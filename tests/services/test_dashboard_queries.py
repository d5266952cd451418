"""The dashboards' PromQL, calculated by Prometheus' own tool: what each panel shows of a small, known world."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.grafana.sources import LOGS, METRICS
from components.names import PODS_QUOTA
from tests.services.running import check, tool
from tests.unit.grafana.rendered import dashboards, expressions, panels

OVERVIEW = dashboards([METRICS, LOGS])["namespace-overview.json"]
# Two namespaces of which one is chosen; `web-2` has finished, `web-1` is stuck, `old` belongs to nobody who looks.
WORLD = {
    f'kube_resourcequota{{namespace="shop",resourcequota="{PODS_QUOTA}",resource="pods",type="used"}}': "90+0x70",
    f'kube_resourcequota{{namespace="shop",resourcequota="{PODS_QUOTA}",resource="pods",type="hard"}}': "120+0x70",
    'kube_resourcequota{namespace="shop",resourcequota="theirs",resource="pods",type="hard"}': "10+0x70",
    'kube_pod_status_phase{namespace="shop",pod="web-0",phase="Running"}': "1+0x70",
    'kube_pod_status_phase{namespace="shop",pod="web-0",phase="Pending"}': "0+0x70",
    'kube_pod_status_phase{namespace="shop",pod="web-1",phase="Running"}': "1+0x70",
    'kube_pod_status_phase{namespace="shop",pod="web-2",phase="Succeeded"}': "1+0x70",
    'kube_pod_status_phase{namespace="other",pod="old",phase="Running"}': "1+0x70",
    'kube_pod_status_ready{namespace="shop",pod="web-0",condition="true"}': "1+0x70",
    'kube_pod_status_ready{namespace="shop",pod="web-1",condition="true"}': "0+0x70",
    'kube_pod_status_ready{namespace="shop",pod="web-2",condition="true"}': "0+0x70",
    'kube_pod_status_ready{namespace="other",pod="old",condition="true"}': "0+0x70",
    'kube_pod_container_status_restarts_total{namespace="shop",pod="web-1",container="app"}': "0+1x70",
    'kube_pod_container_status_waiting_reason{namespace="shop",pod="web-1",container="app",reason="CrashLoopBackOff"}':
        "1+0x70",
    'kube_deployment_status_replicas_unavailable{namespace="shop",deployment="web"}': "1+0x70",
    'kube_deployment_status_replicas_unavailable{namespace="shop",deployment="fine"}': "0+0x70",
    'kube_statefulset_replicas{namespace="shop",statefulset="db"}': "3+0x70",
    'kube_statefulset_status_replicas_ready{namespace="shop",statefulset="db"}': "1+0x70",
    'container_cpu_usage_seconds_total{namespace="shop",pod="web-0",container="app"}': "0+30x70",
    'container_cpu_usage_seconds_total{namespace="shop",pod="web-0",container=""}': "0+90x70",
    'container_cpu_cfs_throttled_periods_total{namespace="shop",pod="web-0",container="app"}': "0+3x70",
    'container_cpu_cfs_periods_total{namespace="shop",pod="web-0",container="app"}': "0+12x70",
    'kube_pod_container_resource_requests{namespace="shop",pod="web-0",container="app",resource="cpu"}': "0.25+0x70",
    'container_memory_working_set_bytes{namespace="shop",pod="web-0",container="app"}': "200+0x70",
    'container_memory_working_set_bytes{namespace="shop",pod="web-0",container=""}': "900+0x70",
    'kube_pod_container_resource_limits{namespace="shop",pod="web-0",container="app",resource="memory"}': "800+0x70",
    'kube_pod_container_status_last_terminated_reason{namespace="shop",pod="web-1",container="app",reason="OOMKilled"}':
        "1+0x70",
    'container_network_receive_bytes_total{namespace="shop",pod="web-0",interface="eth0"}': "0+60x70",
    'container_network_transmit_bytes_total{namespace="shop",pod="web-0",interface="eth0"}': "0+120x70",
    'kubelet_volume_stats_used_bytes{namespace="shop",persistentvolumeclaim="db-0",node="n"}': "30+0x70",
    'kubelet_volume_stats_capacity_bytes{namespace="shop",persistentvolumeclaim="db-0",node="n"}': "120+0x70",
    'up{namespace="shop",pod="web-0",job="pods",instance="10.0.0.1:80"}': "1+0x70",
    'up{namespace="shop",pod="web-1",job="pods",instance="10.0.0.2:80"}': "0+0x70",
    'up{namespace="shop",pod="alloy-x",job="alloy",instance="n"}': "0+0x70",
    'scrape_samples_scraped{namespace="shop",pod="web-0",job="pods"}': "512+0x70",
}  # fmt: skip
WEB_0 = '{namespace="shop", pod="web-0"}'
APP_0, APP_1 = (f'{{namespace="shop", pod="web-{n}", container="app"}}' for n in range(2))
SHOWN: dict[str, list[dict[str, float]]] = {
    "Quota of pods in use": [{'{namespace="shop"}': 0.75}],
    "Pods that run": [{"{}": 2}],
    "Pods that are not ready": [{"{}": 1}],
    "Restarts in the last hour": [{"{}": 60}],
    "Pods by phase": [{'{phase="Running"}': 2, '{phase="Succeeded"}': 1}],
    "Containers that wait": [
        {'{namespace="shop", pod="web-1", container="app", reason="CrashLoopBackOff"}': 1}
    ],
    "Replicas that are missing": [
        {'{namespace="shop", deployment="web"}': 1},
        {'{namespace="shop", statefulset="db"}': 2},
    ],
    "CPU in use": [{WEB_0: 0.5}],
    "CPU, as a share of what was requested": [{WEB_0: 2}],
    "CPU throttled": [{WEB_0: 0.25}],
    "Memory in use": [{APP_0: 200}],
    "Memory, as a share of the limit": [{APP_0: 0.25}],
    "Killed for their memory": [{APP_1: 1}],
    "Received": [{WEB_0: 1}],
    "Sent": [{WEB_0: 2}],
    "Volumes in use": [{'{namespace="shop", persistentvolumeclaim="db-0"}': 0.25}],
    "Pods that are scraped": [{'{namespace="shop"}': 1}, {'{namespace="shop"}': 2}],
    "Targets that fail": [{'{namespace="shop", pod="web-1", instance="10.0.0.2:80"}': 0}],
    "Samples by scrape": [{WEB_0: 512}],
}


def substituted(expression: str, namespace: str) -> str:
    """A query as Grafana sends it; with samples each minute the interval of rates is four of them."""
    return expression.replace("$namespace", namespace).replace("$__rate_interval", "4m")


def calculated(folder: Path, tests: list[dict[str, Any]]) -> None:
    """Has promtool compare expected samples with calculated ones."""
    series = [{"series": name, "values": values} for name, values in WORLD.items()]
    unit = {"interval": "1m", "input_series": series, "promql_expr_test": tests}
    (folder / "test.yaml").write_text(
        yaml.safe_dump({"evaluation_interval": "1m", "fuzzy_compare": True, "tests": [unit]})
    )
    check(tool("promtool"), "test", "rules", str(folder / "test.yaml"))


def test_every_panel_is_looked_at() -> None:
    assert set(SHOWN) == {panel["title"] for panel in panels(OVERVIEW)}


@pytest.mark.parametrize("namespace", ["shop", "shop|mail", ".+"])
def test_every_query_is_promql(tmp_path: Path, namespace: str) -> None:
    texts = [substituted(expression, namespace) for expression in expressions(OVERVIEW, "prometheus")]
    rules = [{"record": f"panel_{place}", "expr": text} for place, text in enumerate(texts)]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    check(tool("promtool"), "check", "rules", "--lint=none", str(tmp_path / "rules.yaml"))


def test_each_panel_shows_what_is_so(tmp_path: Path) -> None:
    tests = [
        {
            "expr": substituted(target["expr"], "shop"),
            "eval_time": "65m",
            "exp_samples": [{"labels": labels, "value": value} for labels, value in expected.items()],
        }
        for panel in panels(OVERVIEW)
        for target, expected in zip(panel["targets"], SHOWN[panel["title"]], strict=True)
    ]
    calculated(tmp_path, tests)


def test_a_wrong_expectation_would_be_found(tmp_path: Path) -> None:
    wrong = {"expr": "sum(up)", "eval_time": "65m", "exp_samples": [{"labels": "{}", "value": 77}]}
    with pytest.raises(AssertionError, match=r"exp: \{\} 7\.7E\+01"):
        calculated(tmp_path, [wrong])
