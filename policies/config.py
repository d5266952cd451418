"""Settings of the pack: what it cannot know from the objects themselves, and each rule's own.

Pulumi gives every policy its own settings, so what concerns all rules belongs to the policy `pack-settings`. A file
for `--policy-pack-config` and for `python -m policies.check --config` is the same:

    {"pack-settings": {"tenants": {"shop": {"namespaces": ["shop"]}}, "exemptions": [...]},
     "duplicate-agents": "mandatory",
     "pod-slots": {"enforcementLevel": "advisory", "leaveFree": 4}}
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from components.names import LAYER_NAMESPACE, NODES_NAMESPACE
from components.settings.model import NodeGroup
from policies.verdict import Level

PACK_SETTINGS = "pack-settings"
UNDECIDED = "undecided"
ALL = "all"


class ConfigError(Exception):
    """The pack's settings are wrong; the text says where and how."""


class Model(BaseModel):
    """What all settings have in common."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )


class RuleSettings(Model):
    """Settings that every rule has."""

    undecided: Literal["report", "violation"] = Field(
        default="report",
        description="`report`: what cannot be decided is reported by the policy `undecided`, at its level; "
        "`violation`: it counts as a violation of this rule",
    )


class Tenant(Model):
    """Who a tenant is, as far as its namespaces' labels do not say it."""

    namespaces: tuple[str, ...] | None = Field(
        default=None, description="its namespaces; by default one of its name"
    )
    groups: tuple[str, ...] = Field(default=(), description="RBAC groups of its people")
    users: tuple[str, ...] = Field(default=(), description="RBAC users of its people")


class Exemption(Model):
    """One object that a rule lets pass, with the reason and an end."""

    rule: str = Field(description="name of the rule")
    kind: str = Field(description="the object's kind")
    namespace: str = Field(default="", description="its namespace; empty for cluster-wide objects")
    name: str = Field(description="its exact name")
    reason: str = Field(min_length=10, description="why this is right, for the next reader")
    expiry: date = Field(description="the last day on which it counts, as 2027-03-31")

    def label(self) -> str:
        """For messages: `daemonset-placement for DaemonSet gpu/device-plugin`."""
        return f"{self.rule} for {self.kind} {self.namespace + '/' if self.namespace else ''}{self.name}"


class PackSettings(Model):
    """What all rules share."""

    tenants: Mapping[str, Tenant] = Field(
        default={}, description="tenants by name, beside those that namespaces' labels name"
    )
    stack_tenant: str = Field(
        default="", description="the tenant that everything judged belongs to, as in a tenant's own stack"
    )
    layer_namespaces: tuple[str, ...] = Field(
        default=(LAYER_NAMESPACE, NODES_NAMESPACE), description="namespaces of the shared layer"
    )
    node_groups: Mapping[str, NodeGroup] = Field(
        default={},
        description="node groups as in the program's setting `cluster.nodeGroups`; taken from there if missing here",
    )
    exemptions: tuple[Exemption, ...] = Field(
        default=(), description="objects that a rule lets pass: rule, kind, namespace, name, reason, expiry"
    )


@dataclass(frozen=True)
class PackConfig:
    """A file of settings, taken apart."""

    settings: PackSettings = field(default_factory=PackSettings)
    levels: Mapping[str, Level] = field(default_factory=dict)
    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def level(self, rule: str, default: Level) -> Level:
        """The level of a rule: its own, else that of all, else the rule's default."""
        return self.levels.get(rule, self.levels.get(ALL, default))


def wholes(value: Any) -> Any:
    """Numbers without a fraction as int: Pulumi sends floats, and the program's settings are strict."""
    if isinstance(value, Mapping):
        return {key: wholes(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [wholes(element) for element in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def parse(model: type[Model], raw: Mapping[str, Any], where: str) -> Any:
    """The settings, validated.

    Raises:
        ConfigError: with every mistake: key, reason.
    """
    try:
        # From JSON, in which the program's strict models take a list for a tuple.
        return model.model_validate_json(json.dumps(wholes(raw), default=str))
    except ValidationError as error:
        mistakes = "\n".join(
            f"  {where}.{'.'.join(str(step) for step in mistake['loc'])}: {mistake['msg']}"
            for mistake in error.errors(include_url=False, include_input=False, include_context=False)
        )
        raise ConfigError(f"the policy pack's settings are wrong:\n{mistakes}") from None


def read(path: Path) -> PackConfig:
    """Reads a file for `--policy-pack-config`, in the engine's first or second form, as JSON or YAML.

    Raises:
        ConfigError: the file cannot be read, or says what the pack does not know.
    """
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: expected an object of policy names")
    if isinstance(raw.get("version"), int | float):
        raw = raw.get("policies") or {}
    return take_apart({str(key): value for key, value in raw.items() if key != "environments"})


def take_apart(raw: Mapping[str, Any]) -> PackConfig:
    """Separates levels from settings, as the engine does.

    Raises:
        ConfigError: a level that Pulumi does not know, or settings that the pack does not know.
    """
    levels: dict[str, Level] = {}
    properties: dict[str, Mapping[str, Any]] = {}
    for name, value in raw.items():
        given = {"enforcementLevel": value} if isinstance(value, str) else value
        if not isinstance(given, Mapping):
            raise ConfigError(f"{name}: expected a level or an object")
        if "enforcementLevel" in given:
            levels[name] = _level(name, given["enforcementLevel"])
        properties[name] = {key: member for key, member in given.items() if key != "enforcementLevel"}
    shared = properties.pop(PACK_SETTINGS, {})
    return PackConfig(parse(PackSettings, shared, PACK_SETTINGS), levels, properties)


@cache
def json_schema(model: type[Model]) -> dict[str, dict[str, Any]]:
    """The model's JSON schema by key, without references, as Pulumi wants a policy's schema."""
    schema = model.model_json_schema(by_alias=True)
    inlined = _inline(schema.get("properties", {}), schema.get("$defs", {}))
    return json.loads(json.dumps(inlined))  # type: ignore[no-any-return]


def _level(name: str, value: Any) -> Level:
    """`remediate` means mandatory: no rule changes objects."""
    try:
        return Level.MANDATORY if value == "remediate" else Level(value)
    except ValueError:
        raise ConfigError(f"{name}: level {value!r} is none of {', '.join(Level)}") from None


def _inline(value: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        if "$ref" in value:
            return _inline(definitions[value["$ref"].rpartition("/")[2]], definitions)
        # `discriminator` is OpenAPI's and refers to definitions; `oneOf` beside it says all.
        return {key: _inline(member, definitions) for key, member in value.items() if key != "discriminator"}
    return [_inline(element, definitions) for element in value] if isinstance(value, list) else value
