"""What the simulator takes from an environment's settings, and which files it may therefore write and remove."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import yaml

from components.settings.model import KubeconfigTarget, Settings
from components.settings.stack_file import read_settings
from simulator.commands import USER
from simulator.tools import PROJECT, SimulatorError


@dataclass(frozen=True)
class Environment:
    """One environment that a simulated cluster stands in for."""

    name: str
    project: Path
    settings: Settings

    @property
    def file(self) -> Path:
        """The file that holds its settings."""
        return self.project / f"Pulumi.{self.name}.yaml"

    @property
    def state(self) -> Path:
        """The simulated cluster's folder."""
        return self.project / ".simulator" / self.name

    @property
    def target(self) -> KubeconfigTarget:
        """`cluster.target`; an error when it is not a kubeconfig."""
        target = self.settings.cluster.target
        if not isinstance(target, KubeconfigTarget):
            raise SimulatorError(
                f"{self.file.name}: cluster.target is of kind {target.kind}, and a simulated cluster is "
                f"reached by a kubeconfig. {self._remedy()}"
            )
        return target

    @property
    def kubeconfig(self) -> Path:
        """The file that `cluster.target.path` names."""
        return self.project / Path(self.target.path).expanduser()

    @property
    def stack_state(self) -> "StackState | None":
        """The stack's state in the local backend; None when the backend is not a folder of this machine."""
        backend = os.environ.get("PULUMI_BACKEND_URL") or f"file://{self.project / '.pulumi' / 'state'}"
        if not backend.startswith("file://"):
            return None
        return StackState(
            Path(unquote(backend.removeprefix("file://"))), _project_name(self.project), self.name
        )

    def check(self) -> None:
        """Refuses to write over a kubeconfig, or to empty the state, of what may be a real cluster."""
        kubeconfig, state = self.kubeconfig, self.stack_state
        if kubeconfig.resolve().is_relative_to((self.project / ".simulator").resolve()):
            return
        if kubeconfig.exists() and not _is_ours(kubeconfig):
            raise SimulatorError(
                f"{self.file.name}: cluster.target.path is {kubeconfig}, which exists and is not the "
                f"simulator's: it is left alone. {self._remedy()}"
            )
        if not kubeconfig.exists() and state and state.exists():
            raise SimulatorError(
                f"stack {self.name} has state in {state.backend}, which may be a real cluster's: it is left alone. "
                + self._remedy()
            )

    def _remedy(self) -> str:
        path = f".simulator/{self.name}/kubeconfig"
        return (
            f"For a simulated cluster write `target: {{kind: kubeconfig, path: {path}, context: sim}}`, "
            "or use Pulumi.sim.yaml: make simulator ENV=sim"
        )


@dataclass(frozen=True)
class StackState:
    """One stack's files in a backend that is a folder: what `pulumi stack rm --force` would remove, and its locks."""

    backend: Path
    project: str
    stack: str

    def exists(self) -> bool:
        """Whether the stack has been deployed, or at least been made."""
        return any(path.exists() for path in self._paths())

    def remove(self) -> bool:
        """Removes this stack's state and no other's; returns whether there was any. Refused while an engine uses it."""
        busy = [pid for pid in self._lock_holders() if Path(f"/proc/{pid}").exists()]
        if busy:
            raise SimulatorError(
                f"stack {self.stack} is in use by pulumi (pid {busy[0]}): wait until it ends, or `pulumi cancel`"
            )
        found = [path for path in self._paths() if path.exists()]
        for path in found:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return bool(found)

    def _paths(self) -> Iterator[Path]:
        root = self.backend / ".pulumi"
        for ending in (".json", ".json.bak", ".json.attrs", ".json.bak.attrs", ".json.gz", ".json.gz.bak"):
            yield root / "stacks" / self.project / f"{self.stack}{ending}"
        for kind in ("history", "backups"):
            yield root / kind / self.project / self.stack
        yield self._locks

    @property
    def _locks(self) -> Path:
        return self.backend / ".pulumi" / "locks" / "organization" / self.project / self.stack

    def _lock_holders(self) -> Iterator[int]:
        for lock in self._locks.glob("*.json"):
            yield int(json.loads(lock.read_text())["pid"])


def read(name: str, project: Path = PROJECT) -> Environment:
    """Reads Pulumi.<name>.yaml and judges it as the program does; all mistakes are told at once.

    Raises:
        SimulatorError: there is no such environment.
        SettingsError: its settings are wrong.
    """
    file = project / f"Pulumi.{name}.yaml"
    if not file.exists():
        others = sorted(p.name.split(".")[1] for p in project.glob("Pulumi.*.yaml"))
        raise SimulatorError(f"there is no {file.name}; environments: {', '.join(others) or 'none'}")
    return Environment(name, project, read_settings(file, _project_name(project), name))


def _project_name(project: Path) -> str:
    return str(yaml.safe_load((project / "Pulumi.yaml").read_text())["name"])


def _is_ours(kubeconfig: Path) -> bool:
    """Whether the simulator wrote it: by the name of its user, which is the simulator's own."""
    try:
        config = yaml.safe_load(kubeconfig.read_text())
        return [user["name"] for user in config["users"]] == [USER]
    except (yaml.YAMLError, KeyError, TypeError, UnicodeDecodeError):
        return False
