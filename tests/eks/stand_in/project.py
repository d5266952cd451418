"""The small program of this folder, run by the real engine with the stand-in for the AWS provider."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from commands.engine import engine_environment, run_pulumi
from tests.eks.steps import Step, planned

FOLDER = Path(__file__).parent
STACK = "dev"  # its passphrase is public


@dataclass
class Project:
    """One stack of the program.

    Attributes:
        folder: for its state and its settings.
        attach: the variables of the stand-in.
        subnets: for its cluster.
        change: what the program varies.
    """

    folder: Path
    attach: dict[str, str]
    subnets: list[str]
    change: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pulumi("stack", "init", STACK, "--no-select")

    def up(self, **change: str) -> str:
        """Deploys, with the program changed for good."""
        self.change.update(change)
        return self._succeeds("up", "--yes", "--skip-preview")

    def fails(self, command: str, **change: str) -> str:
        """What the engine says when `preview` or `up` fails, with a change that is then forgotten."""
        options = ("--yes", "--skip-preview") if command == "up" else ()
        status, said = self._run(command, {**self.change, **change}, *options)
        assert status != 0, f"{command} does not fail:\n{said}"
        return said

    def plan(self, **change: str) -> list[Step]:
        """The steps of a preview, with a change that is then forgotten."""
        status, said = self._run("preview", {**self.change, **change}, "--json")
        assert status == 0, said
        return planned(said)

    def refresh(self, *options: str) -> str:
        """Takes AWS's state over."""
        return self._succeeds("refresh", "--yes", "--skip-preview", *options)

    def destroy(self) -> str:
        """Removes everything."""
        return self._succeeds("destroy", "--yes", "--skip-preview")

    def outputs(self) -> dict[str, Any]:
        """What the program exports."""
        return dict(json.loads(self._pulumi("stack", "output", "--json", "--stack", STACK)[1]))

    def _succeeds(self, command: str, *options: str) -> str:
        status, said = self._run(command, self.change, *options)
        assert status == 0, f"{command} fails:\n{said}"
        return said

    def _run(self, command: str, change: dict[str, str], *options: str) -> tuple[int, str]:
        file = self.folder / f"Pulumi.{STACK}.yaml"
        config = {"stand-in:change": change, "stand-in:subnets": self.subnets}
        salt = yaml.safe_load(file.read_text()) if file.exists() else {}
        file.write_text(yaml.safe_dump({**salt, "config": config}))
        return self._pulumi(command, "--stack", STACK, "--config-file", str(file), *options)

    def _pulumi(self, *arguments: str) -> tuple[int, str]:
        with engine_environment(STACK, backend=f"file://{self.folder / 'state'}") as environment:
            done = run_pulumi(
                ["--cwd", str(FOLDER), *arguments], {**environment, **self.attach}, capture=True
            )
        return done.returncode, done.stdout
