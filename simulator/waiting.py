"""Waiting with a reason: what is waited for is asked again and again, and a failure says what was seen last."""

import time
from collections.abc import Callable
from typing import TypeVar

from simulator.tools import SimulatorError

STEP_SECONDS = 0.05
Answer = TypeVar("Answer")


class WaitedInVainError(SimulatorError):
    """What did not happen, how long it was waited for, and what was seen instead."""


def wait_until(condition: Callable[[], Answer], seconds: float, reason: Callable[[], str] | str) -> Answer:
    """Returns the condition's first true answer.

    Args:
        condition: asked every 50 ms; what it raises is passed on.
        seconds: how long.
        reason: what to say when it never came true; a function is asked at the end only.

    Raises:
        WaitedInVainError: with the reason.
    """
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > deadline:
            told = reason if isinstance(reason, str) else reason()
            raise WaitedInVainError(f"after {seconds:g} s: {told}")
        time.sleep(STEP_SECONDS)
    return answer
