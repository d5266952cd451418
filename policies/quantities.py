"""Quantities in a manifest, and in messages."""

from decimal import Decimal

from components.quantities import BINARY, parse
from policies.values import Field


def quantity(field: Field) -> Decimal | None:
    """The amount, or None if it is missing, unknown or no quantity; YAML writes whole numbers without quotes."""
    if field.number is not None:
        return Decimal(str(field.number))
    return parse(field.text or "")


def gibibytes(amount: Decimal) -> str:
    """For messages: `1.70Gi`."""
    return f"{amount / BINARY['Gi']:.2f}Gi"
