"""Leaves out the traceback with which the program's executor dies when the engine has given up.

After a resource fails, the engine ends its resource monitor and interrupts the Python program that waits for it: 60
lines that say nothing about the failure, between the failure's message and the end.
"""

import re
from collections.abc import Iterator

_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_START = re.compile(r" +Traceback \(most recent call last\):$")
_EXECUTOR = "pulumi-language-python-exec"
# What only an executor that was told to end says. An error of the program is told as `error: Program failed with ...`.
_ENDS = ("KeyboardInterrupt", "Resource monitor has terminated, shutting down")
LEFT_OUT = "    (left out: the traceback of the program, which was ended because a resource failed)\n"


class ExecutorNoise:
    """Filters the engine's output line by line; what it does not know for certain it passes on."""

    def __init__(self) -> None:
        self._after_empty_line = False
        self._held: list[str] = []

    def filtered(self, line: str) -> Iterator[str]:
        """The lines to show after this one came."""
        plain = _COLORS.sub("", line).rstrip("\n")
        if self._held and plain.startswith(" ") and plain.strip():
            self._held.append(line)
            return
        yield from self.rest()
        if self._after_empty_line and _START.fullmatch(plain):
            self._held.append(line)
        else:
            yield line
        self._after_empty_line = not plain.strip()

    def rest(self) -> Iterator[str]:
        """What is still held, at the end of a traceback or of the output."""
        held, self._held = self._held, []
        text = "".join(held)
        if _EXECUTOR in text and any(word in text for word in _ENDS):
            yield LEFT_OUT
        else:
            yield from held
