"""HTTP as bytes, so that a test can send what no client would; and a server that writes down what reaches it."""

import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from typing_extensions import override


@dataclass(frozen=True)
class Answer:
    """Status, headers in lower case, and body; status 0 when the server closed the connection without a word."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def send(port: int, request: bytes, seconds: float = 5.0) -> Answer:
    """Send bytes to loopback and read one answer, or until the server closes."""
    with socket.create_connection(("127.0.0.1", port), seconds) as connection:
        connection.sendall(request)
        answer = b""
        try:
            while not _whole(answer) and (chunk := connection.recv(65536)):
                answer += chunk
        except ConnectionResetError:
            pass
    return _answer(answer)


def _whole(text: bytes) -> bool:
    head, _, body = text.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\ncontent-length: ([0-9]+)", head)
    return length is not None and len(body) >= int(length[1])


def ask(port: int, path: str, *headers: str, method: str = "GET", body: bytes = b"") -> Answer:
    """Send one request with these header lines; the path goes out as it is."""
    lines = [f"{method} {path} HTTP/1.1", "Host: test", "Connection: close", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return send(port, "\r\n".join([*lines, "", ""]).encode("latin-1") + body)


def _answer(text: bytes) -> Answer:
    head, _, body = text.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    if not first.startswith("HTTP/"):
        return Answer(0, {}, text)
    headers = dict(line.split(": ", 1) for line in lines if ": " in line)
    return Answer(int(first.split(" ")[1]), {name.lower(): value for name, value in headers.items()}, body)


@dataclass(frozen=True)
class Seen:
    """A request as the server behind got it."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


@dataclass
class Recorder:
    """What has reached the server so far."""

    port: int
    seen: list[Seen] = field(default_factory=list)


@contextmanager
def recorder() -> Iterator[Recorder]:
    """A server on loopback that answers 200 to everything and remembers it."""
    record = Recorder(0)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _record(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            record.seen.append(Seen(self.command, self.path, tuple(self.headers.items()), body))
            answer = b"recorded"
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = _record  # noqa: N815

        @override
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the record is kept."""

    with serving(Handler) as port:
        record.port = port
        yield record


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """Serve on a free port of loopback until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
