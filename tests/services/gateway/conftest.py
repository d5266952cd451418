"""Two worlds that differ only in what is foreign to `shop` and `mail`; they end with the run, however it ends."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.services.gateway import samples
from tests.services.gateway.stack import Gateway, World, start_world


@pytest.fixture(scope="session")
def worlds() -> Iterator[tuple[World, World]]:
    with ExitStack() as stack:
        one, two = (start_world(stack, owners) for owners in samples.WORLDS)
        yield one, two


@pytest.fixture
def world(worlds: tuple[World, World]) -> World:
    worlds[0].stores.behind.seen.clear()
    return worlds[0]


@pytest.fixture
def gateway(world: World) -> Gateway:
    return world.gateway
