"""The project's environments: one stack file each, `Pulumi.<environment>.yaml`."""

import difflib
import re
from pathlib import Path
from typing import Any

from components.settings.mistakes import SettingsError
from components.settings.stack_file import content_of

ROOT = Path(__file__).resolve().parent.parent
# What Pulumi takes as a stack's name and Kubernetes as a label's value, less the dot: it would make another file name.
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?")


class CommandError(Exception):
    """Why a command cannot be run, in a text for the user that ends with what to do."""


def stack_file(environment: str, root: Path = ROOT) -> Path:
    """Returns the environment's stack file; an unknown environment is an error that lists those there are."""
    file = root / f"Pulumi.{environment}.yaml"
    if NAME.fullmatch(environment) and file.is_file():
        return file
    known = sorted(p.name.split(".")[1] for p in root.glob("Pulumi.*.yaml"))
    there_are = f"there are: {', '.join(known)}" if known else "there are none yet"
    close = difflib.get_close_matches(environment, known, n=1)
    hint = f"; did you mean ENV={close[0]}?" if close else ""
    raise CommandError(
        f"no environment {environment!r} (a file Pulumi.{environment}.yaml); {there_are}{hint}"
    )


def stack_settings(file: Path) -> dict[str, Any]:
    """Returns the top-level keys of a stack file.

    Raises:
        CommandError: if it is no YAML mapping, with the line.
    """
    try:
        return content_of(file, file.name.split(".")[1])
    except SettingsError as error:
        raise CommandError(str(error)) from None
