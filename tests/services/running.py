"""Starts real servers on loopback for a test, and stops them however the test ends."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
TOOLS = PROJECT / ".toolchain" / "bin"
NOBODY = 65534
START_SECONDS = 20.0


def tool(name: str) -> str:
    """The binary's path; a missing one fails the test, since a skipped one would look like a passed one."""
    found = shutil.which(name, path=os.pathsep.join([str(TOOLS), os.environ.get("PATH", ""), "/usr/sbin"]))
    if not found:
        pytest.fail(f"{name} is missing: run `make setup`, which gets it or says how", pytrace=False)
    return found


def free_port() -> int:
    """A port of loopback that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that other users may enter: pytest's own are closed to them, and servers run as nobody."""
    with tempfile.TemporaryDirectory(prefix="so-services-") as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


def writable(path: Path) -> Path:
    """Make a folder that the server may write to."""
    path.mkdir()
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    return path


def check(*command: str) -> None:
    """Run a command that must succeed; what it says is the test's message."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}"


@contextmanager
def server(
    command: Sequence[str],
    *,
    ready: Callable[[], bool],
    log: Path,
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a server until the block ends; as nobody where the tests run as root."""
    nobody = NOBODY if os.geteuid() == 0 else None
    log.touch()
    if nobody:
        os.chown(log, nobody, nobody)
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, user=nobody, group=nobody
        )
    try:
        _wait(process, ready, log)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _wait(process: "subprocess.Popen[bytes]", ready: Callable[[], bool], log: Path) -> None:
    until(
        lambda: process.poll() is not None or ready(),
        lambda: f"{process.args!r} is not ready: {log.read_text(errors='replace')[-2000:]}",
        START_SECONDS,
    )
    assert process.poll() is None, f"{process.args!r} ended: {log.read_text(errors='replace')[-2000:]}"


def until(condition: Callable[[], bool], message: Callable[[], str], seconds: float = 20.0) -> None:
    """Wait until the condition holds; the message says what was seen last."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, message()
        time.sleep(0.05)


def listens(port: int) -> bool:
    """Whether something accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
