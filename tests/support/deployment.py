"""The real program on a real API server, by the real engine: what `make up` does, from settings that a test changes.

Each deployment has a state of its own. Its stack is called `sim`, whose passphrase is public and whose encrypted key is
taken over from Pulumi.sim.yaml. The policy pack is left out: it has tests of its own, and these ask what is deployed.
"""

import copy
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from commands.engine import engine_environment, run_pulumi
from simulator.api import Object
from tests.support import stack_files
from tests.support.environments import changed

STACK = "sim"
AT_ONCE = "--skip-preview"  # the preview that `make` does before takes as long again
STACK_FILE = f"Pulumi.{STACK}.yaml"
Change = tuple[str, Any]


def shipped() -> Object:
    """The settings of the environment `sim` as plain data, without the secret."""
    return stack_files.shipped(STACK)


class Deployment:
    """One environment on one cluster."""

    def __init__(self, folder: Path, kubeconfig: Path, settings: Object, *, context: str = "sim") -> None:
        """Says what is deployed; nothing runs yet.

        Args:
            folder: for the state and the stack file.
            kubeconfig: of the cluster.
            settings: `cluster`, `layer` and `tenants`; the cluster's target is set here.
            context: in the kubeconfig.
        """
        self._folder = folder
        self._made = False
        target = {"kind": "kubeconfig", "path": str(kubeconfig), "context": context}
        self.settings = changed(settings, ("cluster.target", target))

    def change(self, *changes: Change) -> None:
        """Sets values at dotted paths for all that follows; None removes one."""
        self.settings = changed(self.settings, *changes)

    @contextmanager
    def changed(self, *changes: Change) -> Iterator[None]:
        """The same for a while: deployed at the start, and deployed as before at the end."""
        before = copy.deepcopy(self.settings)
        try:
            self.up(*changes)
            yield
        finally:
            self.settings = before
            self.up()

    def up(self, *changes: Change) -> str:
        """Deploys, with settings changed for good; what the engine said."""
        self.change(*changes)
        return self._succeeds("up")

    def destroy(self) -> str:
        """Removes everything that the stack deployed."""
        return self._succeeds("destroy")

    def refused(self, *changes: Change, command: str = "up", **variables: str) -> str:
        """What the engine says when it refuses a command with these settings, which are then forgotten.

        `destroy` is asked as `make` asks it, with a preview: without one, the engine deletes everything up to the first
        protected object.
        """
        before = self.settings
        self.change(*changes)
        try:
            done = self.run(command, preview=command == "destroy", **variables)
        finally:
            self.settings = before
        assert done.returncode != 0, f"{command} is not refused:\n{done.stdout}"
        return done.stdout

    def run(
        self, command: str, *, preview: bool = False, **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        """One command of the engine on this stack, with the environment as `make` gives it and `variables` on top."""
        file = self._folder / STACK_FILE
        file.write_text(stack_files.stack_file_text(STACK, self.settings))
        with engine_environment(STACK, backend=f"file://{self._folder / 'state'}") as environment:
            given = {**environment, **variables}
            if not self._made:
                init = run_pulumi(["stack", "init", STACK, "--no-select"], environment, capture=True)
                assert init.returncode == 0, init.stdout
                self._made = True
            options = ["--stack", STACK, "--config-file", str(file), "--suppress-outputs", "--yes"]
            at_once = [] if preview else [AT_ONCE]
            return run_pulumi([command, *options, *at_once], given, capture=True)

    def outputs(self) -> Object:
        """What the stack exports."""
        with engine_environment(STACK, backend=f"file://{self._folder / 'state'}") as environment:
            shown = run_pulumi(["stack", "output", "--json", "--stack", STACK], environment, capture=True)
        assert shown.returncode == 0, shown.stdout
        return dict(json.loads(shown.stdout))

    def _succeeds(self, command: str) -> str:
        done = self.run(command)
        assert done.returncode == 0, f"{command} fails:\n{done.stdout}"
        return done.stdout
