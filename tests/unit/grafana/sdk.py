"""Dashboards read by the models of Grafana's own SDK (grafana-foundation-sdk), and what these do not know in them."""

import json
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from tests.unit.grafana.rendered import Json

# Without it panels' options and targets are passed through as they are, whatever they hold.
register_default_plugins()


def not_known(dashboard: Json) -> list[str]:
    """Where something of a dashboard is lost or changed when the models read and write it.

    The models drop keys that they do not know without a word, so what they write is compared with what they read; what
    they add are defaults.
    """
    written = json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard)))
    return differences(dashboard, written)


def differences(ours: Any, theirs: Any, path: str = "") -> list[str]:
    """Where a value of ours is not in theirs."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        lost = [f"{path}.{key}" for key in sorted(ours.keys() - theirs.keys())]
        common = sorted(ours.keys() & theirs.keys())
        return lost + [d for key in common for d in differences(ours[key], theirs[key], f"{path}.{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [d for i in range(len(ours)) for d in differences(ours[i], theirs[i], f"{path}.{i}")]
    return [] if ours == theirs and type(ours) is type(theirs) else [path]
