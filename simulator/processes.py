"""Processes that outlive the Python that started them: recorded in a file, found again and ended by it.

A pid alone is no proof: it is used again once its process is gone. The record therefore holds the process's
start time and the machine's boot, and nothing is signalled unless both still agree.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RECORD = "processes.json"
LAST_LINES = 12


@dataclass(frozen=True)
class Process:
    """One process as it was started."""

    name: str
    pid: int
    started: int
    boot: str
    argv: tuple[str, ...]

    def alive(self) -> bool:
        """Whether exactly this process still runs; a zombie does not."""
        return self.boot == _boot() and _stat(self.pid) == (self.started, True)

    def signal(self, number: signal.Signals) -> None:
        """Signals exactly this process: the handle is taken first and the identity checked after."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            if self.alive():
                signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            pass
        finally:
            os.close(handle)

    def wait(self, seconds: float) -> bool:
        """Whether it ended, with all its threads and sockets, within so many seconds; reaps a child of ours."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            # A killed process is a zombie as soon as its first thread is: its sockets close when the last one
            # ends, which is when the handle becomes readable.
            ours = self.boot == _boot() and (_stat(self.pid) or (None, 0))[0] == self.started
            if ours and not select.select([handle], [], [], seconds)[0]:
                return False
        finally:
            os.close(handle)
        if ours:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, os.WNOHANG)
        return True


class Processes:
    """The processes of one state folder. Each start is written at once: a killed owner leaves a true record."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self._record = state / RECORD

    def all(self) -> dict[str, Process]:
        """Every process on record, whether or not it still runs."""
        try:
            entries = json.loads(self._record.read_text())
        except FileNotFoundError:
            return {}
        return {e["name"]: Process(**{**e, "argv": tuple(e["argv"])}) for e in entries}

    def start(self, name: str, argv: Sequence[str]) -> Process:
        """Starts a process in the state folder, in a session of its own, its output appended to its log."""
        with self.log(name).open("ab") as log:
            child = subprocess.Popen(
                argv,
                cwd=self.state,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        child.returncode = 0  # it is ended by its record: this object shall not warn that it still runs
        started, _ = _stat(child.pid) or (0, False)
        process = Process(name, child.pid, started, _boot(), tuple(argv))
        self._write({**self.all(), name: process})
        return process

    def kill(self, name: str) -> Process:
        """`kill -9` of one process, which stays on record so that it can be started again."""
        process = self.all()[name]
        process.signal(signal.SIGKILL)
        if not process.wait(10):
            raise TimeoutError(f"{name} (pid {process.pid}) is still there 10 s after SIGKILL")
        return process

    def restart(self, name: str) -> Process:
        """Starts a process again with the arguments, and so the ports, that it had."""
        process = self.all()[name]
        if process.alive():
            return process
        return self.start(name, process.argv)

    def stop(self) -> list[str]:
        """Ends every process on record and returns the names of those that ran.

        By SIGKILL: what they hold is thrown away with the state folder, and a graceful stop takes up to 10 s.
        """
        running = [p for p in self.all().values() if p.alive()]
        for process in running:
            process.signal(signal.SIGKILL)
        stuck = [f"{p.name} (pid {p.pid})" for p in self.all().values() if not p.wait(10)]
        if stuck:
            raise TimeoutError(f"still there 10 s after SIGKILL: {', '.join(stuck)}")
        self._record.unlink(missing_ok=True)
        return [p.name for p in running]

    def log(self, name: str) -> Path:
        """Where a process's output goes."""
        return self.state / f"{name}.log"

    def last_lines(self, name: str) -> str:
        """The end of a process's log, indented, for an error message."""
        try:
            lines = self.log(name).read_text(errors="replace").splitlines()[-LAST_LINES:]
        except FileNotFoundError:
            lines = []
        return "\n".join(f"    {line[:400]}" for line in lines) or "    (its log is empty)"

    def _write(self, processes: Mapping[str, Process]) -> None:
        draft = self._record.with_suffix(".new")
        draft.write_text(json.dumps([asdict(p) for p in processes.values()], indent=1))
        draft.replace(self._record)


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _stat(pid: int) -> tuple[int, bool] | None:
    """Start time in clock ticks since boot, and whether it is more than a zombie; None without a process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()  # the command before it may hold blanks and brackets
    return int(fields[19]), fields[0] not in "ZX"
