"""The inside of an isolated process: brings loopback up, relays its ports, and ends when its input is closed."""

import fcntl
import json
import shutil
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.support import relay

# From <linux/sockios.h> and <net/if.h>: what `ip link set lo up` does, without needing the tool.
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1
GRACE_SECONDS = 5


def main(task: dict[str, Any]) -> int:
    """Runs the task's command between its relays and removes their files; returns its exit status."""
    try:
        return _run(task)
    finally:
        shutil.rmtree(task["sockets"], ignore_errors=True)


def _run(task: dict[str, Any]) -> int:
    loopback_up()
    for port, path in task["reaches"].items():
        relay.serve(relay.listen_tcp(int(port)), relay.to_unix(Path(path)))
    for port, path in task["serves"].items():
        relay.serve(relay.listen_unix(Path(path)), relay.to_tcp(int(port)))
    child = subprocess.Popen(task["argv"], cwd=task["cwd"], stdin=subprocess.DEVNULL)
    threading.Thread(target=_end_with_input, args=(child,), daemon=True).start()
    return child.wait()


def loopback_up() -> None:
    """A new network namespace has a loopback interface that is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def _end_with_input(child: "subprocess.Popen[bytes]") -> None:
    """The test that started us holds our input open; when it is gone, however, so is the child."""
    sys.stdin.buffer.read()
    child.terminate()
    try:
        child.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
