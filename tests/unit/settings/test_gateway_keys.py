"""The key that all tokens derive from, and the one before it while it is being replaced."""

import pytest

from components.settings.load import parse
from components.settings.mistakes import SettingsError
from components.settings.model import Settings
from tests.support.environments import INCIDENT, KEY, PROJECT, changed, config

PREVIOUS = KEY[::-1]
BOTH = ("gatewayKey", "gatewayKeyPrevious")


def parsed(previous: str, secret: tuple[str, ...] = BOTH) -> Settings:
    raw = changed(INCIDENT, ("gatewayKeyPrevious", previous))
    return parse(config(raw), {f"{PROJECT}:{key}" for key in secret}, PROJECT, "dev")


def test_two_keys_are_good_at_once() -> None:
    settings = parsed(PREVIOUS)
    assert settings.gateway_key_previous is not None
    assert settings.gateway_key_previous.get_secret_value() == PREVIOUS
    assert PREVIOUS not in repr(settings)


@pytest.mark.parametrize(
    ("previous", "secret", "says"),
    [
        ("too-short", BOTH, "shorter than 32 bytes"),
        (KEY, BOTH, "nothing is being replaced"),
        (PREVIOUS, ("gatewayKey",), "plain text"),
        ("1" * 31, BOTH, "shorter than 32 bytes"),  # a number is text too
    ],
)
def test_a_wrong_previous_key_has_one_message_and_is_not_shown(
    previous: str, secret: tuple[str, ...], says: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        parsed(previous, secret)
    assert [mistake.path for mistake in caught.value.mistakes] == ["gatewayKeyPrevious"]
    assert says in str(caught.value)
    assert previous not in str(caught.value)
