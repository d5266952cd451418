"""Leaves out the traceback with which the program's executor dies when the engine has given up.

After a resource fails, the engine ends its resource monitor and interrupts the Python program that waits for it: 60
lines that say nothing about the failure, shown twice, between the failure's message and the end.
"""

import re
from collections.abc import Iterator

_COLORS = re.compile(r"\x1b\[[0-9;]*m")
# In the diagnostics a traceback is indented and follows an empty line; while the engine runs, each of its lines has the
# stack's row before it.
_START = re.compile(r"(?P<row>.*pulumi:pulumi:Stack \S+ .*?| +)Traceback \(most recent call last\):")
_EXECUTOR = "pulumi-language-python-exec"
# What only an executor that was told to end says. An error of the program is told as `error: Program failed with ...`.
_ENDS = ("KeyboardInterrupt", "Resource monitor has terminated, shutting down")
LEFT_OUT = "    (left out: the traceback of the program, which was ended because a resource failed)\n"


class ExecutorNoise:
    """Filters the engine's output line by line; what it does not know for certain it passes on."""

    def __init__(self) -> None:
        self._after_empty_line = False
        self._row = ""
        self._held: list[str] = []

    def filtered(self, line: str) -> Iterator[str]:
        """The lines to show after this one came."""
        plain = _COLORS.sub("", line).rstrip("\n")
        if self._held and self._continues(plain):
            self._held.append(line)
            return
        yield from self.rest()
        start = _START.fullmatch(plain)
        if start and (self._after_empty_line or start["row"].strip()):
            self._row = _without_seconds(start["row"]).rstrip()
            self._held.append(line)
        else:
            yield line
        self._after_empty_line = not plain.strip()

    def _continues(self, plain: str) -> bool:
        return plain.startswith(" ") and plain.strip() != "" and _without_seconds(plain).startswith(self._row)

    def rest(self) -> Iterator[str]:
        """What is still held, at the end of a traceback or of the output."""
        held, self._held = self._held, []
        text = "".join(held)
        if not (_EXECUTOR in text and any(word in text for word in _ENDS)):
            yield from held
        elif not self._row:
            yield LEFT_OUT


def _without_seconds(row: str) -> str:
    return re.sub(r"\(\d+s\)", "", row)
