"""The binaries that a simulated cluster runs on, and what to do when one is missing."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TOOLS = PROJECT / ".toolchain" / "bin"
BINARIES = ("kubedev", "kwok")
COMMANDS = {"openssl": "apt-get install openssl", "kubectl": "apt-get install kubernetes-client"}


class SimulatorError(Exception):
    """Why there is no simulated cluster, with the next command to run."""


def require(tools: Path = TOOLS, commands: Sequence[str] = ()) -> None:
    """Raises one error that names every binary and command that is missing, each with the way to get it."""
    wrong = [
        f"{tools / name} is missing: run `make setup`"
        for name in BINARIES
        if not os.access(tools / name, os.X_OK)
    ]
    wrong += [
        f"{c} is not on PATH: install it, on Debian by `{COMMANDS[c]}`"
        for c in ("openssl", *commands)
        if not shutil.which(c)
    ]
    if wrong:
        raise SimulatorError("\n".join(wrong))
