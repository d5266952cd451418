"""Runs a command that takes long, and says every 20 seconds how far it is."""

from __future__ import annotations

import subprocess
import threading
import time
from typing import TYPE_CHECKING

from toolchain.project import SetupError, say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EVERY_SECONDS = 20
LINES_SHOWN_OF_A_FAILURE = 30


def clock(seconds: float) -> str:
    """Returns a duration as people say it: `8 s`, `4 min 10 s`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02} s"


def run(
    title: str,
    command: list[str],
    *,
    usually: float,
    cwd: Path,
    env: dict[str, str],
    doing: Callable[[list[str]], str],
) -> None:
    """Runs the command without showing its output, unless it fails.

    `usually` is how long it takes on two idle cores, in seconds; `doing` sums up the lines of output so far.
    """
    lines: list[str] = []
    started = time.monotonic()
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
    ) as process:
        reader = threading.Thread(target=lambda: lines.extend(process.stdout or ()), daemon=True)
        reader.start()
        while reader.is_alive():
            reader.join(EVERY_SECONDS)
            if reader.is_alive():
                elapsed = clock(time.monotonic() - started)
                say(f"  {title}: {elapsed} of about {clock(usually)}, {doing(list(lines))}")
    if process.returncode:
        tail = "".join(f"    {line}" for line in lines[-LINES_SHOWN_OF_A_FAILURE:]).rstrip()
        raise SetupError(f"{title}: `{' '.join(command)}` ended with status {process.returncode}:\n{tail}")
    say(f"  {title}: done in {clock(time.monotonic() - started)}")
