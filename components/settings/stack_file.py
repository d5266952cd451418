"""Reads an environment's settings from its stack file alone: for commands that need no secret and no passphrase."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components.settings.load import OAUTH, SECRET_KEYS, parse
from components.settings.mistakes import Mistake, SettingsError
from components.settings.model import Settings
from components.settings.oauth import clients
from components.settings.raw import mapping

_HOW = (
    "Two blanks for each level and no tabs; a text with `: `, `#` or a leading `*`, `&` or `@` needs quotes"
)


class _Loader(yaml.SafeLoader):
    """As the engine reads a stack file: a date is a text, since there is no setting that is one."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}

# Stands for the encrypted value, which these commands never need.
UNREAD = "this command reads no secret, and no passphrase is needed"


def read_settings(file: Path, project: str, environment: str) -> Settings:
    """The settings of an environment, judged as the program judges them; its secrets are not read.

    Args:
        file: `Pulumi.<environment>.yaml`.
        project: namespace of its keys.
        environment: name for the message.

    Raises:
        SettingsError: with every mistake; with the first one where the file is no YAML.
    """
    config = content_of(file, environment).get("config") or {}
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


def content_of(file: Path, environment: str) -> dict[str, Any]:
    """The file as plain data; its keys are texts, and `config` is a mapping if it is there.

    Args:
        file: `Pulumi.<environment>.yaml`.
        environment: name for the message.

    Raises:
        SettingsError: if it is no such file, with the line where YAML ends.
    """
    try:
        content = yaml.load(file.read_text(encoding="utf-8"), _Loader) or {}  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise SettingsError([_no_yaml(file, error)], environment) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror or "?" if isinstance(error, OSError) else "it is no text in UTF-8"
        raise SettingsError(
            [Mistake(file.name, f"cannot be read: {reason}", "Bring it back, or its rights")], environment
        ) from None
    for path, value in (
        (file.name, content),
        ("config", isinstance(content, dict) and content.get("config")),
    ):
        if value and not isinstance(value, dict):
            problem = f"is {_KINDS.get(type(value), 'a single value')}, not a mapping"
            raise SettingsError([Mistake(path, problem, "See Pulumi.dev.yaml")], environment)
    return {
        str(key): {str(name): inner for name, inner in value.items()} if key == "config" and value else value
        for key, value in content.items()
    }


_KINDS: dict[type, str] = {list: "a list", str: "a text"}


def _no_yaml(file: Path, error: yaml.YAMLError) -> Mistake:
    """What YAML's own reader says, without the line that it quotes: a secret may be in it."""
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    told = error.problem or error.context if isinstance(error, yaml.MarkedYAMLError) else None
    where = f"{file.name}:{mark.line + 1}" if mark else file.name
    return Mistake(where, f"is not YAML: {told or 'it holds characters that YAML has not'}", _HOW)


def _text(value: Any) -> str:
    """As the engine hands a value to the program: texts as they are, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _holds_secret(value: Any) -> bool:
    if isinstance(value, Mapping):
        return set(value) == {"secure"} or any(_holds_secret(inner) for inner in value.values())
    return isinstance(value, list) and any(_holds_secret(inner) for inner in value)
