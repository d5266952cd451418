"""The real program on EKS, by the real engine: its stack `sim` has a public passphrase, its AWS is the stand-in."""

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commands.engine import POLICIES, engine_environment, run_pulumi
from tests.eks.steps import Step, planned
from tests.support import stack_files
from tests.support.environments import PROJECT, changed
from tests.support.stack_files import OWN_KEY_OF_SIM

STACK = "sim"
Change = tuple[str, Any]
AT_ONCE = ("--yes", "--skip-preview")
OPTIONS = {"preview": (), "up": AT_ONCE, "destroy": AT_ONCE, "refresh": AT_ONCE}

# A frame of the program. When the engine ends it in the middle of a registration, after a provider has refused, the SDK
# may print a traceback of its own (seen once in two runs of one test).
OWN_TRACEBACK = re.compile(r'File "[^"]*/(__main__|components/.*|policies/.*)\.py"')


@dataclass(frozen=True)
class Done:
    """One command: its exit status, and all that it printed."""

    status: int
    said: str


@dataclass
class Deployment:
    """One environment.

    Attributes:
        folder: for its state and its stack file.
        settings: `cluster`, `layer` and `tenants`.
        attach: the variables with which the engine uses the stand-in for the AWS provider.
        path: the folder with the stand-in for the AWS CLI; it comes first on PATH.
    """

    folder: Path
    settings: dict[str, Any]
    attach: dict[str, str]
    path: Path
    _made: bool = field(default=False, init=False)

    def change(self, *changes: Change) -> None:
        """Sets values at dotted paths for all that follows; None removes one."""
        self.settings = changed(self.settings, *changes)

    def up(self, *changes: Change) -> str:
        """Deploys, with settings changed for good."""
        self.change(*changes)
        return self._succeeds("up")

    def refresh(self) -> str:
        """Takes over what AWS and the cluster say."""
        return self._succeeds("refresh")

    def destroy(self) -> str:
        """Removes everything."""
        return self._succeeds("destroy")

    def plan(self, *changes: Change) -> list[Step]:
        """The steps of a preview, with settings that are then forgotten; those that change nothing are left out."""
        done = self._with(changes, "preview", "--json")
        assert done.status == 0, done.said
        return planned(done.said)

    def preview(self, *changes: Change, **variables: str) -> str:
        """What a preview says that succeeds."""
        done = self._with(changes, "preview", **variables)
        assert done.status == 0, done.said
        return done.said

    def judged(self, *changes: Change) -> str:
        """What a preview says with the policy pack, which has to be content."""
        done = self._with(changes, "preview", "--policy-pack", str(POLICIES))
        assert done.status == 0, done.said
        return done.said

    def refused(self, *changes: Change, command: str = "preview", **variables: str) -> str:
        """What is said when a command is refused with these settings, which are then forgotten."""
        done = self._with(changes, command, **variables)
        assert done.status != 0, f"{command} is not refused:\n{done.said}"
        assert not OWN_TRACEBACK.search(done.said), done.said
        return done.said

    def outputs(self) -> dict[str, Any]:
        """What the stack exports."""
        done = self._pulumi("stack", "output", "--json", "--stack", STACK)
        assert done.status == 0, done.said
        return dict(json.loads(done.said))

    def resources(self) -> list[dict[str, Any]]:
        """Everything in the state, as the engine wrote it."""
        return list(json.loads(self.state_file.read_text())["checkpoint"]["latest"].get("resources") or [])

    @property
    def state_file(self) -> Path:
        """The state."""
        return self.folder / "state" / ".pulumi" / "stacks" / PROJECT / f"{STACK}.json"

    def _succeeds(self, command: str) -> str:
        done = self.run(command)
        assert done.status == 0, f"{command} fails:\n{done.said}"
        return done.said

    def _with(self, changes: tuple[Change, ...], command: str, *options: str, **variables: str) -> Done:
        before = self.settings
        self.change(*changes)
        try:
            return self.run(command, *options, **variables)
        finally:
            self.settings = before

    def run(self, command: str, *options: str, **variables: str) -> Done:
        """One command of the engine, with `variables` on top of the environment that `make` gives."""
        file = self.folder / f"Pulumi.{STACK}.yaml"
        file.write_text(stack_files.stack_file_text(STACK, self.settings, key=OWN_KEY_OF_SIM))
        if not self._made:
            made = self._pulumi("stack", "init", STACK, "--no-select")
            assert made.status == 0, made.said
            self._made = True
        arguments = (command, "--stack", STACK, "--config-file", str(file), *OPTIONS[command], *options)
        return self._pulumi(*arguments, **variables)

    def _pulumi(self, *arguments: str, **variables: str) -> Done:
        with engine_environment(STACK, backend=f"file://{self.folder / 'state'}") as environment:
            path = os.pathsep.join([str(self.path), environment["PATH"]])
            # Whatever AWS the shell is signed in to, nothing of it is for tests.
            own = {key: value for key, value in environment.items() if not key.startswith("AWS_")}
            given = {**own, **self.attach, "PATH": path, **variables}
            done = run_pulumi(arguments, given, capture=True)
        return Done(done.returncode, done.stdout)
