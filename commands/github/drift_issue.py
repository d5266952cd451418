"""Keeps one open issue for each environment that is not as deployed: `python -m commands.github.drift_issue ...`.

It is opened with the first drift, its text follows what `make drift` says, and it is closed when the cluster is as
deployed again. A cluster that could not be read changes nothing: the run itself fails.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from commands.github.api import GitHubError, Repository, of_this_run, ours
from commands.pull_request.markdown import code, fenced

CLEAN, DRIFTED, UNREADABLE = 0, 1, 2
LONGEST = 60_000  # characters of the report; an issue may have 65,536


def issue_text(environment: str, report: str, run: str) -> str:
    """The issue's text.

    Args:
        environment: its name.
        report: what `make drift` said.
        run: address of the run that looked.
    """
    shown = report.strip("\n")
    note = "" if len(shown) <= LONGEST else f"\n\nThis is the first part; all of it is in [the run]({run})."
    return (
        f"{_marker(environment)}\n\nWhat is in the cluster of {code(environment)} is not as it was deployed. "
        f"Seen by [this run]({run}).\n\n{fenced(shown[:LONGEST], 'text')}{note}\n\n"
        f"{fenced(f'make drift ENV={environment}', 'sh')}\n\n"
        "This issue is closed by the next run that finds the cluster as deployed.\n"
    )


def tell(repository: Repository, environment: str, status: int, report: str, run: str) -> str:
    """Opens, updates or closes the issue; returns what was done.

    Raises:
        GitHubError: if GitHub refuses it.
    """
    marker = _marker(environment)
    listed = repository.all("/issues?state=open&per_page=100")
    there = next((one for one in listed if ours(one, marker) and "pull_request" not in one), None)
    path = f"/issues/{there['number']}" if there else "/issues"
    if status != CLEAN:
        body = {"body": issue_text(environment, report, run)}
        title = {} if there else {"title": f"Drift: the cluster of {environment} is not as deployed"}
        written = repository.call("PATCH" if there else "POST", path, {**title, **body})
        return f"{'updated' if there else 'opened'} {written['html_url']}"
    if there is None:
        return "the cluster is as deployed"
    said = {"body": f"The cluster is as deployed again: [this run]({run})."}
    repository.call("POST", f"{path}/comments", said)
    written = repository.call("PATCH", path, {"state": "closed", "state_reason": "completed"})
    return f"closed {written['html_url']}"


def _marker(environment: str) -> str:
    return f"<!-- shared-observability: drift of {environment} -->"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; its exit status is that of the drift check."""
    parser = argparse.ArgumentParser(prog="python -m commands.github.drift_issue", description=__doc__)
    parser.add_argument("--env", required=True, help="the environment: prod for Pulumi.prod.yaml")
    parser.add_argument("--status", required=True, type=int, help="exit status of python -m commands.drift")
    parser.add_argument("--file", required=True, type=Path, help="what it said")
    asked = parser.parse_args(arguments)
    if asked.status not in {CLEAN, DRIFTED}:
        sys.stderr.write(f"drift: the cluster of {asked.env} could not be read; the issue stays as it is\n")
        return UNREADABLE
    try:
        print(tell(of_this_run(), asked.env, asked.status, asked.file.read_text(encoding="utf-8"), _run()))
    except GitHubError as problem:
        sys.stderr.write(f"drift: {problem}\n")
        return UNREADABLE
    return int(asked.status)


def _run() -> str:
    server, name = os.environ.get("GITHUB_SERVER_URL", "https://github.com"), os.environ["GITHUB_REPOSITORY"]
    return f"{server}/{name}/actions/runs/{os.environ.get('GITHUB_RUN_ID', '')}"


if __name__ == "__main__":
    sys.exit(main())
