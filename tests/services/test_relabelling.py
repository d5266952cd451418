"""The tests' evaluator of relabel rules against the real one, so that what unit tests decide holds in Prometheus."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from components import names
from components.layer.config import prometheus, relabel
from tests.services.running import tool
from tests.support.environments import INCIDENT, changed, parsed
from tests.unit.layer.relabelling import Labels
from tests.unit.layer.relabelling import relabel as evaluate
from tests.unit.layer.samples import SCRAPED, SHOP, pod, port

EXISTING = {"kind": "existing", "selector": {"app": "node-exporter"}}
MIRROR = "kubernetes.io/config.mirror"


def annotated(**said: str) -> dict[str, str]:
    return pod(annotations={**SCRAPED, **{f"prometheus.io/{name}": value for name, value in said.items()}})


def discovered() -> list[dict[str, str]]:
    """Targets that meet every rule in one way and in another, texts that could confuse a reader among them."""
    by_name = pod(annotations={"prometheus.io/scrape": "true"})
    texts = [
        "",
        "0",
        "80",
        "65536",
        "99999",
        "123456",
        "80;81",
        "80\n",
        "\n",
        "٨٠",
        "$1",
        "${1}",
        "x" * 300,
        "a/b",
        "*",
    ]
    paths = ["/", "/a", "//evil", "/a\nb", "/ä", "/%2f", "/?x", "a", f"/{'a' * 255}", f"/{'a' * 256}"]
    tenants = ["shop", "Shop", "a-", "-a", "a", "a" * 63, "x.y", "shöp"]
    return [
        *(annotated(port=text) for text in texts),
        *(annotated(path=text) for text in paths),
        *(annotated(scheme=text) for text in ("http", "https", "HTTPS", "ftp", "https\n")),
        *(annotated(scrape=text) for text in ("True", "true ", "1")),
        *(pod(annotations={**SCRAPED, MIRROR: text}) for text in texts),
        *(pod(annotations=SCRAPED, of_namespace={**SHOP, names.TENANT_LABEL: tenant}) for tenant in tenants),
        *(
            pod(annotations=SCRAPED, of_namespace={**SHOP, names.LOGS_LABEL: v})
            for v in ("api", "off", "x", "offx")
        ),
        *(pod(annotations=SCRAPED, ip=ip) for ip in ("2001:db8::7", "::1", "::ffff:1.2.3.4", "fe80::1%eth0")),
        *(
            pod(annotations=SCRAPED, more={"pod_phase": phase})
            for phase in ("Pending", "Succeeded", "Unknown")
        ),
        *(port(by_name, number, name) for number, name in ((1, "metrics"), (2, "http"), (3, "metrics2"))),
        pod(of_namespace={}),
        pod(annotations=SCRAPED, of_namespace={}),
    ]


def jobs() -> dict[str, list[dict[str, Any]]]:
    """The rules of every job on pods, and the agents'."""
    text = prometheus.prometheus_config(
        parsed(changed(INCIDENT, ("layer.hostMetrics", EXISTING))), target_limit=9
    )
    stated = {job["job_name"]: job["relabel_configs"] for job in yaml.safe_load(text)["scrape_configs"]}
    on_pods = {name: stated[name] for name in ("node-exporter", "alloy", "pods", "pods-by-port-name")}
    return {**on_pods, "agents": list(relabel.to_prometheus(relabel.agent_rules()))}


CASE = "__meta_case"


def by_promtool(name: str, folder: Path, expected: int) -> dict[str, Labels]:
    """What the real one makes of each target; it waits for discovery as long as it is told, and says what it has."""
    found: list[dict[str, Labels]] = []
    for seconds in (1, 5, 25):
        command = [
            tool("promtool"),
            "check",
            "service-discovery",
            f"--timeout={seconds}s",
            f"{folder}/c.yaml",
            name,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        found = json.loads(done.stdout or "[]")
        if len(found) == expected:
            break
    assert len(found) == expected
    return {target["discoveredLabels"][CASE]: target["labels"] or {} for target in found}


@pytest.mark.parametrize("name", jobs())
def test_the_evaluator_agrees_with_prometheus(name: str, tmp_path: Path) -> None:
    cases = {str(number): labels for number, labels in enumerate(discovered())}
    groups = [{"targets": [c["__address__"]], "labels": {**c, CASE: number}} for number, c in cases.items()]
    (tmp_path / "pods.json").write_text(json.dumps(groups))
    rules = jobs()[name]
    files = [{"files": [str(tmp_path / "pods.json")]}]
    config = {"scrape_configs": [{"job_name": name, "file_sd_configs": files, "relabel_configs": rules}]}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(config))
    start = {"job": name, "__scheme__": "http", "__metrics_path__": "/metrics"}
    real = by_promtool(name, tmp_path, len(cases))
    kept = 0
    for number, labels in cases.items():
        ours = evaluate({**start, **labels}, rules) or {}
        assert shown(ours) == shown(real[number]), labels
        kept += bool(ours)
    assert 0 < kept < len(cases)


def shown(labels: Mapping[str, str]) -> Labels:
    """The labels of a target, and what makes its address; not what Prometheus adds by itself."""
    address = {"__address__", "__scheme__", "__metrics_path__", "__path__"}
    return {
        name: value
        for name, value in labels.items()
        if name in address or (not name.startswith("__") and name != "instance")
    }
