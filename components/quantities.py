"""Kubernetes quantities: `1.7Gi`, `500M`, `250m`, `1e9`."""

import re
from decimal import Decimal, InvalidOperation

BINARY = {
    suffix: Decimal(1024) ** (power + 1) for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))
}
DECIMAL = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal("1e3"),
    "M": Decimal("1e6"),
    "G": Decimal("1e9"),
    "T": Decimal("1e12"),
    "P": Decimal("1e15"),
    "E": Decimal("1e18"),
}
SUFFIXES = {**BINARY, **DECIMAL}
QUANTITY = re.compile(r"^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]{0,2})$")


def parse(text: str) -> Decimal | None:
    """The amount that a text says; None if it is no quantity."""
    match = QUANTITY.match(text.strip())
    if match is None or match[2] not in SUFFIXES:
        return None
    try:
        return Decimal(match[1]) * SUFFIXES[match[2]]
    except InvalidOperation:
        return None


def mebibytes(size: str) -> int:
    """A size such as `50Gi` in whole MiB; 0 for a text that is no size."""
    return int((parse(size) or Decimal(0)) / BINARY["Mi"])
