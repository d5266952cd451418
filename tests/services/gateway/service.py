"""What stands for a Service and its clients while pods are replaced.

Like kube-proxy, the Service chooses a pod for each new connection and leaves the connections that are there alone. A
client keeps its connection, as Grafana and Alloy do, and like them sends a request again if a kept connection turns out
to be closed before any byte of an answer; everything else that is not a 200 is a failure.
"""

import itertools
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from typing_extensions import override


@dataclass
class Service:
    """Its port, and the ports of the pods that new connections go to."""

    port: int
    endpoints: list[int]
    _turn: Iterator[int] = field(default_factory=itertools.count)

    def choose(self) -> int:
        """The next pod."""
        return self.endpoints[next(self._turn) % len(self.endpoints)]


@contextmanager
def service(endpoints: Sequence[int]) -> Iterator[Service]:
    """Accept on loopback and pass bytes both ways until the block ends."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    here = Service(listening.getsockname()[1], list(endpoints))
    ends = threading.Event()
    thread = threading.Thread(target=_pass, args=(listening, here, ends), daemon=True)
    thread.start()
    try:
        yield here
    finally:
        ends.set()
        thread.join(10)
        listening.close()


def _pass(listening: socket.socket, here: Service, ends: threading.Event) -> None:
    poll = selectors.DefaultSelector()
    poll.register(listening, selectors.EVENT_READ, None)
    while not ends.is_set():
        for key, _ in poll.select(0.1):
            source = key.fileobj
            assert isinstance(source, socket.socket)
            if source is listening:
                _connect(poll, listening.accept()[0], here)
            elif isinstance(key.data, socket.socket) and source.fileno() >= 0:  # else closed in this round
                _forward(poll, source, key.data)
    for entry in list(poll.get_map().values()):
        if entry.fileobj is not listening and isinstance(entry.fileobj, socket.socket):
            entry.fileobj.close()
    poll.close()


def _connect(poll: selectors.BaseSelector, client: socket.socket, here: Service) -> None:
    try:
        pod = socket.create_connection(("127.0.0.1", here.choose()), 5)
    except OSError:
        client.close()  # the pod is gone: what a client sees is a refused or reset connection
        return
    for one, other in ((client, pod), (pod, client)):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        poll.register(one, selectors.EVENT_READ, other)


def _forward(poll: selectors.BaseSelector, source: socket.socket, target: socket.socket) -> None:
    try:
        data = source.recv(65536)
        if data:
            target.sendall(data)
            return
    except OSError:
        pass
    for end in (source, target):
        if end.fileno() >= 0:
            poll.unregister(end)
        end.close()


# What a client sees of a connection that the server has closed.
CLOSED = ("", "ConnectionResetError", "BrokenPipeError")


@dataclass
class Client(threading.Thread):
    """Sends one request after another over a kept connection until it is told to stop, or has sent the most."""

    port: int
    request: bytes
    ends: threading.Event
    pause: float = 0.002
    most: int = 1_000_000
    answered: int = 0
    repeated: int = 0
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    __hash__ = threading.Thread.__hash__

    @override
    def run(self) -> None:
        """Until the event; a failure is written down and the next request is sent."""
        connection: socket.socket | None = None
        while not self.ends.is_set() and self.answered < self.most:
            kept = connection is not None
            try:
                if connection is None:
                    connection = socket.create_connection(("127.0.0.1", self.port), 10)
                status, closes = _exchange(connection, self.request)
            except OSError as error:
                status, closes = type(error).__name__, True
            if status == "200":
                self.answered += 1
            elif kept and status in CLOSED:
                self.repeated += 1
            else:
                self.failures.append(status or "closed without an answer")
            if closes and connection is not None:
                connection.close()
                connection = None
            if self.pause:
                time.sleep(self.pause)
        if connection is not None:
            connection.close()


def _exchange(connection: socket.socket, request: bytes) -> tuple[str, bool]:
    """Status ("" if the connection was closed before a byte came), and whether the server closes the connection."""
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        chunk = connection.recv(65536)
        if not chunk:
            return ("" if not answer else "cut off"), True
        answer += chunk
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    length = next((int(line.split(": ")[1]) for line in lines if line.startswith("content-length: ")), None)
    while not (body.endswith(b"0\r\n\r\n") if length is None else len(body) >= length):
        chunk = connection.recv(65536)
        if not chunk:
            return "cut off", True
        body += chunk
    return lines[0].split(" ")[1], "connection: close" in lines
