"""Reads an environment's settings once: from Pulumi's configuration to a validated tree, or all mistakes at once."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pulumi
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from components.settings import leftovers
from components.settings.base import LABEL_VALUE
from components.settings.checks import make_key, reference_mistakes
from components.settings.mistakes import Mistake, SettingsError, closest, from_pydantic
from components.settings.model import Settings
from components.settings.oauth import set_secret
from components.settings.raw import Raw, is_off, mapping
from components.settings.tenant_checks import has_signals

KEYS = tuple(field.alias or name for name, field in Settings.model_fields.items())
OAUTH = "oauth"
SECRET_KEYS = ("gatewayKey", "gatewayKeyPrevious", OAUTH)
# The executor's own code for "the error was shown already": any other adds a second, empty error to the output.
ALREADY_SHOWN = 32


def load_or_exit() -> Settings:
    """The settings of this stack, and a warning for what is left over in them.

    If they are wrong, shows all mistakes and ends the program with nothing registered.

    Raises:
        SystemExit: with status 32. `pulumi.log.error` alone would leave exit status 0.
    """
    config = {
        **pulumi.runtime.config.get_config_env(),
        **pulumi.runtime.config.CONFIG.get(),
    }
    try:
        settings = parse(
            config,
            [key for key in config if pulumi.runtime.is_config_secret(key)],
            pulumi.get_project(),
            pulumi.get_stack(),
        )
    except SettingsError as error:
        pulumi.log.error(str(error))
        raise SystemExit(ALREADY_SHOWN) from None
    for line in leftovers.lines(settings, pulumi.get_stack()):
        pulumi.log.warn(line)
    return settings


def parse(config: Mapping[str, str], secret_keys: Collection[str], project: str, stack: str) -> Settings:
    """Validates a stack's whole configuration.

    Args:
        config: all keys with their namespace (`shared-observability:cluster`), values as texts, objects as JSON.
        secret_keys: the keys that hold a secret anywhere inside.
        project: namespace of the keys that are ours.
        stack: name of the stack, for the message.

    Raises:
        SettingsError: with every mistake.
    """
    raw = {
        key.partition(":")[2]: _plain(key, value)
        for key, value in config.items()
        if key.startswith(f"{project}:")
    }
    secret = {key.partition(":")[2] for key in secret_keys if key.startswith(f"{project}:")}
    misplaced = list(_misplaced_secrets(raw, secret))
    shown = _follow_layer({key: value for key, value in raw.items() if key in KEYS})
    mistakes = [
        *_stack_name(stack),
        *_unknown_keys(raw),
        *_foreign_keys(config),
        *misplaced,
        *reference_mistakes(shown),
    ]
    try:
        settings = Settings.model_validate_json(json.dumps(shown))
    except ValidationError as error:
        known = {mistake.path for mistake in mistakes}
        shape = [from_pydantic(dict(e), _siblings(e["loc"])) for e in _own(error)]
        raise SettingsError([*mistakes, *(m for m in shape if m.path not in known)], stack) from None
    if mistakes:
        raise SettingsError(mistakes, stack)
    return settings


def _stack_name(stack: str) -> Iterator[Mistake]:
    if not re.fullmatch(LABEL_VALUE[1:-1], stack):
        yield Mistake(
            f"Pulumi.{stack}.yaml",
            "the stack's name cannot be a label's value, and each object has it as its owner",
            "Use up to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends",
        )


def _plain(key: str, value: str) -> Any:
    """Objects arrive as JSON; a gateway key is always text, even when it looks like a number."""
    if key.partition(":")[2] in SECRET_KEYS and not key.endswith(f":{OAUTH}"):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def _follow_layer(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A tenant that says nothing about a signal follows the layer: what the layer has off is off."""
    layer, tenants = mapping(raw.get("layer")), raw.get("tenants")
    if not isinstance(tenants, Mapping):
        return dict(raw)
    off = {signal: "off" for signal in ("logs", "metrics") if is_off(layer.get(signal))}
    return {
        **raw,
        "tenants": {
            n: _with_dashboards({**off, **t}) if isinstance(t, Mapping) else t for n, t in tenants.items()
        },
    }


