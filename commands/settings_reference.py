"""The settings as a page for people and as a JSON schema for editors, both read off the settings' model."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from components.settings import base, model
from components.settings.load import OAUTH, SECRET_KEYS
from components.settings.mistakes import from_pydantic

PROJECT = "shared-observability"
Schema = Mapping[str, Any]
# What a mapping's keys are called in a path, by the mapping's own name.
PLACEHOLDERS = {"nodeGroups": "<group>", "tenants": "<tenant>", "namespaces": "<namespace>"}
# Where a reader goes on from a section.
MORE = {
    "cluster": "[targets](operations.md#switching-targets)",
    "cluster.nodeGroups.<group>": "[the pod budget](pod-budget.md)",
    "layer": "[architecture](architecture.md) and [sizing](operations.md#sizing)",
    "layer.agents": "[priority and preemption](adr/0006-priority-and-preemption.md)",
    "layer.gateway": "[reads](reads.md)",
    "layer.oauth": "[signing in](reads.md#signing-in)",
    "tenants.<tenant>": "[tenants](tenants.md)",
    "tenants.<tenant>.dashboards": "[reads](reads.md#a-tenants-own-grafana)",
}
# What no error message puts into words.
PATTERNS = {
    base.QUALIFIED_NAME: "a label key of Kubernetes",
    base.LABEL_VALUE: "a label value of Kubernetes",
}
INTRODUCTION = f"""\
<!-- Written from components/settings/model.py by `python -m commands.docs`; change it there. -->
# Settings

Everything that an environment can say, in `Pulumi.<env>.yaml` under `config`, each top-level key with the prefix
`{PROJECT}:`. Wrong settings are refused before anything is deployed: all mistakes at once, each with
its path, what is wrong and what is allowed. An unknown key is a mistake.

For completion and checks in an editor that uses the YAML language server, begin the stack file with
`# yaml-language-server: $schema=docs/settings.schema.json`.

