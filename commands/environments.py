"""The project's environments: one stack file each, `Pulumi.<environment>.yaml`."""

import difflib
import re
from pathlib import Path
from typing import Any

import yaml

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
    """Returns the top-level keys of a stack file; empty where it is no YAML mapping, which the engine then explains."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.YAMLError:
        return {}
    return content if isinstance(content, dict) else {}
