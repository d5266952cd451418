"""The gateway key and all that derives from it: in Secrets on a cluster, as secrets, and nowhere else in any form."""

import base64
import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest

from components.layer import credentials
from tests.support.environments import INCIDENT, KEY, changed
from tests.support.mocks import SECRET
from tests.unit.components.environments import VARIANTS, empty_cluster, environment

OTHER_KEY = "another-gateway-key-of-more-than-32-bytes"
ON_CLUSTER = VARIANTS["on a cluster"]
RENDERED = [name for name, raw in VARIANTS.items() if raw["cluster"]["target"]["kind"] == "render"]


@contextmanager
def derived(found: set[str]) -> Iterator[None]:
    """Collects every credential that is derived meanwhile."""

    def collecting(make: Callable[..., str]) -> Callable[..., str]:
        def made(*arguments: Any, **more: Any) -> str:
            value = make(*arguments, **more)
            found.add(value)
            return value

        return made

    with (
        mock.patch.object(credentials, "token", collecting(credentials.token)),
        mock.patch.object(credentials, "bcrypt_hash", collecting(credentials.bcrypt_hash)),
    ):
        yield


@functools.cache
def secrets() -> frozenset[str]:
    """What must not be seen: the tests' key and all that an environment derives from it, in all their forms."""
    plain = {KEY}
    with derived(plain):
        environment(ON_CLUSTER, live=empty_cluster(ON_CLUSTER))
    assert (
        len(plain) == 5
    )  # the key, tokens to push, to scrape and for Prometheus, and the last one's bcrypt hash
    return frozenset(form for value in plain for form in forms(value))


def forms(value: str) -> Iterator[str]:
    """A value, its base64 at each offset within a longer text, and hashes that would let it be guessed."""
    yield value
    for offset in range(3):
        encoded = base64.b64encode(b"x" * offset + value.encode()).decode()
        yield encoded[4 if offset else 0 : -4]
    for name in ("md5", "sha1", "sha256"):
        yield hashlib.new(name, value.encode()).hexdigest()[:10]


def seen(text: str) -> list[str]:
    """Which of the secrets a text holds, hidden in the message."""
    return [f"{secret[:3]}... ({len(secret)} characters)" for secret in secrets() if secret in text]


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_input_output_or_warning_shows_a_secret(variant: str) -> None:
    recorded = environment(VARIANTS[variant])
    for registered in recorded.recorder.registered.values():
        assert not seen(json.dumps(registered.public)), registered.urn
        assert not seen(registered.name)
    # Nor in what only looks secret: the configurations of earlier deployments are hidden for their length alone.
    assert not seen(json.dumps(recorded.outputs))
    assert not seen("\n".join(recorded.recorder.warnings))


def test_on_a_cluster_credentials_are_in_secrets_whose_values_the_engine_knows_to_be_secret() -> None:
    recorded = environment(ON_CLUSTER)
    holding = {str(o) for o in recorded.objects if seen(json.dumps(o.inputs))}
    assert holding == {str(o) for o in recorded.of("Secret")}
    assert len(holding) == 3
    for found in recorded.of("Secret"):
        assert found.registered.public["stringData"] == SECRET, str(found)
        assert "data" not in found.inputs


@pytest.mark.parametrize("variant", RENDERED)
def test_a_render_holds_no_credential_at_all_not_even_as_a_secret(variant: str) -> None:
    recorded = environment(VARIANTS[variant])
    for registered in recorded.recorder.registered.values():
        assert not seen(json.dumps(registered.inputs)), registered.urn


@pytest.mark.parametrize("variant", RENDERED)
def test_a_rendered_secret_has_placeholders_for_the_keys_of_the_real_one_and_a_warning_names_it(
    variant: str,
) -> None:
    recorded = environment(VARIANTS[variant])
    on_cluster = {o.name: o for o in environment(ON_CLUSTER).of("Secret")}
    for found in recorded.of("Secret"):
        assert found.inputs["stringData"] == {
            key: f"placeholder: {found.namespace}/{found.name}/{key}"
            for key in on_cluster[found.name].inputs["stringData"]
        }
    warned = [w for w in recorded.recorder.warnings if "is rendered" in w]
    assert len(warned) == len(recorded.of("Secret", "ExternalSecret"))
    for found in recorded.of("Secret", "ExternalSecret"):
        (warning,) = (w for w in warned if f"Secret {found.namespace}/{found.name} " in w)
        assert all(key in warning for key in on_cluster[found.name].inputs["stringData"])


def test_external_secrets_refer_to_the_store_and_hold_no_value() -> None:
    recorded = environment(VARIANTS["external secrets"])
    assert recorded.of("Secret") == []
    expected = {(o.namespace, o.name) for o in environment(ON_CLUSTER).of("Secret")}
    assert {(o.namespace, o.name) for o in recorded.of("ExternalSecret")} == expected
    for found in recorded.of("ExternalSecret"):
        spec = found.inputs["spec"]
        assert spec["secretStoreRef"] == {"kind": "ClusterSecretStore", "name": "vault"}
        assert spec["target"]["name"] == found.name
        assert spec["dataFrom"] == [{"extract": {"key": f"{found.namespace}/{found.name}"}}]


def test_on_a_cluster_nothing_warns() -> None:
    assert environment(ON_CLUSTER).recorder.warnings == []


def test_a_new_key_changes_secrets_and_rolls_what_reads_its_token_only_at_its_start() -> None:
    before, after = environment(ON_CLUSTER), environment(changed(ON_CLUSTER, ("gatewayKey", OTHER_KEY)))
    inputs = {o.registered.urn: o.inputs for o in before.objects}
    assert {str(o) for o in after.objects if inputs[o.registered.urn] != o.inputs} == {
        *(str(o) for o in after.of("Secret")),
        "Deployment observability/loki",
    }
    digests = [
        o.named("Deployment", "loki").inputs["spec"]["template"]["metadata"]["annotations"]
        for o in (before, after)
    ]
    assert digests[0] != digests[1]


def test_the_same_key_gives_the_same_credentials_so_that_a_preview_shows_no_change() -> None:
    once, again = (environment(ON_CLUSTER, live=empty_cluster(ON_CLUSTER)) for _ in range(2))
    assert [o.inputs for o in again.of("Secret")] == [
        next(o.inputs for o in once.of("Secret") if o.name == other.name) for other in again.of("Secret")
    ]


def test_the_key_itself_is_in_no_secret_either() -> None:
    assert INCIDENT["gatewayKey"] == KEY
    for found in environment(ON_CLUSTER).of("Secret"):
        assert KEY not in json.dumps(found.inputs), str(found)
