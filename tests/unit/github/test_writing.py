"""One comment for each pull request and one issue for each drifted environment, against a stand-in for GitHub's API."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.environments import ROOT
from commands.github.api import GitHubError, Repository
from commands.github.comment import main, place
from commands.github.drift_issue import CLEAN, DRIFTED, LONGEST, UNREADABLE, issue_text, tell
from commands.github.drift_issue import main as drift_main
from tests.support import github
from tests.support.github import NAME, TOKEN, GitHub

MARKER = "<!-- shared-observability: review of the pull request -->"
RUN = f"https://github.com/{NAME}/actions/runs/1"
DRIFT = "DaemonSet observability-nodes/alloy\n  spec.template ``` @acme\n"


@pytest.fixture
def there() -> Iterator[tuple[GitHub, Repository]]:
    with github.running() as both:
        yield both


def test_the_first_push_writes_a_comment_and_the_next_ones_replace_it(
    there: tuple[GitHub, Repository],
) -> None:
    hub, repository = there
    for number in range(3):
        hub.comment(7, f"a remark {number}", by="somebody")
    place(repository, 7, f"{MARKER}\nfirst")
    address = place(repository, 7, f"{MARKER}\nsecond")
    ours = [one for one in hub.comments.values() if one["body"].startswith(MARKER)]
    assert [one["body"] for one in ours] == [f"{MARKER}\nsecond"]
    assert address == ours[0]["html_url"]


def test_nobody_elses_comment_is_replaced_nor_one_of_another_pull_request(
    there: tuple[GitHub, Repository],
) -> None:
    hub, repository = there
    theirs, elsewhere = hub.comment(7, f"{MARKER}\nmine", by="somebody"), hub.comment(8, f"{MARKER}\nother")
    place(repository, 7, f"{MARKER}\nours")
    assert hub.comments[theirs]["body"] == f"{MARKER}\nmine"
    assert hub.comments[elsewhere]["body"] == f"{MARKER}\nother"
    assert len(hub.comments) == 3


def test_a_text_without_a_marker_is_refused(there: tuple[GitHub, Repository]) -> None:
    with pytest.raises(GitHubError, match="marker"):
        place(there[1], 7, "no marker")


def test_a_refusal_is_told_without_the_token(there: tuple[GitHub, Repository]) -> None:
    hub, repository = there
    hub.refuses = True
    with pytest.raises(GitHubError, match=r"403 .*Resource not accessible") as refused:
        place(repository, 7, f"{MARKER}\n")
    assert TOKEN not in f"{refused.value} {repository!r}"


def test_an_unreachable_api_is_told() -> None:
    with pytest.raises(GitHubError, match="refused"):
        place(Repository(NAME, TOKEN, "http://127.0.0.1:9"), 7, f"{MARKER}\n")


def test_outside_a_workflow_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("GITHUB_REPOSITORY", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "comment.md"
    file.write_text(f"{MARKER}\n")
    assert main(["--number", "7", "--file", str(file)]) == 1
    assert "GITHUB_REPOSITORY and GH_TOKEN must be set" in capsys.readouterr().err


def test_drift_opens_one_issue_and_keeps_it_up_to_date(there: tuple[GitHub, Repository]) -> None:
    hub, repository = there
    assert tell(repository, "prod", DRIFTED, DRIFT, RUN).startswith("opened ")
    assert tell(repository, "prod", DRIFTED, "another", RUN).startswith("updated ")
    (issue,) = hub.issues.values()
    assert issue["title"] == "Drift: the cluster of prod is not as deployed"
    assert "another" in issue["body"]
    assert "make drift ENV=prod" in issue["body"]


def test_the_issue_is_closed_with_a_word_once_all_is_as_deployed(there: tuple[GitHub, Repository]) -> None:
    hub, repository = there
    tell(repository, "prod", DRIFTED, DRIFT, RUN)
    assert tell(repository, "prod", CLEAN, "", RUN).startswith("closed ")
    (issue,) = hub.issues.values()
    assert (issue["state"], issue["state_reason"]) == ("closed", "completed")
    assert [RUN in one["body"] for one in hub.comments.values()] == [True]
    assert tell(repository, "prod", CLEAN, "", RUN) == "the cluster is as deployed"
    assert tell(repository, "prod", DRIFTED, DRIFT, RUN).startswith("opened ")


def test_other_environments_people_and_pull_requests_are_left_alone(there: tuple[GitHub, Repository]) -> None:
    hub, repository = there
    text = issue_text("prod", DRIFT, RUN)
    others = [
        hub.issue(issue_text("dev", DRIFT, RUN)),
        hub.issue(text, by="somebody"),
        hub.issue(text, pull_request={}),
        hub.issue(text, state="closed"),
    ]
    before = {number: dict(hub.issues[number]) for number in others}
    tell(repository, "prod", CLEAN, "", RUN)
    tell(repository, "prod", DRIFTED, "new", RUN)
    assert {number: hub.issues[number] for number in others} == before
    assert len(hub.issues) == len(others) + 1


def test_a_cluster_that_cannot_be_read_changes_no_issue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "drift.txt"
    file.write_text("the cluster cannot be read")
    assert drift_main(["--env", "prod", "--status", str(UNREADABLE), "--file", str(file)]) == UNREADABLE
    assert "the issue stays as it is" in capsys.readouterr().err


def test_a_report_stays_in_its_block_and_within_githubs_limit() -> None:
    text = issue_text("prod", DRIFT, RUN)
    assert "````text\n" in text
    assert len(issue_text("prod", "x\n" * LONGEST, RUN)) < 65_536
    assert "all of it is in" in issue_text("prod", "x\n" * LONGEST, RUN)


def test_no_package_is_needed() -> None:
    """These jobs hold a token that may write: they run this project's reviewed code and the standard library."""
    for module in ("commands.github.comment", "commands.github.drift_issue"):
        command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, '.'); import {module}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
