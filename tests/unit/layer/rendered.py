"""The jobs of a rendered Prometheus configuration."""

from typing import Any

import yaml

from components.layer.config.prometheus import prometheus_config
from tests.support.environments import INCIDENT, changed, parsed

TENANT_JOBS = ("pods", "pods-by-port-name")


def jobs(*changes: tuple[str, Any]) -> dict[str, dict[str, Any]]:
    """Jobs by name, for the incident's environment with these changes."""
    text = prometheus_config(parsed(changed(INCIDENT, *changes)), target_limit=755)
    return {job["job_name"]: job for job in yaml.safe_load(text)["scrape_configs"]}