In paths `<...>` stands for a name of your own, and `[]` for each item of a list. *A mapping of kind x* is written with
`kind: x` among its keys. Where `off` is allowed, `false` means the same; `true` and `false` may be written `on` and
`off`.
"""


@dataclass(frozen=True)
class Section:
    """One mapping of the settings.

    Attributes:
        path: of the mapping; empty for the top.
        kind: what its key `kind` has to be; empty if there is no choice.
        about: what it is.
        keys: schema by key.
        required: keys without a default.
    """

    path: str
    kind: str
    about: str
    keys: Mapping[str, Schema]
    required: frozenset[str]

    @property
    def title(self) -> str:
        """Heading of the section."""
        path = f"`{self.path}`" if self.path else "Top level"
        return f"{path} of kind `{self.kind}`" if self.kind else path

    def at(self, key: str) -> str:
        """Path of one of its keys."""
        return f"{self.path}.{key}" if self.path else key


def slug(heading: str) -> str:
    """Anchor of a heading, as GitHub makes it."""
    return "".join(c for c in heading.lower() if c.isalnum() or c in " -_").replace(" ", "-")


def settings_paths() -> list[str]:
    """Path of every setting, with `<...>` for names that a user chooses and `[]` for items of a list."""
    return [section.at(key) for section in sections() for key in section.keys]


@cache
def sections() -> tuple[Section, ...]:
    """Every mapping of the settings, in the order of the model."""
    return tuple(_sections(_root(), ""))


@cache
def _root() -> dict[str, Any]:
    return model.Settings.model_json_schema()


def _sections(schema: Schema, path: str) -> Iterator[Section]:
    """A mapping, then those inside it."""
    for branch in _branches(schema):
        keys = branch.get("properties", {})
        if keys:
            kind = str(keys.get("kind", {}).get("const", ""))
            yield Section(path, kind, _first_line(branch), keys, frozenset(branch.get("required", ())))
        for key, inner in keys.items():
            yield from _sections(inner, f"{path}.{key}" if path else key)
        for inner in branch.get("patternProperties", {}).values():
            yield from _sections(inner, f"{path}.{_placeholder(path.rpartition('.')[2])}")
        if "items" in branch:
            yield from _sections(branch["items"], f"{path}[]")


def _branches(schema: Schema) -> list[Schema]:
    """What a value may be: references and unions looked through, null left out, which means the same as no key."""
    if "$ref" in schema:
        return _branches(_root()["$defs"][str(schema["$ref"]).rpartition("/")[2]])
    union = schema.get("oneOf") or schema.get("anyOf")
    if union:
        return [branch for inner in union for branch in _branches(inner)]
    return [] if schema.get("type") == "null" else [schema]


def _placeholder(mapping: str) -> str:
    return PLACEHOLDERS.get(mapping, "<name>")


def _first_line(schema: Schema) -> str:
    return str(schema.get("description", "")).partition("\n")[0]


# --- the page --------------------------------------------------------------------------------------------------------


def settings_page() -> str:
    """The reference: one section for each mapping, one row for each key."""
    return "\n".join([INTRODUCTION, *(_section_text(section) for section in sections())])


def _section_text(section: Section) -> str:
    level = "##" if "." not in section.path else "###"
    more = MORE.get(section.path)
    about = f"{section.about} More: {more}." if more else section.about
    rows = (_row(section, key, schema) for key, schema in section.keys.items() if "const" not in schema)
    table = "\n".join(["| key | value | default | meaning |", "| --- | --- | --- | --- |", *rows])
    return f"{level} {section.title}\n\n{about}\n\n{table}\n"


def _row(section: Section, key: str, schema: Schema) -> str:
    branches = _branches(schema)
    value = ", or ".join(dict.fromkeys(_value(branch, section.at(key)) for branch in branches))
    default = "required" if key in section.required else _default(schema, section.at(key))
    about = schema.get("description") or next(filter(None, map(_first_line, branches)), "")
    return f"| `{key}` | {_cell(value)} | {default} | {_cell(about)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _value(branch: Schema, path: str) -> str:
    """One kind of value that is allowed at a path."""
    if branch.get("properties"):
        kind = branch["properties"].get("kind", {}).get("const", "")
        return f"[a mapping{f' of kind {kind}' if kind else ''}](#{_anchor(path, kind)})"
    if "patternProperties" in branch:
        inner = f"{path}.{_placeholder(path.rpartition('.')[2])}"
        known = any(section.path == inner for section in sections())
        return (
            f"a mapping from names to [mappings](#{_anchor(inner)})"
            if known
            else "a mapping from keys to texts"
        )
    if "additionalProperties" in branch:
        return "a mapping from names to texts"
    if "items" in branch:
        known = any(section.path == f"{path}[]" for section in sections())
        return f"a list of [mappings](#{_anchor(f'{path}[]')})" if known else "a list of texts"
    return _scalar(branch)


def _anchor(path: str, kind: str = "") -> str:
    return slug(next(s for s in sections() if s.path == path and s.kind == kind).title)


def _scalar(branch: Schema) -> str:
    if "const" in branch or "enum" in branch:
        return ", ".join(f"`{value}`" for value in branch.get("enum", [branch.get("const")]))
    if branch.get("type") == "boolean":
        return "`true`, `false`"
    if branch.get("type") == "integer":
        return f"a whole number from {branch['minimum']:,} to {branch['maximum']:,}"
    if branch.get("type") == "number":
        return f"a number from {branch['minimum']:,} to {branch['maximum']:,}"
    if "pattern" in branch:
        return _pattern(str(branch["pattern"]))
    return f"text of at least {branch['minLength']} bytes" if branch.get("minLength", 1) > 1 else "text"


def _pattern(pattern: str) -> str:
    """In the words of the error message about such a text."""
    error = {"loc": (), "type": "string_pattern_mismatch", "ctx": {"pattern": pattern}, "msg": ""}
    remedy = from_pydantic(error, ()).remedy
    return PATTERNS.get(pattern) or (
        f"text like `{pattern}`" if pattern in remedy else remedy.partition(" ")[2]
    )


def _default(schema: Schema, path: str) -> str:
    value = schema.get("default")
    if value in (None, [], {}, ""):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if not isinstance(value, dict):
        return f"`{value}`"
    if "." not in path:
        return "each key's own"
    stated = {key: inner for key, inner in value.items() if inner is not None}
    return f"`{yaml.safe_dump(stated, default_flow_style=True, sort_keys=False, width=1000).strip()}`"


# --- the schema ------------------------------------------------------------------------------------------------------


def settings_schema() -> str:
    """A JSON schema of a whole stack file; what Pulumi itself writes there is allowed, and other projects' keys are."""
    root = _root()
    keys = {f"{PROJECT}:{key}": value for key, value in root["properties"].items()}
    for key in SECRET_KEYS:
        about = root["properties"][key].get("description", "")
        keys[f"{PROJECT}:{key}"] = {"description": about, **(SECURE_EACH if key == OAUTH else SECURE)}
    unknown = f"^{PROJECT}:(?!({'|'.join(root['properties'])})$)"
    config = {
        "type": "object",
        "properties": keys,
        "patternProperties": {unknown: False, "^kubernetes:": False},
        "required": [f"{PROJECT}:{key}" for key in root["required"]],
    }
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Written from components/settings/model.py by `python -m commands.docs`; change it there.",
        "description": f"An environment of {PROJECT}: Pulumi.<env>.yaml",
        "type": "object",
        "properties": {"config": config},
        "required": ["config"],
        "$defs": root["$defs"],
    }
    return json.dumps(_as_written(schema), indent=2) + "\n"


SECURE: dict[str, Any] = {
    "type": "object",
    "properties": {"secure": {"type": "string"}},
    "required": ["secure"],
    "additionalProperties": False,
}


# As a whole, or the value of each name.
SECURE_EACH: dict[str, Any] = {"anyOf": [SECURE, {"type": "object", "additionalProperties": SECURE}]}


def _as_written(schema: Any) -> Any:
    """With what the settings accept beside the model's own types: `off` as false, and switches as `on` and `off`."""
    if isinstance(schema, list):
        return [_as_written(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _as_written(value) for key, value in schema.items() if not _is_title(key, value)}
    if "patternProperties" in found and "properties" not in found:
        return {**found, "additionalProperties": False}  # the settings refuse a name that matches no pattern
    values = found.get("enum", [found.get("const")])
    if "off" in values:
        return {**_without(found, "type", "const"), "enum": [*values, False]}
    if found.get("type") == "boolean":
        return {**_without(found, "type"), "enum": [True, False, "on", "off"]}
    return found


def _is_title(key: str, value: Any) -> bool:
    """Pydantic's titles repeat the keys; a setting called `title` would be a schema and no text."""
    return key == "title" and isinstance(value, str)


def _without(schema: Schema, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in keys}
