"""nginx of the stated version reads the text and the Secrets of any environment, and says nothing about them."""

import subprocess
from typing import Any

import pytest

from components.layer.config.gateway import Places
from components.layer.config.gateway_text import gateway_config
from components.versions import NGINX_TESTED
from tests.services.gateway.stack import settings_with, write_tables
from tests.services.running import folder, tool

MANY = {f"tenant-{at:04d}": {"pods": 5} for at in range(5000)}
NAMESPACES = {"namespaces": {f"ns-{at:03d}-{'x' * 50}": {"pods": 5} for at in range(40)}}
VARIANTS: dict[str, list[tuple[str, Any]]] = {
    "shipped": [],
    "no tenants": [("tenants", None)],
    "5,000 tenants": [("tenants", MANY)],
    "40 namespaces": [("tenants.shop", NAMESPACES)],
    "no logs": [("layer.logs", "off"), ("tenants.search", None)],
    "no metrics": [("layer.metrics", "off"), ("tenants.billing.metrics", None)],
}


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_nginx_accepts_the_text_without_a_warning(changes: list[tuple[str, Any]]) -> None:
    settings = settings_with(*changes)
    with folder() as here:
        write_tables(here, settings)
        places = Places(
            loki="127.0.0.1:1",
            prometheus="127.0.0.1:2",
            tenants_folder=str(here),
            secret_folder=str(here),
            run_folder=str(here),
            nginx=NGINX_TESTED,
        )
        (here / "nginx.conf").write_text(gateway_config(settings, places))
        command = [tool("nginx"), "-e", "stderr", "-t", "-q", "-c", str(here / "nginx.conf")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
