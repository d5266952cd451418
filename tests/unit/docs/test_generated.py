"""What is generated is up to date, and the schema says what the program says."""

import json
from typing import Any

import jsonschema
import pytest
import yaml

from commands.docs import DOCS, SETTINGS_PAGE, SETTINGS_SCHEMA, VERSIONS_PAGE, filled_versions
from commands.environments import ROOT
from commands.pull_request import example
from commands.settings_reference import sections, settings_page, settings_paths, settings_schema
from components import versions
from components.settings.load import SECRET_KEYS, parse
from components.settings.mistakes import SettingsError
from policies.rules import RULES
from tests.support.environments import INCIDENT, KEY, PROJECT, changed
from tests.unit.components.environments import VARIANTS, environment
from toolchain import pod_budget_doc

STALE = "stale: run .venv/bin/python -m commands.docs"
SCHEMA = json.loads(settings_schema())
STACK_FILES = sorted(ROOT.glob("Pulumi.*.yaml"))


def as_stack_file(raw: dict[str, Any]) -> dict[str, Any]:
    """Settings as they stand in a stack file."""
    hidden = {key: {"secure": "v1:..."} for key in SECRET_KEYS if key in raw}
    return {"config": {f"{PROJECT}:{key}": value for key, value in {**raw, **hidden}.items()}}


def is_accepted(raw: dict[str, Any]) -> bool:
    """Whether the program takes these settings."""
    secret = {f"{PROJECT}:{key}" for key in SECRET_KEYS}
    config = {f"{PROJECT}:{k}": v if isinstance(v, str) else json.dumps(v) for k, v in raw.items()}
    try:
        parse(config, secret, PROJECT, "test")
    except SettingsError:
        return False
    return True


def is_valid(raw: dict[str, Any]) -> bool:
    """Whether an editor with the schema takes them."""
    return bool(jsonschema.Draft202012Validator(SCHEMA).is_valid(as_stack_file(raw)))


def test_the_settings_reference_is_up_to_date() -> None:
    assert SETTINGS_PAGE.read_text(encoding="utf-8") == settings_page(), STALE


def test_the_settings_schema_is_up_to_date() -> None:
    assert SETTINGS_SCHEMA.read_text(encoding="utf-8") == settings_schema(), STALE


def test_the_tables_of_versions_are_up_to_date() -> None:
    text = VERSIONS_PAGE.read_text(encoding="utf-8")
    assert filled_versions(text) == text, STALE
    assert all(image in text for image in versions.IMAGES.values())


def test_the_example_of_a_comment_is_up_to_date() -> None:
    text = example.DOC.read_text(encoding="utf-8")
    assert example.filled(text) == text, STALE
    assert example.RULE in {rule.name for rule in RULES}


def test_the_readme_shows_the_budget_as_it_is() -> None:
    shown = {line.strip() for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()}
    table = pod_budget_doc.generated()["table"].splitlines()
    assert {line.strip() for line in table[1:-1]} <= shown


def test_the_readme_counts_as_the_program_does() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = environment(VARIANTS["dev as shipped"])
    resources = len(found.recorder.registered) + 1  # the stack itself
    assert f"+ {resources} created" in text
    assert f"`{resources} unchanged`" in text
    assert f'"{resources} created"' in text
    assert f"now holds {len(found.objects)} manifests; two of them are DaemonSets" in text
    assert len(found.of("DaemonSet")) == 2


def test_every_setting_has_a_row_in_its_section() -> None:
    text = SETTINGS_PAGE.read_text(encoding="utf-8")
    for section in sections():
        part = text.partition(f" {section.title}\n")[2].partition("\n## ")[0].partition("\n### ")[0]
        assert part, section.title
        assert all(f"| `{key}` |" in part for key, schema in section.keys.items() if "const" not in schema)


def test_the_reference_reaches_into_lists_and_chosen_names() -> None:
    assert {
        "cluster.nodeGroups.<group>.taints[].effect",
        "layer.logs.store.bucket",
        "tenants.<tenant>.namespaces.<namespace>.pods",
        "tenants.<tenant>.limits.logRateMB",
    } <= set(settings_paths())


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("file", STACK_FILES, ids=lambda file: str(file.name))
def test_the_schema_takes_every_stack_file_of_the_project(file: Any) -> None:
    jsonschema.validate(yaml.safe_load(file.read_text(encoding="utf-8")), SCHEMA)


SAME = {
    "as shipped": [],
    "no log store": [("layer.logs", "off")],
    "no log store, as false": [("layer.logs", False)],
    "no metrics store": [("layer.metrics", "off")],
    "a switch in words": [("layer.protection", "off")],
    "an autoscaled group": [("cluster.nodeGroups.web.nodes", {"min": 1, "max": 3})],
    "a tenant without logs, as false": [("tenants.shop.logs", False)],
    "chunks in S3": [("layer.logs", {"store": {"kind": "s3", "bucket": "lines", "region": "eu-west-1"}})],
    "an unknown top-level key": [("clustr", {})],
    "an unknown key": [("layer.metrics.retain", "1d")],
    "an unknown kind": [("cluster.target.kind", "eks")],
    "a bad taint effect": [("cluster.nodeGroups.web.taints", [{"key": "a", "effect": "Never"}])],
    "no nodes": [("cluster.nodeGroups.web.nodes", 0)],
    "a bad duration": [("layer.metrics.retention", "15 days")],
    "a bad name": [("tenants.Shop", {"pods": 1})],
    "a number as text": [("tenants.shop.pods", "120")],
    "privileged pods": [("tenants.shop.podSecurity", "privileged")],
    "a fixed part of a mapping in a switch": [("layer.hostMetrics", "existing")],
}


@pytest.mark.parametrize("changes", SAME.values(), ids=SAME)
def test_editor_and_program_agree_on_shapes(changes: list[tuple[str, Any]]) -> None:
    raw = changed({**INCIDENT, "gatewayKey": KEY}, *changes)
    assert is_valid(raw) == is_accepted(raw)


def test_a_secret_in_plain_text_is_marked_in_the_editor() -> None:
    plain = {"config": {**as_stack_file(INCIDENT)["config"], f"{PROJECT}:gatewayKey": KEY}}
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(plain)


def test_generated_files_lie_where_the_documentation_is() -> None:
    assert {SETTINGS_PAGE.parent, SETTINGS_SCHEMA.parent, VERSIONS_PAGE.parent} == {DOCS}
