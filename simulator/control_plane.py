"""etcd, API server, controllers, scheduler and kwok on free loopback ports, from one state folder."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from simulator import commands
from simulator.api import Api, Object, UnreachableError
from simulator.processes import Processes
from simulator.tools import PROJECT, TOOLS, SimulatorError, require

STAGES = Path(__file__).with_name("stages.yaml")
NAMES = ("etcd", "apiserver", "controllers", "scheduler", "kwok")
START_SECONDS = 90  # it takes 5 to 7 on idle cores; a bound for a busy machine
STORAGE_CLASS: Object = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "gp3", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": "kubernetes.io/host-path",
    "volumeBindingMode": "WaitForFirstConsumer",
    "reclaimPolicy": "Delete",
    "allowVolumeExpansion": True,
}


class ControlPlane:
    """One simulated cluster. As a context manager it ends with its owner, however that ends."""

    def __init__(self, state: Path, tools: Path = TOOLS, *, context: str = "sim") -> None:
        self.state = state.resolve()
        self.context = context
        self.kubeconfig = self.state / "kubeconfig"
        self.processes = Processes(self.state)
        self._tools = tools.resolve()
        self._guard: subprocess.Popen[bytes] | None = None

    @property
    def authority(self) -> Path:
        """The file with the authority of the API server's certificate."""
        return self.state / "server.crt"

    @property
    def port(self) -> int:
        """The API server's port on 127.0.0.1."""
        return self.api.port

    @property
    def api(self) -> Api:
        """A client with the rights of a cluster administrator."""
        return Api(self.kubeconfig)

    def start(self, *, detach: bool = False) -> Self:
        """Starts a new, empty cluster; what a previous run left in the state folder is ended and thrown away.

        Detached, it runs until `stop`; otherwise a guard ends it as soon as this process is gone.
        """
        require(self._tools)
        self.stop()
        self.clear()
        self.state.mkdir(parents=True, exist_ok=True)
        if not detach:
            self._guard = _start_guard(self.state)
        try:
            self._start_all()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> list[str]:
        """Ends every process of the state folder, whoever started it; returns the names of those that ran."""
        stopped = self.processes.stop()
        if self._guard:
            self._guard.communicate(timeout=10)  # closes its input, which tells it to end
            self._guard = None
        return stopped

    def clear(self) -> None:
        """Removes what a cluster writes into its state folder, and nothing else in it."""
        for name in commands.FOLDERS:
            shutil.rmtree(self.state / name, ignore_errors=True)
        for name in (*commands.FILES, *(f"{name}.log" for name in NAMES)):
            (self.state / name).unlink(missing_ok=True)

    def kill(self, name: str) -> None:
        """`kill -9` of one of NAMES."""
        self.processes.kill(name)

    def restart(self, name: str) -> None:
        """Starts one of NAMES again, on its old port, and waits until the API server answers."""
        if name == "kwok":
            self._forget_leases()
        self.processes.restart(name)
        self._wait(self._ready, "answer /readyz")

    def running(self) -> dict[str, bool]:
        """Every process on record, and whether it runs."""
        return {name: process.alive() for name, process in self.processes.all().items()}

    def _start_all(self) -> None:
        api_port, etcd_port, peer_port = commands.free_ports(3)
        commands.write_credentials(self.state, api_port, self.context)
        shutil.copyfile(STAGES, self.state / "stages.yaml")
        kubedev, start = str(self._tools / "kubedev"), self.processes.start
        start("etcd", [kubedev, *commands.etcd(etcd_port, peer_port)])
        start("apiserver", [kubedev, *commands.api_server(api_port, etcd_port)])
        wrapper = commands.private_tmp(self.state)
        self._wait(self._ready, "answer /readyz")
        start("controllers", [*wrapper, kubedev, *commands.controllers()])
        start("scheduler", [kubedev, *commands.scheduler()])
        start("kwok", [str(self._tools / "kwok"), *commands.kwok()])
        self.api.apply(STORAGE_CLASS)
        self._wait(self._pods_may_be_made, "give the namespace `default` its service account")

    def _ready(self) -> bool:
        try:
            return self.api.raw("GET", "/readyz")[0] == 200
        except UnreachableError:
            return False

    def _pods_may_be_made(self) -> bool:
        return self.api.find("serviceaccounts", "default", "default") is not None

    def _forget_leases(self) -> None:
        """Until the old kwok's node leases end, a new one can take none: no pod would start or vanish."""
        for lease in self.api.list("leases", "kube-node-lease"):
            self.api.delete("leases", lease["metadata"]["name"], "kube-node-lease")

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        """Waits until the condition holds; fails at once, with its log's end, when a process of ours has ended."""
        deadline = time.monotonic() + START_SECONDS
        while not condition():
            dead = [name for name, alive in self.running().items() if not alive]
            if dead or time.monotonic() > deadline:
                raise SimulatorError(self._failure(what, dead))
            time.sleep(0.05)

    def _failure(self, what: str, dead: Sequence[str]) -> str:
        lines = [f"the simulated control plane did not {what} (state and logs: {self.state})"]
        for name in dead or self.running():
            lines.append(f"  {name} {'has ended' if name in dead else 'still runs'}; the end of {name}.log:")
            lines.append(self.processes.last_lines(name))
        return "\n".join(lines)

    def __enter__(self) -> Self:
        """Starts it."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops it."""
        self.stop()


def _start_guard(state: Path) -> "subprocess.Popen[bytes]":
    """A process that sees this one end, by its closed input, and then ends the cluster."""
    return subprocess.Popen(
        [sys.executable, "-m", "simulator.guard", str(state)],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
