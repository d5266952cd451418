"""A checkout of the project of its own, in which the commands run as `make` runs them, on one test's settings.

The stack is called `sim`, whose passphrase is public; its state is in the checkout. Left out are the policy pack, and
the preview that `make up` shows first, which takes as long again.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands.environments import ROOT
from simulator.api import Object
from tests.support.deployment import STACK, STACK_FILE, Change
from tests.support.environments import PROJECT, changed
from tests.support.stack_files import stack_file_text

CODE = ("components", "commands", "diagnosis", "__main__.py", "Pulumi.yaml")
TOOLS = (".venv", ".toolchain")
KEY = "gatewayKey"
SECONDS = 90
# The real command with one option more: of the engine, and for `up` alone.
RUN = """
import importlib, sys
from commands import engine
given = engine.arguments_of
engine.arguments_of = lambda command, environment: [
    *given(command, environment), *(["--skip-preview"] if command == "up" else [])
]
sys.exit(importlib.import_module(sys.argv[1]).main(sys.argv[2:]))
"""


@dataclass(frozen=True)
class Done:
    """One command: its exit status, and all that it printed."""

    status: int
    said: str


class Checkout:
    """One environment on one cluster, and the commands for it."""

    def __init__(self, folder: Path, kubeconfig: Path, settings: Object) -> None:
        """Copies the project; nothing runs yet.

        Args:
            folder: for the copy; it must not exist.
            kubeconfig: of the cluster.
            settings: `cluster`, `layer` and `tenants`; the cluster's target is set here.
        """
        folder.mkdir()
        for name in CODE:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, folder / name)
        for name in TOOLS:
            (folder / name).symlink_to(ROOT / name)
        self.folder = folder
        self.settings: Object = {}
        target = {"kind": "kubeconfig", "path": str(kubeconfig), "context": "sim"}
        self.write(changed(settings, ("cluster.target", target)))

    # --- settings and state ---

    def write(self, settings: Object) -> None:
        """Makes these the settings of all that follows."""
        self.settings = settings
        (self.folder / STACK_FILE).write_text(stack_file_text(STACK, settings))

    def change(self, *changes: Change) -> None:
        """Sets values at dotted paths for all that follows; None removes one."""
        self.write(changed(self.settings, *changes))

    @property
    def backend(self) -> Path:
        """The folder with the state."""
        return self.folder / ".pulumi" / "state" / ".pulumi"

    @property
    def state_file(self) -> Path:
        """The state itself; beside it lies the one before, as `.bak`."""
        return self.backend / "stacks" / PROJECT / f"{STACK}.json"

    def state(self) -> dict[str, Any]:
        """What the state says."""
        return dict(json.loads(self.state_file.read_text())["checkpoint"]["latest"])

    # --- commands ---

    def start(self, module: str, *arguments: str, last: Sequence[str] = ()) -> "subprocess.Popen[str]":
        """Starts a command, as `commands.engine up`; its output is a pipe."""
        command = [sys.executable, "-c", RUN, f"commands.{module}", *arguments, "--env", STACK, *last]
        inherited = {k: v for k, v in os.environ.items() if k not in ("PULUMI_BACKEND_URL", "KUBECONFIG")}
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=inherited,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, module: str, *arguments: str) -> Done:
        """Runs a command to its end."""
        return finish(self.start(module, *arguments))

    def up(self, *changes: Change) -> str:
        """`make up`, which succeeds, with settings changed for good."""
        self.change(*changes)
        return self._succeeds("engine", "up")

    def fails(self, *changes: Change) -> str:
        """`make up`, which fails, with settings changed for good; what was said."""
        self.change(*changes)
        done = self.run("engine", "up")
        assert done.status != 0, f"up does not fail:\n{done.said}"
        return done.said

    def repair(self, *arguments: str) -> str:
        """`make repair`, which succeeds."""
        return self._succeeds("repair", *arguments)

    def drift(self) -> Done:
        """`make drift`."""
        return self.run("drift")

    def why(self) -> Done:
        """`make why`."""
        return self.run("why")

    def pulumi(self, *words: str) -> Done:
        """`make pulumi ARGS=...`: the engine's own command line, as runbooks use it."""
        return finish(self.start("cli", last=("--", *words)))

    def _succeeds(self, module: str, *arguments: str) -> str:
        done = self.run(module, *arguments)
        assert done.status == 0, f"{module} {' '.join(arguments)} fails:\n{done.said}"
        return done.said


def finish(command: "subprocess.Popen[str]") -> Done:
    """Waits for a command; one that does not end is killed, and fails the test."""
    try:
        said, _ = command.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        command.kill()
        said, _ = command.communicate()
        raise AssertionError(f"still running after {SECONDS} s:\n{said}") from None
    return Done(command.returncode, said)
