"""Revoked tokens stay revoked: a tenant's generation never falls. Pure.

Tokens are derived from name, role and generation. So a new team under a removed team's name has the very tokens that
the old team's people may have kept, unless its generation is raised: that is said, and not refused, since a record that
was deleted by mistake comes back too.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.settings.mistakes import Mistake
from components.settings.model import Settings

OUTPUT = "tokenGenerations"


def known(settings: Settings, outputs: Mapping[str, Any]) -> dict[str, int]:
    """The generation of each tenant that there is or was, for the next deployment.

    Args:
        settings: of the environment.
        outputs: what this stack exported last.
    """
    now = {name: tenant.token_generation for name, tenant in settings.tenants.items()}
    return dict(sorted({**_before(outputs), **now}.items()))


def mistakes(settings: Settings, outputs: Mapping[str, Any]) -> Iterator[Mistake]:
    """Generations whose tokens were revoked by raising them.

    Args:
        settings: of the environment.
        outputs: what this stack exported last; empty before the first deployment.
    """
    for name, before, stated in _both(settings, outputs):
        if stated < before:
            yield Mistake(
                f"tenants.{name}.tokenGeneration",
                f"is {stated} and was {before}: tokens that were revoked would be good again",
                f"Keep {before}, or raise it",
            )


def warnings(settings: Settings, outputs: Mapping[str, Any]) -> list[str]:
    """Tenants whose name is back with the generation that it had when it was removed; `mistakes` has the lower ones."""
    there = outputs.get("tenants") or {}
    return [
        f"tenants.{name}: a tenant of this name was removed, and whoever has kept its tokens can read and write with "
        f"them again. If that is not the same team: tokenGeneration: {before + 1}"
        for name, before, stated in _both(settings, outputs)
        if name not in there and stated == before
    ]


def _both(settings: Settings, outputs: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    for name, before in _before(outputs).items():
        if name in settings.tenants:
            yield name, before, settings.tenants[name].token_generation


def _before(outputs: Mapping[str, Any]) -> dict[str, int]:
    # Numbers of an output arrive as floats.
    return {name: int(generation) for name, generation in (outputs.get(OUTPUT) or {}).items()}
