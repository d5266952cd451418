"""The gateway key and all that derives from it: in Secrets on a cluster, as secrets, and nowhere else in any form."""

import base64
import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest

from components import names
from components.layer import credentials
from tests.support.environments import KEY, changed
from tests.support.mocks import SECRET
from tests.unit.components.asking import waits_for
from tests.unit.components.environments import (
    CLIENT_SECRET,
    KUBECONFIG,
    VARIANTS,
    Environment,
    Object,
    empty_cluster,
    environment,
)

OTHER_KEY = "another-gateway-key-of-more-than-32-bytes"
ON_CLUSTER = VARIANTS["on a cluster"]
ALL_KINDS = VARIANTS["dashboards of all kinds"]
EVERYTHING = changed(
    ALL_KINDS,
    ("tenants.shop.logs", "api"),
    ("tenants.billing.dashboards", True),
)
OF_LAYER = ("push", "scrape", "gateway", "metrics", "platform", "grafana-admin", "grafana-secret-key")
OF_TENANT = ("read", "grafana-admin", "grafana-secret-key")
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
    """What must not be seen: the tests' keys and all that an environment derives from them, in all their forms."""
    plain = {KEY, CLIENT_SECRET}
    with derived(plain):
        environment(EVERYTHING, live=empty_cluster(EVERYTHING))
    assert plain == expected()
    return frozenset(form for value in plain for form in forms(value))


def expected() -> set[str]:
    """Every credential of an environment with everything in it, told one by one."""
    layer = [credentials.layer_token(KEY, role) for role in OF_LAYER]
    of_tenants = [
        credentials.token(KEY, tenant, role) for tenant in EVERYTHING["tenants"] for role in OF_TENANT
    ]
    hashed = credentials.bcrypt_hash(credentials.layer_token(KEY, "metrics"), KEY)
    collector = credentials.token(KEY, "shop", "write")
    return {KEY, CLIENT_SECRET, hashed, collector, *layer, *of_tenants}


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
    recorded = environment(EVERYTHING)
    holding = {str(o) for o in recorded.objects if seen(json.dumps(o.inputs))}
    assert holding == {str(o) for o in recorded.of("Secret")}
    # Prometheus, Loki, agents, gateway and platform; each tenant's to read and its Grafana's; a collector's.
    assert len(holding) == 5 + 2 * 5 + 1
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
    real = keys_by_secret(environment(changed(VARIANTS[variant], ("cluster.target", KUBECONFIG))))
    for found in recorded.of("Secret"):
        assert found.inputs["stringData"] == {
            key: f"placeholder: {found.namespace}/{found.name}/{key}"
            for key in real[found.namespace, found.name]
        }
    warned = [w for w in recorded.recorder.warnings if "is rendered" in w]
    assert len(warned) == len(recorded.of("Secret", "ExternalSecret")) == len(real)
    for found in recorded.of("Secret", "ExternalSecret"):
        (warning,) = (w for w in warned if f"Secret {found.namespace}/{found.name} " in w)
        assert all(key in warning for key in real[found.namespace, found.name])


def keys_by_secret(recorded: Environment) -> dict[tuple[str, str], set[str]]:
    """Keys of each Secret."""
    return {(o.namespace, rendered(o.name)): set(o.inputs["stringData"]) for o in recorded.of("Secret")}


def rendered(name: str) -> str:
    """The name in a render: on a cluster the gateway's Secret is named after its content."""
    return re.sub("^gateway-tokens-[0-9a-f]{10}$", "gateway-tokens-1", name)


def test_external_secrets_refer_to_the_store_and_hold_no_value() -> None:
    recorded = environment(VARIANTS["external secrets"])
    assert recorded.of("Secret") == []
    expected = {(o.namespace, rendered(o.name)) for o in environment(ON_CLUSTER).of("Secret")}
    assert {(o.namespace, o.name) for o in recorded.of("ExternalSecret")} == expected
    for found in recorded.of("ExternalSecret"):
        spec = found.inputs["spec"]
        assert spec["secretStoreRef"] == {"kind": "ClusterSecretStore", "name": "vault"}
        assert spec["target"]["name"] == found.name
        assert spec["dataFrom"] == [{"extract": {"key": f"{found.namespace}/{found.name}"}}]


def test_on_a_cluster_nothing_warns() -> None:
    assert environment(ON_CLUSTER).recorder.warnings == []


def test_a_new_key_changes_secrets_and_rolls_what_reads_its_token_only_at_its_start() -> None:
    before, after = environment(EVERYTHING), environment(changed(EVERYTHING, ("gatewayKey", OTHER_KEY)))
    inputs = {str(o): o.inputs for o in before.objects}
    rolled = [o for o in after.of("Deployment") if o.name not in ROLLS_NOT]
    assert {str(o) for o in after.objects if inputs.get(str(o)) != o.inputs} == {
        *(str(o) for o in after.of("Secret")),
        *map(str, rolled),
    }
    # Loki's sidecar, the gateway, and a Grafana for the platform and each tenant; a collector rereads its token.
    assert len(rolled) == 2 + 1 + 5
    for found in rolled:
        assert digest(found) != digest(before.named_in(found)), str(found)


ROLLS_NOT = (names.PROMETHEUS, names.KUBE_STATE_METRICS, names.COLLECTOR)


def digest(workload: Object) -> str:
    """The keyed digest on its pods."""
    (value,) = workload.inputs["spec"]["template"]["metadata"]["annotations"].values()
    return str(value)


def test_a_raised_generation_changes_one_tenants_credentials_and_what_holds_them_and_no_others() -> None:
    before = environment(EVERYTHING)
    after = environment(changed(EVERYTHING, ("tenants.shop.tokenGeneration", 2)))
    inputs = {str(o): o.inputs for o in before.objects}
    (tokens,) = (str(o) for o in after.of("Secret") if o.name.startswith("gateway-tokens-"))
    assert {str(o) for o in after.objects if inputs.get(str(o)) != o.inputs} == {
        f"Secret shop/{names.READ_SECRET}",
        f"Secret shop/{names.TENANT_GRAFANA}",
        f"Secret shop/{names.COLLECTOR}",
        f"Deployment shop/{names.TENANT_GRAFANA}",
        tokens,
        f"Deployment {names.LAYER_NAMESPACE}/{names.GATEWAY}",
    }


def test_a_tenants_credentials_change_only_after_the_gateway_knows_them() -> None:
    """A collector drops lines that are answered with 401."""
    recorded = environment(EVERYTHING)
    gateway = recorded.named("Deployment", names.GATEWAY).registered
    for found in recorded.of("Secret", "Deployment"):
        if found.namespace in recorded.tenant_namespaces:
            assert gateway.urn in waits_for(recorded, found), str(found)


def test_the_same_key_gives_the_same_credentials_so_that_a_preview_shows_no_change() -> None:
    once, again = (environment(EVERYTHING, live=empty_cluster(EVERYTHING)) for _ in range(2))
    assert [o.inputs for o in again.of("Secret")] == [
        once.named_in(other).inputs for other in again.of("Secret")
    ]


def test_the_key_itself_is_in_no_secret_either() -> None:
    assert EVERYTHING["gatewayKey"] == KEY
    for found in environment(EVERYTHING).of("Secret"):
        assert KEY not in json.dumps(found.inputs), str(found)


def test_the_identity_providers_secret_is_in_the_one_grafana_that_it_belongs_to() -> None:
    recorded = environment(EVERYTHING)
    holding = [str(o) for o in recorded.objects if CLIENT_SECRET in json.dumps(o.inputs)]
    assert holding == [f"Secret shop/{names.TENANT_GRAFANA}"]
