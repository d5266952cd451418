"""Reads of plain settings that have not been validated yet: what has the wrong shape counts as not stated."""

from collections.abc import Mapping
from typing import Any

from components.taints import is_hard

Raw = Mapping[str, Any]
HOURS = {"h": 1, "d": 24, "w": 24 * 7, "y": 24 * 365}


def mapping(value: Any) -> Raw:
    """The value if it is a mapping, else an empty one: the model reports the wrong shape."""
    return value if isinstance(value, Mapping) else {}


def texts(value: Any) -> list[tuple[int, str]]:
    """The texts of a list with their places, passing over what is no text."""
    items = value if isinstance(value, list) else []
    return [(i, item) for i, item in enumerate(items) if isinstance(item, str)]


def hours(duration: Any) -> int | None:
    """A duration such as `7d` in hours, or None if it is malformed."""
    text = duration if isinstance(duration, str) else ""
    return (
        int(text[:-1]) * HOURS[text[-1]]
        if text[:-1].isascii() and text[:-1].isdigit() and text[-1] in HOURS
        else None
    )


def is_off(value: Any) -> bool:
    """`off` or false."""
    return value is False or value in ("off", "none")


def has_hard_taints(group: Any) -> bool:
    """Whether a node group has taints that keep out pods without tolerations."""
    taints = mapping(group).get("taints")
    items = taints if isinstance(taints, list) else []
    return any(is_hard(mapping(taint).get("effect")) for taint in items)
