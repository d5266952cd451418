"""Environments as plain data, as `pulumi.Config` would hand them over."""

import copy
import json
from enum import Enum
from typing import Any

from components.settings.load import SECRET_KEYS, parse
from components.settings.model import Settings

PROJECT = "shared-observability"
KEY = "a-gateway-key-for-tests-of-at-least-32-bytes"

# The incident's cluster: 15 nodes, 5 apps.
INCIDENT: dict[str, Any] = {
    "cluster": {
        "name": "dev",
        "target": {"kind": "render", "directory": "rendered/dev"},
        "nodeGroups": {
            "web": {"instanceTypes": ["t3.large"], "nodes": 5},
            "workers": {"instanceTypes": ["r5a.xlarge"], "nodes": 9},
            "batch": {
                "instanceTypes": ["r5a.xlarge"],
                "nodes": 1,
                "taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}],
            },
        },
    },
    "layer": {"protection": "off", "runsOn": ["workers"]},
    "tenants": {
        "shop": {"pods": 120, "runsOn": ["web", "workers"]},
        "billing": {"pods": 80, "metrics": False},
        "search": {"pods": 100},
        "mail": {"namespaces": {"mail-in": {"pods": 50}, "mail-out": {"pods": 30}}},
        "wiki": {"pods": 60, "logs": False},
    },
    "gatewayKey": KEY,
}


class _Null(Enum):
    """Equal in every process: pytest-xdist compares the tests' names, and an `object()` has its address in it."""

    NULL = "a key without a value"


NULL: Any = _Null.NULL
"""A key that is written without a value."""


def changed(base: dict[str, Any], *changes: tuple[str, Any]) -> dict[str, Any]:
    """A copy with values set (or, for None, removed; for `NULL`, without a value) at dotted paths."""
    raw = copy.deepcopy(base)
    for path, value in changes:
        *parents, last = path.split(".")
        node = raw
        for part in parents:
            node = node.setdefault(part, {})
        if value is None:
            node.pop(last, None)
        else:
            node[last] = None if value is NULL else value
    return raw


def config(raw: dict[str, Any]) -> dict[str, str]:
    """The texts that the engine hands to a program: objects as JSON, scalars as they are."""
    return {
        f"{PROJECT}:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in raw.items()
    }


def parsed(raw: dict[str, Any], stack: str = "dev") -> Settings:
    """The settings of an environment given as plain data, with its secret keys as secrets."""
    return parse(config(raw), secret_keys(raw), PROJECT, stack)


def secret_keys(raw: dict[str, Any]) -> set[str]:
    """The keys that the engine would have decrypted."""
    return {f"{PROJECT}:{key}" for key in SECRET_KEYS if key in raw}
