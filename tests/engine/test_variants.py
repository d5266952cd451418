"""Environments of other shapes, rendered from nothing: what is off is absent, and secrets are only referred to."""

import base64
from pathlib import Path

import pytest

from components import names
from tests.engine.conftest import JOURNEY_SECONDS, Journey
from tests.support.engine import Manifest, Stack, named

pytestmark = pytest.mark.timeout(JOURNEY_SECONDS)


def placeholders(secret: Manifest) -> dict[str, str]:
    """A rendered Secret's values as text."""
    return {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}


def test_each_value_of_each_rendered_secret_is_its_placeholder_and_a_warning_names_it(
    journey: Journey,
) -> None:
    step = journey["deployed"]
    secrets = [m for m in step.manifests.values() if m["kind"] == "Secret"]
    assert len(secrets) >= 3
    for secret in secrets:
        where = f"{secret['metadata']['namespace']}/{secret['metadata']['name']}"
        assert placeholders(secret) == {key: f"placeholder: {where}/{key}" for key in secret["data"]}
        assert placeholders(secret)
        assert "stringData" not in secret
        assert f"warning: Secret {where} is rendered with placeholders" in step.output


def test_external_secrets_and_metrics_off(folder: Path) -> None:
    stack = Stack(folder)
    output = stack.up(
        ("layer.renderedSecrets", {"kind": "externalSecret", "store": "vault"}),
        ("layer.metrics", "off"),
    )
    manifests = named(stack.manifests())
    assert not [name for name in manifests if name.startswith("Secret ")]
    assert "plaintext" not in output
    external = {name: m["spec"] for name, m in manifests.items() if m["kind"] == "ExternalSecret"}
    assert f"ExternalSecret {names.NODES_NAMESPACE}/loki-push" in external
    for name, spec in external.items():
        where = name.partition(" ")[2]
        assert spec["dataFrom"] == [{"extract": {"key": where}}]
        assert f"Secret {where} is rendered as a reference" in output
    absent = (names.PROMETHEUS, names.KUBE_STATE_METRICS, names.NODE_EXPORTER)
    assert not [name for name in manifests if any(part in name for part in absent)]
    assert f"Deployment {names.LAYER_NAMESPACE}/{names.LOKI}" in manifests


def test_an_environment_without_tenants_is_the_layer_alone(folder: Path) -> None:
    stack = Stack(folder)
    stack.up(("tenants", {}))
    where = {m["metadata"].get("namespace") for m in stack.manifests()}
    assert where == {None, "default", names.LAYER_NAMESPACE, names.NODES_NAMESPACE}
    assert stack.outputs()["tenants"] == {}
