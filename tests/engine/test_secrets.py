"""The gateway key and what derives from it, looked for in everything that the engine writes or prints."""

import base64
from collections.abc import Iterator
from hashlib import sha256

import pytest

from commands.environments import ROOT
from components.cluster.refusals.public_key import PUBLIC_KEYS
from components.layer import credentials
from tests.engine.conftest import JOURNEY_SECONDS, Journey
from tests.support.engine import STACK, STACK_FILE
from tests.support.stack_files import KEY

pytestmark = pytest.mark.timeout(JOURNEY_SECONDS)
LAYER_ROLES = ("push", "scrape", "metrics", "read", "gateway")
TENANT_ROLES = ("read", "write", "platform")


@pytest.fixture(scope="session")
def key(journey: Journey) -> str:
    """The key of dev, as the engine decrypts it."""
    file = journey.stack.folder / STACK_FILE
    done = journey.stack.pulumi("config", "get", KEY, "--stack", STACK, "--config-file", str(file))
    value = done.output.strip()
    journey.stack.said = journey.stack.said.replace(done.output, "")
    assert len(value) >= 32
    return value


@pytest.fixture(scope="session")
def secrets(key: str) -> set[str]:
    """The key, every token, the password's hash, and the base64 forms of each."""
    tokens = [credentials.layer_token(key, role) for role in LAYER_ROLES]
    tokens += [
        credentials.token(key, t, role) for t in ("shop", "mobile", "platform") for role in TENANT_ROLES
    ]
    hashed = credentials.bcrypt_hash(credentials.layer_token(key, "metrics"), key)
    return {form for value in (key, *tokens, hashed) for form in forms(value)}


def forms(value: str) -> Iterator[str]:
    """A text, and what is the same in its base64 at each place within a longer text."""
    yield value
    for offset in range(3):
        encoded = base64.b64encode(b"x" * offset + value.encode()).decode()
        yield encoded[4 if offset else 0 : -4]


def seen(text: str, secrets: set[str]) -> list[str]:
    """Beginnings of the secrets that a text holds."""
    return [secret[:4] for secret in secrets if secret in text]


@pytest.mark.parametrize("environment", ["dev", "sim", "eks"])
def test_the_program_knows_the_public_keys(environment: str, journey: Journey) -> None:
    file = ROOT / f"Pulumi.{environment}.yaml"
    done = journey.stack.pulumi("config", "get", KEY, "--stack", STACK, "--config-file", str(file))
    journey.stack.said = journey.stack.said.replace(done.output, "")
    assert sha256(done.output.strip().encode()).hexdigest() in PUBLIC_KEYS


def test_a_secret_would_be_found(key: str, secrets: set[str]) -> None:
    for longer in (
        key,
        base64.b64encode(f"token={key};".encode()).decode(),
        f"Bearer {credentials.layer_token(key, 'push')}",
    ):
        assert seen(longer, secrets)


def test_no_secret_is_in_any_file_of_the_state_or_of_the_render(journey: Journey, secrets: set[str]) -> None:
    """State, its history and backups; the stack file holds the key encrypted."""
    files = [file for file in journey.stack.folder.rglob("*") if file.is_file()]
    assert any(file.name == f"{STACK}.json" for file in files)
    assert any("history" in file.parts for file in files)
    for file in files:
        assert not seen(file.read_text(), secrets), file
    for step in journey.steps.values():
        for name, text in step.files.items():
            assert not seen(text, secrets), name


def test_no_secret_is_in_anything_that_the_engine_printed(journey: Journey, secrets: set[str]) -> None:
    assert "Resources:" in journey.stack.said
    assert not seen(journey.stack.said, secrets)


def test_the_key_is_known_to_the_engine_as_a_secret_and_shown_as_such(journey: Journey, key: str) -> None:
    file = journey.stack.folder / STACK_FILE
    done = journey.stack.pulumi("config", "--stack", STACK, "--config-file", str(file))
    assert "[secret]" in done.output
    assert key not in done.output
