"""The pack's settings: one file for the engine and for `policies.check`."""

import json
from pathlib import Path

import pytest

from policies.config import ConfigError, PackSettings, json_schema, read, take_apart
from policies.rules import RULES
from policies.verdict import Level
from tests.policies.layers import LAYERS, objects, only, run

AGENT = (
    "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a, namespace: n}, spec: {template: {spec: {}}}}"
)


def test_both_forms_of_the_engines_file_are_read(tmp_path: Path) -> None:
    policies = {"all": "advisory", "pod-slots": {"enforcementLevel": "disabled", "leaveFree": 3}}
    first, second = tmp_path / "1.json", tmp_path / "2.yaml"
    first.write_text(json.dumps({**policies, "environments": ["a/b"]}))
    second.write_text(json.dumps({"version": 2, "policies": policies, "exceptions": {}}))
    for file in (first, second):
        config = read(file)
        assert config.level("pod-slots", Level.MANDATORY) is Level.DISABLED
        assert config.level("memory-hpa", Level.MANDATORY) is Level.ADVISORY
        assert config.properties["pod-slots"] == {"leaveFree": 3}


def test_remediate_means_mandatory_since_no_rule_changes_objects() -> None:
    assert take_apart({"pod-slots": "remediate"}).level("pod-slots", Level.ADVISORY) is Level.MANDATORY


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"pod-slots": "fatal"}, "pod-slots: level 'fatal' is none of mandatory, advisory, disabled"),
        ({"pod-slots": 3}, "pod-slots: expected a level or an object"),
        ({"pack-settings": {"tenant": {}}}, "pack-settings.tenant: Extra inputs are not permitted"),
        (
            {"pack-settings": {"nodeGroups": {"a": {"instanceTypes": ["t3.large"]}}}},
            "pack-settings.nodeGroups.a.nodes: Field required",
        ),
    ],
)
def test_mistakes_name_the_key(raw: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        take_apart(raw)


def test_a_mistake_does_not_repeat_the_value() -> None:
    with pytest.raises(ConfigError) as error:
        take_apart({"pack-settings": {"stackTenant": ["hunter2"]}})
    assert "hunter2" not in str(error.value)


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    for name, text in (("a.json", "{"), ("b.json", "[]")):
        (tmp_path / name).write_text(text)
        with pytest.raises(ConfigError, match=name):
            read(tmp_path / name)
    with pytest.raises(ConfigError, match=r"c\.json"):
        read(tmp_path / "c.json")


@pytest.mark.parametrize("layer", LAYERS)
def test_a_disabled_rule_says_nothing(layer: str) -> None:
    assert (
        only(run(layer, objects(AGENT), config={"daemonset-placement": "disabled"}), "daemonset-placement")
        == []
    )


@pytest.mark.parametrize("layer", LAYERS)
def test_what_cannot_be_decided_can_count_as_a_violation(layer: str) -> None:
    text = AGENT.replace("{spec: {}}", "{spec: {nodeSelector: <unknown>}}")
    assert only(run(layer, objects(text)), "daemonset-placement") == ["undecided"]
    config = {"daemonset-placement": {"undecided": "violation"}}
    assert only(run(layer, objects(text), config=config), "daemonset-placement") == ["violation"]


@pytest.mark.parametrize("layer", LAYERS)
def test_which_labels_are_universal_is_a_setting(layer: str) -> None:
    text = AGENT.replace("{spec: {}}", "{spec: {nodeSelector: {team: platform}}}")
    assert only(run(layer, objects(text)), "daemonset-placement") == []
    config = {"daemonset-placement": {"universalLabels": ["team", "kubernetes.io/os"]}}
    assert only(run(layer, objects(text), config=config), "daemonset-placement") == ["violation"]


def test_every_schema_is_what_the_engine_takes() -> None:
    for model in (PackSettings, *(rule.settings for rule in RULES)):
        schema = json_schema(model)
        assert "$ref" not in json.dumps(schema)
        assert "enforcementLevel" not in schema
        assert all(isinstance(member, dict) for member in schema.values())


def test_defaults_of_the_engine_are_the_defaults_of_the_code() -> None:
    for rule in RULES:
        defaults = {key: schema["default"] for key, schema in json_schema(rule.settings).items()}
        assert rule.settings.model_validate(defaults) == rule.settings()
