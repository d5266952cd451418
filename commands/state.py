"""The state of an environment, as the engine exports it."""

import json
import subprocess

from commands.environments import CommandError
from diagnosis.drift import Declared, declared


def export_arguments(environment: str) -> list[str]:
    """Arguments of the CLI. Secrets come in plain text, to be compared in memory like everything else."""
    return ["stack", "export", "--stack", environment, "--show-secrets"]


def objects_of(done: "subprocess.CompletedProcess[str]") -> list[Declared]:
    """What the state says was declared.

    Raises:
        CommandError: if the export failed.
    """
    if done.returncode:
        raise CommandError(f"the state cannot be read: {done.stdout.strip()}")
    return declared(json.loads(done.stdout))
