"""Writes the one comment of a pull request, or replaces it: `python -m commands.github.comment --number 7 --file FILE`.

The text's first line is a marker by which the comment is found again.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from commands.github.api import GitHubError, Repository, of_this_run, ours


def place(repository: Repository, number: int, text: str) -> str:
    """Writes or replaces the comment; returns its address.

    Raises:
        GitHubError: if GitHub refuses it.
    """
    marker = text.partition("\n")[0]
    if not marker.startswith("<!-- "):
        raise GitHubError("the text does not begin with a marker, so its comment could not be found again")
    there = next(
        (one for one in repository.all(f"/issues/{number}/comments?per_page=100") if ours(one, marker)), None
    )
    if there is None:
        written = repository.call("POST", f"/issues/{number}/comments", {"body": text})
    else:
        written = repository.call("PATCH", f"/issues/comments/{there['id']}", {"body": text})
    return str(written["html_url"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m commands.github.comment", description=__doc__)
    parser.add_argument("--number", required=True, type=int, help="of the pull request")
    parser.add_argument("--file", required=True, type=Path, help="the text")
    asked = parser.parse_args(arguments)
    try:
        print(place(of_this_run(), asked.number, asked.file.read_text(encoding="utf-8")))
    except GitHubError as problem:
        sys.stderr.write(f"comment: {problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