def _with_dashboards(tenant: Raw) -> dict[str, Any]:
    """Without a signal there is nothing to show, so a tenant that says nothing about dashboards has none."""
    return {**({} if has_signals(tenant) else {"dashboards": False}), **tenant}


def _unknown_keys(raw: Mapping[str, Any]) -> Iterator[Mistake]:
    for key in raw:
        if key not in KEYS:
            near = closest(key, KEYS)
            yield Mistake(
                key,
                "is not a setting",
                f"Allowed: {', '.join(KEYS)}{f' ({near})' if near else ''}",
            )


def _foreign_keys(config: Mapping[str, str]) -> Iterator[Mistake]:
    for key in config:
        if key.startswith("kubernetes:"):
            yield Mistake(
                key,
                "has no effect: every object names its own provider, and the ambient one is disabled",
                "Remove it, and say where objects go by cluster.target",
            )


def _misplaced_secrets(raw: Mapping[str, Any], secret: Collection[str]) -> Iterator[Mistake]:
    for key in raw:
        if key in secret and key not in SECRET_KEYS:
            yield Mistake(
                key,
                "holds a `secure:` value, which would reach state and rendered files in plain text",
                f"Only {', '.join(SECRET_KEYS[:-1])} and {SECRET_KEYS[-1]} can be secret: move the value out",
            )
    for key in SECRET_KEYS:
        if key in raw and key not in secret:
            yield Mistake(key, "is in plain text", _LEAKED[key])
    if "gatewayKey" not in raw:
        yield Mistake("gatewayKey", "is missing, and every token derives from it", make_key())


_NEW_KEY = f"Treat it as leaked and make a new gatewayKey. {make_key()}"
_LEAKED = {
    **dict.fromkeys(SECRET_KEYS, _NEW_KEY),
    OAUTH: "Treat it as leaked: get new secrets from the identity provider, and set each: "
    + set_secret("CLIENT_ID"),
}


def _own(error: ValidationError) -> list[ErrorDetails]:
    """Its errors, without those that follow from another: a list whose items are wrong is too short as well."""
    found = error.errors(include_input=False, include_url=False)
    inside = {e["loc"][:-1] for e in found}
    return [e for e in found if e["type"] != "too_short" or e["loc"] not in inside]


def _siblings(location: Sequence[str | int]) -> list[str]:
    """The keys that are allowed where `location` points to an unknown one, read from the settings' own JSON schema."""
    root = Settings.model_json_schema()
    here = [root]
    for part in location[:-1]:
        here = [found for node in here for found in _step(_branches(node, root), part)]
    return [key for node in here for branch in _branches(node, root) for key in branch.get("properties", {})]


def _branches(node: dict[str, Any], root: dict[str, Any]) -> list[dict[str, Any]]:
    """The node itself, with references and unions looked through."""
    if "$ref" in node:
        return _branches(root["$defs"][node["$ref"].rpartition("/")[2]], root)
    union = node.get("oneOf") or node.get("anyOf")
    return [found for branch in union for found in _branches(branch, root)] if union else [node]


def _step(branches: list[dict[str, Any]], part: str | int) -> list[dict[str, Any]]:
    """One step down; a tag such as `<render>` chooses among the branches of a union."""
    if isinstance(part, int):
        return [branch["items"] for branch in branches if "items" in branch]
    if part.startswith("<"):
        return [
            b
            for b in branches
            if b.get("properties", {}).get("kind", {}).get("const", part[1:-1]) == part[1:-1]
        ]
    return [inner for branch in branches for inner in _values(branch, part)]


def _values(branch: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """What a key's value may be: one of a model's fields, or any value of a mapping."""
    if key in branch.get("properties", {}):
        return [branch["properties"][key]]
    others = [branch.get("additionalProperties"), *branch.get("patternProperties", {}).values()]
    return [other for other in others if isinstance(other, dict)]
