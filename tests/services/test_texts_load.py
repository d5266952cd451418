"""Each text is read by the program that it is for, or by its own parser."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from components import versions
from components.layer import credentials
from components.layer.config import alloy, loki_sidecar, prometheus
from tests.services.running import check, folder, tool
from tests.support.environments import INCIDENT, KEY, changed, parsed

EXISTING = {"kind": "existing", "selector": {"app": "node-exporter"}, "namespace": "monitoring", "port": 9101}
S3 = {"store": {"kind": "s3", "bucket": "acme-logs", "region": "eu-central-1"}}
VARIANTS: dict[str, list[tuple[str, Any]]] = {
    "shipped": [],
    "no tenants": [("tenants", None)],
    "another's exporter": [("layer.hostMetrics", EXISTING)],
    "no exporter, few samples": [("layer.hostMetrics", "none"), ("layer.metrics", {"samplesPerTarget": 100})],
    "s3": [("layer.logs", S3)],
    "measured by alloy": [("layer.hostMetrics", "alloy")],
}


@pytest.mark.parametrize("logs", [True, False])
@pytest.mark.parametrize("host_metrics", [True, False])
@pytest.mark.parametrize("name", ["dev", "a" * 63])
def test_alloys_grammar_accepts_the_agents_text(
    name: str, host_metrics: bool, logs: bool, tmp_path: Path
) -> None:
    file = tmp_path / "config.alloy"
    file.write_text(alloy.agent_config(name, logs=logs, host_metrics=host_metrics))
    check(tool("alloy-syntax"), str(file))


def test_alloys_grammar_would_find_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "config.alloy"
    file.write_text(alloy.agent_config("dev").replace('action        = "drop"', 'action        = "drop'))
    done = subprocess.run([tool("alloy-syntax"), str(file)], capture_output=True, check=False, timeout=60)
    assert done.returncode == 1


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_promtool_accepts_the_configuration(changes: list[tuple[str, Any]], tmp_path: Path) -> None:
    file = tmp_path / "prometheus.yaml"
    file.write_text(prometheus.prometheus_config(parsed(changed(INCIDENT, *changes)), target_limit=755))
    check(tool("promtool"), "check", "config", "--syntax-only", str(file))


def test_promtool_accepts_the_web_configuration(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(prometheus.web_config({"layer": credentials.bcrypt_hash("a" * 64, KEY)}))
    check(tool("promtool"), "check", "web-config", str(file))


def test_nginx_of_the_stated_version_accepts_the_sidecars_text() -> None:
    done = subprocess.run([tool("nginx"), "-v"], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.strip().endswith(f"nginx/{versions.NGINX_TESTED}")
    with folder() as here:
        tokens = here / "tokens.map"
        tokens.write_text(loki_sidecar.token_map({"push": [f"{at:064x}" for at in range(200)]}))
        text = loki_sidecar.sidecar_config(
            listen="127.0.0.1:1", token_map_file=str(tokens), run_folder=str(here)
        )
        (here / "nginx.conf").write_text(text)
        check(tool("nginx"), "-e", "stderr", "-t", "-q", "-c", str(here / "nginx.conf"))
