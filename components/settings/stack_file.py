"""Reads an environment's settings from its stack file alone: for commands that need no secret and no passphrase."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components.settings.load import OAUTH, SECRET_KEYS, parse
from components.settings.model import Settings
from components.settings.oauth import clients
from components.settings.raw import mapping

# Stands for the encrypted value, which these commands never need.
UNREAD = "this command reads no secret, and no passphrase is needed"


def read_settings(file: Path, project: str, environment: str) -> Settings:
    """The settings of an environment, judged as the program judges them; its secrets are not read.

    Args:
        file: `Pulumi.<environment>.yaml`.
        project: namespace of its keys.
        environment: name for the message.

    Raises:
        SettingsError: with every mistake.
    """
    content = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    config: dict[str, Any] = content.get("config") or {}
    secret_keys = {key for key, value in config.items() if _holds_secret(value)}
    hidden = {f"{project}:{key}" for key in SECRET_KEYS} & set(config)
    unread = {
        f"{project}:{OAUTH}": {
            client: UNREAD for _, client in clients(mapping(config.get(f"{project}:tenants")))
        }
    }
    return parse(
        {key: _text(unread.get(key, UNREAD) if key in hidden else value) for key, value in config.items()},
        secret_keys,
        project,
        environment,
    )


def _text(value: Any) -> str:
    """As the engine hands a value to the program: texts as they are, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _holds_secret(value: Any) -> bool:
    if isinstance(value, Mapping):
        return set(value) == {"secure"} or any(_holds_secret(inner) for inner in value.values())
    return isinstance(value, list) and any(_holds_secret(inner) for inner in value)
