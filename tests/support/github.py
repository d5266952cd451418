"""A stand-in for the part of GitHub's API that the workflows use. Whatever else is asked of it fails the test."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import override

from commands.github.api import BOT, Repository

TOKEN = "ghs_token-of-this-run"
NAME = "acme/clusters"
PAGE = 2  # entries of a page; GitHub gives what `per_page` says, up to 100
ROUTES = {
    ("GET", r"/issues/(\d+)/comments"): "comments_of",
    ("POST", r"/issues/(\d+)/comments"): "comment_on",
    ("PATCH", r"/issues/comments/(\d+)"): "change_comment",
    ("GET", r"/issues"): "open_issues",
    ("POST", r"/issues"): "open_issue",
    ("PATCH", r"/issues/(\d+)"): "change_issue",
}
Entry = dict[str, Any]


@dataclass
class GitHub:
    """The repository's issues and comments; what was asked that it does not know is in `unknown`."""

    issues: dict[int, Entry] = field(default_factory=dict)
    comments: dict[int, Entry] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    refuses: bool = False

    def issue(self, body: str, *, by: str = BOT, state: str = "open", **more: Any) -> int:
        """Puts an issue there; its number."""
        number = 100 + len(self.issues)
        there = {"number": number, "user": {"login": by}, "state": state, "body": body, **more}
        self.issues[number] = {**there, "html_url": f"https://github.com/{NAME}/issues/{number}"}
        return number

    def comment(self, number: int, body: str, *, by: str = BOT) -> int:
        """Puts a comment under an issue or pull request; its id."""
        there = 9000 + len(self.comments)
        entry = {"id": there, "on": number, "user": {"login": by}, "body": body}
        self.comments[there] = {**entry, "html_url": f"https://github.com/{NAME}/pull/{number}#{there}"}
        return there

    def comments_of(self, number: str) -> list[Entry]:
        return [entry for entry in self.comments.values() if entry["on"] == int(number)]

    def comment_on(self, number: str, body: str) -> Entry:
        return self.comments[self.comment(int(number), body)]

    def change_comment(self, number: str, body: str) -> Entry:
        self.comments[int(number)]["body"] = body
        return self.comments[int(number)]

    def open_issues(self) -> list[Entry]:
        return [entry for entry in self.issues.values() if entry["state"] == "open"]

    def open_issue(self, title: str, body: str) -> Entry:
        return self.issues[self.issue(body, title=title)]

    def change_issue(self, number: str, **changes: str) -> Entry:
        assert set(changes) <= {"body", "state", "state_reason"}, changes
        self.issues[int(number)] |= changes
        return self.issues[int(number)]

    def answer(self, method: str, path: str, body: Entry) -> Any:
        """What the API answers, or None where the stand-in knows no answer."""
        for (known, pattern), name in ROUTES.items():
            if known == method and (match := re.fullmatch(rf"/repos/{NAME}{pattern}", path)):
                return getattr(self, name)(*match.groups(), **body)
        self.unknown.append(f"{method} {path}")
        return None


@contextmanager
def running() -> Iterator[tuple[GitHub, Repository]]:
    """The stand-in on a free port, and the repository that it holds."""
    github = GitHub()

    class Handler(BaseHTTPRequestHandler):
        @override
        def log_message(self, *_: Any) -> None:
            """Says nothing."""

        def handle_any(self) -> None:
            path, _, query = self.path.partition("?")
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else {}
            if self.headers["Authorization"] != f"Bearer {TOKEN}" or github.refuses:
                self.reply(403, {"message": "Resource not accessible by integration"})
                return
            found = github.answer(self.command, path, body)
            if isinstance(found, list):
                page = int(dict(part.split("=") for part in query.split("&")).get("page", "1"))
                more = found[page * PAGE :]
                address = f"http://127.0.0.1:{server.server_port}{path}?page={page + 1}"
                self.reply(
                    200, found[(page - 1) * PAGE : page * PAGE], f'<{address}>; rel="next"' if more else ""
                )
                return
            self.reply(404 if found is None else 200, found)

        do_GET = do_POST = do_PATCH = handle_any  # noqa: N815 - names that http.server looks for

        def reply(self, status: int, answer: Any, link: str = "") -> None:
            self.send_response(status)
            if link:
                self.send_header("Link", link)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield github, Repository(NAME, TOKEN, f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert github.unknown == [], "asked of GitHub, and unknown to the stand-in"
