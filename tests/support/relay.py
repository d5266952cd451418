"""Carries bytes from one socket to another: how a process without a network still reaches what it may reach."""

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path

CHUNK = 65536
Connect = Callable[[], socket.socket]


def serve(listener: socket.socket, connect: Connect) -> None:
    """Accepts in the background until the listener is closed; each connection gets one of its own on the other side."""
    threading.Thread(target=_accept, args=(listener, connect), daemon=True).start()


def listen_tcp(port: int = 0) -> socket.socket:
    """A listener on 127.0.0.1, by default on any free port."""
    return socket.create_server(("127.0.0.1", port))


def listen_unix(path: Path) -> socket.socket:
    """A listener on a file, which other network namespaces reach as well."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener


def to_tcp(port: int) -> Connect:
    """Connects to a port of 127.0.0.1."""
    return lambda: socket.create_connection(("127.0.0.1", port))


def to_unix(path: Path) -> Connect:
    """Connects to a file."""

    def connect() -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(path))
        return connection

    return connect


def _accept(listener: socket.socket, connect: Connect) -> None:
    while True:
        try:
            near, _ = listener.accept()
        except OSError:  # closed
            return
        try:
            far = connect()
        except OSError:  # nobody listens there: the caller sees its connection closed
            near.close()
            continue
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=_carry, args=(source, sink), daemon=True).start()


def _carry(source: socket.socket, sink: socket.socket) -> None:
    """One direction until its end, which the other side is told."""
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
