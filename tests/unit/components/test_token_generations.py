"""Revoked tokens stay revoked."""

from typing import Any

import pytest

from components.tenant import token_generations
from tests.support.environments import INCIDENT, changed, parsed
from tests.unit.components.environments import environment

G = "tenants.shop.tokenGeneration"


def deployed(*changes: tuple[str, Any], outputs: dict[str, Any] | None = None) -> dict[str, Any]:
    """What is exported with these settings, after a deployment that exported `outputs`."""
    return environment(changed(INCIDENT, *changes), outputs=outputs or {}).outputs


def told(outputs: dict[str, Any], *changes: tuple[str, Any]) -> tuple[list[str], list[str]]:
    """Mistakes' texts, and warnings."""
    settings = parsed(changed(INCIDENT, *changes))
    return (
        [str(found) for found in token_generations.mistakes(settings, outputs)],
        token_generations.warnings(settings, outputs),
    )


def test_a_generation_cannot_fall() -> None:
    before = deployed((G, 3))
    assert told(before, (G, 3)) == told(before, (G, 4)) == ([], [])
    (mistake,), warnings = told(before, (G, 2))
    assert mistake.startswith(f"{G}: is 2 and was 3: tokens that were revoked would be good again. Keep 3")
    assert warnings == []
    (unset,), _ = told(before)
    assert "is 1 and was 3" in unset
    with pytest.raises(SystemExit):
        deployed((G, 2), outputs=before)


def test_a_name_that_comes_back_is_told_until_it_is_deployed_however_long_it_was_away() -> None:
    outputs = deployed((G, 3))
    for _ in range(2):
        outputs = deployed(("tenants.shop", None), outputs=outputs)
        assert outputs["tokenGenerations"]["shop"] == 3
    mistakes, (warning,) = told(outputs, (G, 3))
    assert mistakes == []
    assert "tokenGeneration: 4" in warning
    assert warning.startswith("tenants.shop: ")
    assert told(outputs, (G, 4)) == ([], [])
    again = deployed((G, 3), outputs=outputs)
    assert told(again, (G, 3)) == ([], [])


def test_a_first_deployment_and_one_of_an_earlier_release_have_nothing_to_compare_with() -> None:
    assert told({}) == told({"tenants": {"shop": ["shop"]}}) == ([], [])


def test_the_engines_numbers_are_read_as_whole_ones() -> None:
    (mistake,), _ = told({"tenants": {"shop": ["shop"]}, "tokenGenerations": {"shop": 2.0}})
    assert "was 2:" in mistake
