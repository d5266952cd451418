"""Turns what the policy SDK hands over into plain data, once, so that no rule meets the SDK's proxies.

Why not read the proxies: they are neither `dict` nor `list`, lists never equal a list, `in` and `.get` raise on
unknown values and slices leak the sentinels (measured on pulumi_policy 1.21). The proxies keep the raw value under
`"__target"`, where an unknown value is one of seven texts; those become `UNKNOWN` here. Secrets arrive in plain
text: rules must not put values into messages.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from policies.values import UNKNOWN

# The engine's texts for values that are not known, as in `pulumi_policy.proxy`; a test compares the two.
SENTINELS: Final = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",  # string
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)
# State files mark secrets and the like by this key; a ciphertext is a value that nobody here can read.
SIGNATURE_KEY: Final = "4dabf18193072939515e22adb298388d"
SECRET_SIGNATURE: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105, it marks secrets and is none
# `pulumi policy analyze --file` puts this in place of secrets that it cannot decrypt.
UNREADABLE_SECRET: Final = "[secret]"  # noqa: S105


def plain(value: Any) -> Any:
    """A deep copy as None, bool, int, float, str, list, dict and `UNKNOWN`.

    Args:
        value: the SDK's proxies, plain Python data, or what a YAML or JSON file holds.
    """
    raw = _unwrap(value)
    if isinstance(raw, str):
        return UNKNOWN if raw in SENTINELS or raw == UNREADABLE_SECRET else raw
    if raw is None or isinstance(raw, bool | int | float) or raw is UNKNOWN:
        return raw
    if isinstance(raw, Mapping):
        return _mapping(raw)
    if isinstance(raw, Sequence | set | frozenset) and not isinstance(raw, bytes | bytearray):
        return [plain(element) for element in raw]
    return str(raw)  # dates of YAML, assets of Pulumi


def _mapping(raw: Mapping[Any, Any]) -> Any:
    if SIGNATURE_KEY in raw:
        if raw[SIGNATURE_KEY] != SECRET_SIGNATURE or "value" not in raw:
            return UNKNOWN
        return plain(raw["value"])
    return {str(key): plain(member) for key, member in raw.items()}


def _unwrap(value: Any) -> Any:
    """The raw value behind a proxy: `"__target"` is the one look-up that does not raise."""
    if isinstance(value, dict | list | str):
        return value
    if isinstance(value, Mapping | Sequence) and type(value).__module__.startswith("pulumi_policy"):
        return value["__target"]  # type: ignore[call-overload]
    return value
