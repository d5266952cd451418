"""What the workflows may do, and who may make them do it: read as data, so that a loosened line is seen."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from commands.environments import ROOT
from tests.unit.workflow.files import ACTIONS, WORKFLOWS, Job, jobs, read, steps

JOBS = jobs()
PINNED = re.compile(r"uses: (?P<action>[\w.-]+/[\w./-]+)@(?P<digest>[0-9a-f]{40}) # v\d+\.\d+\.\d+$")
READ_ONLY = {"contents": "read"}
# Every right beyond reading the code, by workflow and job.
CLOUD = {**READ_ONLY, "id-token": "write"}
WIDER = {
    "preview/comment": {**READ_ONLY, "pull-requests": "write"},
    "preview/code-scanning": {**READ_ONLY, "security-events": "write"},
    "deploy/preview": CLOUD,
    "deploy/deploy": CLOUD,
    "drift/look": CLOUD,
    "release/publish": {"contents": "write"},
    "drift/tell": {**READ_ONLY, "issues": "write"},
}


def named(job: Job) -> str:
    return f"{job.workflow}/{job.name}"


def test_there_is_something_to_look_at() -> None:
    assert WORKFLOWS
    assert ACTIONS
    assert all(job.raw for job in JOBS)


@pytest.mark.parametrize("file", [*WORKFLOWS, *ACTIONS], ids=lambda file: f"{file.parent.name}/{file.name}")
def test_every_foreign_action_is_pinned_by_its_commit_and_says_its_version(file: Path) -> None:
    used = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if "uses:" in line]
    foreign = [line for line in used if "uses: ./" not in line]
    assert [line for line in foreign if not PINNED.search(line)] == []


def test_an_action_has_one_version_in_all_files() -> None:
    found: dict[str, set[str]] = {}
    for file in (*WORKFLOWS, *ACTIONS):
        for line in file.read_text(encoding="utf-8").splitlines():
            if match := PINNED.search(line):
                found.setdefault(match["action"], set()).add(match[0].partition("@")[2])
    assert {action: versions for action, versions in found.items() if len(versions) > 1} == {}
    assert "actions/checkout" in found


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: str(file.stem))
def test_a_workflow_grants_nothing_and_lets_nobody_run_foreign_code_with_its_rights(file: Path) -> None:
    raw = read(file)
    assert raw["permissions"] == {}
    assert "concurrency" in raw
    assert not {"pull_request_target", "workflow_run", "issue_comment"} & set(raw["on"])


@pytest.mark.parametrize("job", JOBS, ids=named)
def test_a_job_has_the_rights_that_are_listed_here_and_ends(job: Job) -> None:
    assert job.raw["permissions"] == WIDER.get(named(job), READ_ONLY)
    assert int(job.raw["timeout-minutes"]) <= 90
    assert job.raw["runs-on"] == "ubuntu-24.04"


def test_no_expression_gets_into_a_shell_and_no_stored_secret_is_read() -> None:
    for where, step in steps():
        assert "${{" not in step.get("run", ""), f"{where}: hand it over by env"
    for file in (*WORKFLOWS, *ACTIONS):
        assert not re.search(r"\$\{\{[^}]*\bsecrets\b", file.read_text(encoding="utf-8")), file


def test_no_checkout_leaves_a_token_behind() -> None:
    checkouts = [(w, step) for w, step in steps() if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    for where, step in checkouts:
        assert step["with"]["persist-credentials"] == "false", where


def test_tools_are_kept_only_where_nothing_is_deployed_or_released() -> None:
    for job in JOBS:
        keeps = any(step.get("with", {}).get("keep-tools") == "true" for step in job.steps)
        assert not keeps or not {"id-token", "packages"} & set(job.raw["permissions"]), named(job)
        assert not keeps or job.raw["permissions"].get("contents") != "write", named(job)


def test_cloud_credentials_are_had_on_main_behind_an_environment_only() -> None:
    """A role trusts an environment, and an environment lets main only; a pull request gets neither."""
    cloud = [job for job in JOBS if "id-token" in job.raw["permissions"]]
    assert cloud
    for job in cloud:
        raw = read(next(file for file in WORKFLOWS if file.stem == job.workflow))
        assert "environment" in job.raw, named(job)
        assert "pull_request" not in raw["on"], named(job)
        first = job.raw if "if" in job.raw else raw["jobs"][job.raw["needs"]]
        assert "github.ref == 'refs/heads/main'" in first["if"], named(job)


def test_what_a_fork_can_start_writes_nothing_and_runs_for_it_too() -> None:
    for job in (job for job in JOBS if job.workflow in {"checks", "preview"}):
        writes = "write" in job.raw["permissions"].values()
        same = "github.event.pull_request.head.repo.full_name == github.repository"
        assert (same in job.raw.get("if", "")) == writes, named(job)


def test_a_job_that_may_write_runs_no_code_of_the_pull_request() -> None:
    (comments,) = (job for job in JOBS if named(job) == "preview/comment")
    checkout = comments.steps[0]["with"]
    assert checkout["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert [step["run"] for step in comments.steps if "run" in step] == [
        'python3 -m commands.github.comment --number "$NUMBER" --file review/comment.md'
    ]


def test_a_deployment_is_of_the_commit_that_was_approved_and_asks_the_policies() -> None:
    (deploy,) = (job for job in JOBS if named(job) == "deploy/deploy")
    assert deploy.steps[0]["with"]["ref"] == "${{ github.sha }}"
    assert deploy.raw["needs"] == "preview"
    run = [step["run"] for step in deploy.steps if "run" in step]
    assert run[0] == '.github/summarised make up ENV="$ENVIRONMENT"'
    assert not any("without-policies" in line for line in run)


@pytest.mark.parametrize("status", [0, 3])
def test_the_summary_holds_what_a_command_said_as_one_block(status: int, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    said = f"printf 'a\\n```\\r\\n<b>@acme</b>\\n'; echo wrong >&2; exit {status}"
    done = subprocess.run(
        [ROOT / ".github" / "summarised", "bash", "-c", said],
        env={"PATH": os.environ["PATH"], "GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert "@acme" in done.stdout
    lines = summary.read_text().split("\n\n", 1)[1].rstrip("\n").split("\n")
    assert lines == ["    a", "    ```", "    <b>@acme</b>", "    wrong"]


def test_the_job_that_writes_a_release_runs_no_code_of_the_repository() -> None:
    (publish,) = (job for job in JOBS if named(job) == "release/publish")
    assert [step["uses"].partition("@")[0] for step in publish.steps if "uses" in step] == [
        "actions/download-artifact"
    ]
    assert not any("make" in step.get("run", "") or "python" in step.get("run", "") for step in publish.steps)


@pytest.mark.parametrize("file", ACTIONS, ids=lambda file: str(file.parent.name))
def test_an_action_of_ours_declares_the_inputs_that_it_uses(file: Path) -> None:
    """actionlint reads only those that a workflow of this repository uses."""
    raw = read(file)
    used = set(re.findall(r"\binputs\.([\w-]+)", file.read_text(encoding="utf-8")))
    assert used == set(raw["inputs"])
    assert all(step.get("shell") == "bash" for step in raw["runs"]["steps"] if "run" in step)
    steps_named = set(re.findall(r"\bsteps\.(\w+)\.", file.read_text(encoding="utf-8")))
    assert steps_named <= {step.get("id") for step in raw["runs"]["steps"]}
