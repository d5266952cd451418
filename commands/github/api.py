"""GitHub's REST API, as far as comments and issues need it."""

import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

BOT = "github-actions[bot]"  # who a workflow's own token writes as
SECONDS = 30
NEXT = re.compile(r'<([^>]+)>; rel="next"')


class GitHubError(Exception):
    """Why GitHub did not do it, in a text without the token."""


@dataclass(frozen=True)
class Repository:
    """One repository, and a token for it.

    Attributes:
        name: as in `owner/name`.
        token: of the workflow's run.
        api: address of the API.
    """

    name: str
    token: str = field(repr=False)
    api: str = "https://api.github.com"

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """One request under `/repos/<name>`; its answer as JSON.

        Raises:
            GitHubError: if GitHub refuses it or cannot be reached.
        """
        return self._request(method, f"{self.api}/repos/{self.name}{path}", body)[0]

    def all(self, path: str) -> Iterator[dict[str, Any]]:
        """All entries of a list, page by page.

        Raises:
            GitHubError: as above.
        """
        url: str | None = f"{self.api}/repos/{self.name}{path}"
        while url:
            entries, link = self._request("GET", url, None)
            yield from entries
            found = NEXT.search(link)
            # The token goes nowhere but to the API.
            url = found[1] if found and found[1].startswith(f"{self.api}/") else None

    def _request(self, method: str, url: str, body: Mapping[str, Any] | None) -> tuple[Any, str]:
        request = urllib.request.Request(  # noqa: S310 - the API's address
            url,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
                return json.load(answer), answer.headers.get("Link") or ""
        except urllib.error.HTTPError as refused:
            told = refused.read().decode(errors="replace")[:500]
            raise GitHubError(f"{method} {url}: {refused.code} {told}") from None
        except (OSError, ValueError) as problem:
            raise GitHubError(f"{method} {url}: {getattr(problem, 'reason', problem)}") from None


def of_this_run() -> Repository:
    """The repository of the workflow's run, by the variables that GitHub sets and by GH_TOKEN.

    Raises:
        GitHubError: if one is missing.
    """
    missing = [name for name in ("GITHUB_REPOSITORY", "GH_TOKEN") if not os.environ.get(name)]
    if missing:
        raise GitHubError(f"{' and '.join(missing)} must be set: this runs in a workflow")
    api = os.environ.get("GITHUB_API_URL") or Repository.api
    return Repository(os.environ["GITHUB_REPOSITORY"], os.environ["GH_TOKEN"], api)


def ours(entry: Mapping[str, Any], marker: str) -> bool:
    """Whether a workflow of this project wrote it: nobody else's text is changed, whatever it begins with."""
    user = entry.get("user") or {}
    return user.get("login") == BOT and str(entry.get("body") or "").startswith(marker)
