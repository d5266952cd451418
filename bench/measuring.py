"""What all benches share: what a command takes, how busy the machine is, and where results go.

CPU time and memory are those of the whole tree of processes, read from /proc while it runs: the engine ends its plugins
without waiting for them, so the kernel's own sums leave them out.
"""

import ctypes
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from typing_extensions import override

from commands.environments import ROOT

RESULTS = ROOT / "build" / "bench"
BUSY_LOAD = 1.5
"""Processes that want to run, for each core, above which wall times tell little."""
_TICKS = os.sysconf("SC_CLK_TCK")
_LOOK_SECONDS = 0.05
_OVERFLOW = 0x4000  # inotify(7), IN_Q_OVERFLOW


def say(text: str) -> None:
    """A line of progress, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@dataclass(frozen=True)
class Used:
    """What one command took.

    Attributes:
        wall: seconds.
        cpu: seconds of all its processes.
        peak_mib: most resident memory of all its processes at one moment; shared pages count in each.
        output: what it printed.
        status: its exit status.
    """

    wall: float
    cpu: float
    peak_mib: float
    output: str
    status: int


def descendants(pid: int) -> list[int]:
    """A process and all that it started, as far as they are there."""
    found = [pid]
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += descendants(int(child))
    return found


class Looking(threading.Thread):
    """Looks 20 times a second until it is ended."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._ended = threading.Event()

    @override
    def run(self) -> None:
        """Until `end`."""
        while not self._ended.wait(_LOOK_SECONDS):
            self.look()

    def look(self) -> None:
        """One look."""
        raise NotImplementedError

    def end(self) -> None:
        """Ends it; no look is under way any more."""
        self._ended.set()
        self.join()


class Sampler(Looking):
    """Looks at a tree of processes."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid = pid
        self._cpu: dict[int, float] = {}
        self.peak_mib = 0.0

    @override
    def look(self) -> None:
        """One look."""
        resident = 0
        for pid in descendants(self._pid):
            with suppress(OSError, IndexError, ValueError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                self._cpu[pid] = (int(fields[11]) + int(fields[12])) / _TICKS
                resident += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
        self.peak_mib = max(self.peak_mib, resident / 2**20)

    def stop(self) -> float:
        """Ends it; the CPU seconds that it has seen."""
        self.end()
        return sum(self._cpu.values())


def run(argv: Sequence[str], environment: Mapping[str, str], folder: Path, *, seconds: float = 3600) -> Used:
    """Runs a command and measures it."""
    with tempfile.TemporaryFile("w+") as output:
        started = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 - of the benches' own
            argv, env=dict(environment), cwd=folder, stdout=output, stderr=output
        )
        sampler = Sampler(process.pid)
        sampler.start()
        try:
            process.wait(seconds)
        finally:
            process.kill()
            cpu = sampler.stop()
        wall = time.monotonic() - started
        output.seek(0)
        return Used(wall, cpu, sampler.peak_mib, output.read(), process.returncode)


class Writes(Looking):
    """Counts how often a file is written anew, by the kernel's own notice of it.

    The notices are taken in all the time: the kernel keeps 16,384, and 200 tenants make more.
    """

    _MOVED_TO, _CLOSE_WRITE = 0x80, 0x8

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._name = file.name
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK)
        if self._libc.inotify_add_watch(self._fd, bytes(file.parent), self._MOVED_TO | self._CLOSE_WRITE) < 0:
            raise OSError(ctypes.get_errno(), f"cannot watch {file.parent}")
        self._found, self._lost = 0, False
        self.start()

    def count(self) -> int:
        """How often since the start; ends the watch."""
        self.end()
        self.look()
        os.close(self._fd)
        if self._lost:
            raise SystemExit("the kernel dropped notices of writes: their number is not known")
        return self._found

    @override
    def look(self) -> None:
        """Takes in the notices that there are."""
        data = b""
        with suppress(BlockingIOError):
            while part := os.read(self._fd, 65536):
                data += part
        at = 0
        while at < len(data):
            _, mask, _, length = struct.unpack_from("iIII", data, at)
            if mask & _OVERFLOW:
                self._lost = True
            self._found += data[at + 16 : at + 16 + length].rstrip(b"\0").decode() == self._name
            at += 16 + length


@dataclass(frozen=True)
class Machine:
    """How busy it was.

    Attributes:
        cores: of it.
        load_before: one-minute load average when the bench started.
        load_after: the same at its end, the bench's own load included.
        noisy: whether others wanted the cores when it started.
    """

    cores: int
    load_before: float
    load_after: float
    noisy: bool


def others() -> float:
    """Processes that want to run beside ours, for each core, at this moment."""
    running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    return max(0, running - 1) / (os.cpu_count() or 1)


def watch_machine() -> Callable[[], Machine]:
    """Looks now; the answer looks again."""
    before, cores = os.getloadavg()[0], os.cpu_count() or 1

    def end() -> Machine:
        return Machine(cores, round(before, 2), round(os.getloadavg()[0], 2), before > BUSY_LOAD * cores)

    return end


def write(name: str, data: Mapping[str, Any], machine: Machine, mistakes: Sequence[str]) -> Path:
    """Writes the results as far as they are there."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{name}.json"
    file.write_text(
        json.dumps({**data, "machine": asdict(machine), "mistakes": list(mistakes)}, indent=1) + "\n"
    )
    return file


def finish(name: str, data: Mapping[str, Any], machine: Machine, mistakes: Sequence[str]) -> int:
    """Writes the results, says what is worse than it may be, and gives the exit status."""
    file = write(name, data, machine, mistakes)
    if machine.noisy:
        say(
            f"NOISY: load average {machine.load_before} on {machine.cores} cores when it started: wall times tell "
            "little, CPU times are higher than on an idle machine"
        )
    for mistake in mistakes:
        say(f"MISSED: {mistake}")
    say(f"written: {file.relative_to(ROOT)}")
    return 1 if mistakes else 0
