"""One environment of each kind, recorded once for the whole session."""

import pytest

from tests.unit.components.environments import VARIANTS, Environment, environment


@pytest.fixture(params=VARIANTS)
def recorded(request: pytest.FixtureRequest) -> Environment:
    """Each of the environments in turn: what is asked of it holds for all of them."""
    return environment(VARIANTS[request.param])
