"""The workflows and actions under .github, as data."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from commands.environments import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONS = sorted((ROOT / ".github" / "actions").glob("*/action.yml"))


@dataclass(frozen=True)
class Job:
    """One job, with the workflow that it belongs to."""

    workflow: str
    name: str
    raw: dict[str, Any]

    @property
    def steps(self) -> list[dict[str, Any]]:
        """Its steps; none where it calls another workflow."""
        return list(self.raw.get("steps", []))


def read(file: Path) -> dict[str, Any]:
    """A workflow's or an action's YAML; its key `on` is not taken for a truth value."""
    raw = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    assert isinstance(raw, dict)
    return raw


def jobs() -> list[Job]:
    """All jobs of all workflows."""
    return [Job(file.stem, name, raw) for file in WORKFLOWS for name, raw in read(file)["jobs"].items()]


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    """All steps of all jobs and actions, with where they are."""
    for job in jobs():
        yield from ((f"{job.workflow}/{job.name}", step) for step in job.steps)
    for file in ACTIONS:
        yield from ((file.parent.name, step) for step in read(file)["runs"]["steps"])
