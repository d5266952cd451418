"""Runs a process in a network namespace without any route: it reaches the ports it is given and nothing else.

A real Prometheus that discovers simulated pods would scrape their addresses, 10.x, which on a developer's machine may
be somebody's. In here they are unreachable at once.
"""

import json
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from simulator.tools import PROJECT
from tests.support import relay

STOP_SECONDS = 10


class IsolatedProcess:
    """A process whose only network is a loopback interface of its own; ends with the context."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        reaches: Sequence[int] = (),
        serves: Sequence[int] = (),
        cwd: Path,
        log: Path,
    ) -> None:
        """Says what runs; nothing starts before the context is entered.

        Args:
            argv: the command, with an absolute path.
            reaches: ports of 127.0.0.1 outside (the API server's) that it finds at the same port inside.
            serves: ports on which it listens on 127.0.0.1 inside; see `outside`.
            cwd: folder in which it runs.
            log: where its output goes.
        """
        self._argv, self._reaches, self._serves = list(argv), list(reaches), list(serves)
        self._cwd, self._log = cwd, log
        self._listeners: list[socket.socket] = []
        self._process: subprocess.Popen[bytes] | None = None

    def outside(self, port: int) -> int:
        """The port of 127.0.0.1 outside by which a port that it serves inside is reached."""
        return self._listeners[self._serves.index(port)].getsockname()[1]  # type: ignore[no-any-return]

    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process is not None and self._process.poll() is None

    def output(self) -> str:
        """What it has written so far."""
        return self._log.read_text(errors="replace")

    def __enter__(self) -> Self:
        """Starts the relays and the process."""
        wrapper = unshare()
        sockets = Path(
            tempfile.mkdtemp(prefix="netns-")
        )  # a short path: a socket's has 107 characters at most
        served = {port: sockets / f"in-{port}" for port in self._serves}
        reached = {port: sockets / f"out-{port}" for port in self._reaches}
        for path in served.values():
            self._listen(relay.listen_tcp(), relay.to_unix(path))
        for port, path in reached.items():
            self._listen(relay.listen_unix(path), relay.to_tcp(port))
        task = {
            "argv": self._argv,
            "cwd": str(self._cwd),
            "sockets": str(sockets),
            "reaches": {port: str(path) for port, path in reached.items()},
            "serves": {port: str(path) for port, path in served.items()},
        }
        command = [*wrapper, sys.executable, "-m", "tests.support.netns_inside", json.dumps(task)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT
            )
        return self

    def _listen(self, listener: socket.socket, connect: relay.Connect) -> None:
        self._listeners.append(listener)
        relay.serve(listener, connect)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the process, by closing the input that it waits on, and the relays; it removes their files."""
        if self._process:
            self._process.communicate(timeout=STOP_SECONDS)
        for listener in self._listeners:
            listener.close()


def unshare() -> list[str]:
    """The command that gives a process a network namespace: as root, or by a user namespace."""
    if not shutil.which("unshare"):
        raise RuntimeError("unshare is not on PATH: install it, on Debian by `apt-get install util-linux`")
    for flags in ("-n", "-rn"):
        if subprocess.run(["unshare", flags, "true"], capture_output=True, check=False).returncode == 0:
            return ["unshare", flags]
    raise RuntimeError(
        "this machine allows no network namespace, neither as this user nor by a user namespace: run the tests as "
        "root, or allow it by `sysctl kernel.unprivileged_userns_clone=1` (Ubuntu: "
        "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`)"
    )
