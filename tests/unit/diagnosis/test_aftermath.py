"""What is said, and with which exit status, after the engine has ended."""

import json
import subprocess
from pathlib import Path

import pytest

from commands import aftermath
from commands.aftermath import conclude, patiently
from commands.why import NOT_READY, READY, UNREADABLE
from components.cluster.kubectl import ClusterUnreachableError
from components.settings.model import Settings
from diagnosis.declared_objects import Seen
from diagnosis.drift import Drift, Ref
from diagnosis.watch import CONFLICT, Refusal, Watch
from tests.support.environments import INCIDENT, changed, parsed

ON_CLUSTER = changed(
    INCIDENT,
    ("cluster.target", {"kind": "kubeconfig", "path": "k", "context": "c"}),
    ("layer.agents", {"timeout": "1s"}),
)
READY_TEXT, BROKEN_TEXT = "All of the layer's objects are ready.", "1 of the layer's objects is not ready: x"


class Cluster:
    """What the cluster will be found to be, and how often it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, settings: Settings | None) -> None:
        self.answer, self.remains, self.drifts = (READY, READY_TEXT), (READY, "gone"), list[Drift]()
        self.asked = self.freed = self.stale = 0
        self.unreachable = ""
        self.left: list[Ref] = []
        monkeypatch.setattr(aftermath, "settings_of", lambda _: settings)
        monkeypatch.setattr(aftermath, "explain", self._explain)
        monkeypatch.setattr(aftermath, "explain_remains", lambda _: self.remains)
        monkeypatch.setattr(aftermath, "read", self._read)
        monkeypatch.setattr(aftermath, "left_behind", self._left_behind)
        monkeypatch.setattr(aftermath, "free", self._free)
        monkeypatch.setattr(aftermath, "drifts", lambda *_: self.drifts)
        monkeypatch.setattr(aftermath, "STEP_SECONDS", 0.01)

    def _explain(self, _: str) -> tuple[int, str]:
        self.asked += 1
        return self.answer

    def _read(self, *_: object) -> Seen:
        self.asked += 1
        if self.unreachable:
            raise ClusterUnreachableError(self.unreachable)
        return Seen([], {})

    def _left_behind(self, *_: object) -> list[Ref]:
        self._read()
        return self.left

    def _free(self, *_: object) -> int:
        self.freed += 1
        return self.stale


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    return Cluster(monkeypatch, parsed(ON_CLUSTER))


def watch(*heard: str) -> Watch:
    found = Watch(None)
    for line in heard or ("Updating (prod):\n",):
        found.heard(line)
    return found


def concluded(command: str = "up", status: int = 0, heard: Watch | None = None, exported: int = 0) -> int:
    done = subprocess.CompletedProcess([], exported, json.dumps({"deployment": {"resources": []}}))
    return conclude(command, "prod", status, heard or watch(), lambda: done)


def test_a_success_with_all_ready_and_unchanged_is_a_success(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert concluded() == 0
    assert capsys.readouterr().out == f"\n{READY_TEXT}\n"


@pytest.mark.parametrize(("stale", "read"), [(0, 1), (2, 2)])
def test_after_a_success_objects_are_freed_of_forgotten_managers_and_then_read_again(
    cluster: Cluster, stale: int, read: int
) -> None:
    cluster.stale = stale
    assert concluded() == 0
    assert (cluster.freed, cluster.asked) == (1, 1 + read)


def test_a_success_with_something_broken_is_none(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.answer = (NOT_READY, BROKEN_TEXT)
    assert concluded() == NOT_READY
    assert BROKEN_TEXT in capsys.readouterr().out
    assert cluster.asked > 1, "what joined a moment ago is given time"


def test_a_success_with_something_changed_by_others_is_none(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.drifts = [Drift(Ref("Role", "n", "r"), ("rules[0].verbs is a list of 2",), "urn")]
    assert concluded() == NOT_READY
    assert "make repair ENV=prod" in capsys.readouterr().out


@pytest.mark.parametrize(("unreachable", "exported"), [("refused", 0), ("", 255)])
def test_a_success_that_cannot_be_compared_with_the_cluster_is_none(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], unreachable: str, exported: int
) -> None:
    cluster.unreachable = unreachable
    assert concluded(exported=exported) == UNREADABLE
    assert "could not be compared" in capsys.readouterr().err


def test_a_failure_keeps_its_status_and_is_followed_by_the_report_at_once(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.answer = (NOT_READY, BROKEN_TEXT)
    assert concluded(status=255) == 255
    assert BROKEN_TEXT in capsys.readouterr().out
    assert cluster.asked == 1


def test_a_failure_with_all_ready_points_to_the_engines_message(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert concluded(status=255) == 255
    assert "the engine's own message above" in capsys.readouterr().out


def test_an_interrupted_wait_is_a_failure_even_if_the_engine_says_otherwise(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    heard = watch()
    heard.refusal = Refusal("DaemonSet n/alloy", "is forbidden")
    assert concluded(heard=heard) == 1
    assert "pods of DaemonSet n/alloy are refused" in capsys.readouterr().err


def test_a_field_conflict_names_the_commands_for_it(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert concluded(status=255, heard=watch("Updating (prod):\n", f"error: {CONFLICT}. See\n")) == 255
    told = capsys.readouterr().err
    assert "make drift ENV=prod" in told
    assert "make repair ENV=prod" in told


@pytest.mark.parametrize("status", [0, 255])
def test_an_engine_that_changed_nothing_is_not_followed_by_a_report(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    assert concluded(status=status, heard=watch("Previewing update (prod):\n")) == status
    assert (cluster.asked, capsys.readouterr().out) == (0, "")


@pytest.mark.parametrize("settings", [None, parsed(INCIDENT)], ids=["wrong settings", "render"])
def test_without_a_cluster_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], settings: Settings | None
) -> None:
    cluster = Cluster(monkeypatch, settings)
    assert concluded(status=255) == 255
    assert concluded() == 0
    assert (cluster.asked, capsys.readouterr().out) == (0, "")


@pytest.mark.parametrize("command", ["refresh", "preview"])
def test_only_up_and_destroy_are_followed_by_a_report(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert concluded(command) == 0
    assert (cluster.asked, capsys.readouterr().out) == (0, "")


def test_a_destroy_that_fails_says_what_is_left(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.remains = (NOT_READY, "Of the layer is left: a namespace")
    assert concluded("destroy", 255) == 255
    assert "a namespace" in capsys.readouterr().out


@pytest.mark.parametrize(
    "heard", ["Destroying (prod):\n", "Resources:\n"], ids=["much", "nothing to destroy"]
)
def test_a_destroy_that_succeeds_is_none_while_objects_of_the_stack_are_left(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], heard: str
) -> None:
    assert concluded("destroy", heard=watch(heard)) == 0
    assert capsys.readouterr().out == ""
    cluster.left = [Ref("DaemonSet", "observability-nodes", "alloy"), Ref("PriorityClass", "", "agents")]
    assert concluded("destroy", heard=watch(heard)) == NOT_READY
    said = capsys.readouterr().out
    assert "2 objects with this stack's label are left" in said
    assert "  DaemonSet observability-nodes/alloy\n  PriorityClass agents\n" in said
    assert "make take-over ENV=prod" in said


GONE = "An error occurred (ResourceNotFoundException) when calling the DescribeCluster operation"
MADE = {
    **{"kind": "eks", "region": "eu-central-1", "account": "111122223333"},
    "create": {
        "name": "prod",
        "version": "1.35",
        "subnets": ["subnet-0123456789abcdef0", "subnet-0fedcba9876543210"],
        "access": [{"principal": "arn:aws:iam::111122223333:role/deployer", "policy": "clusterAdmin"}],
    },
}
FOUND = {"kind": "eks", "region": "eu-central-1", "account": "111122223333", "existing": "prod"}


@pytest.mark.parametrize(
    ("target", "why", "status"),
    [(MADE, GONE, READY), (FOUND, GONE, UNREADABLE), (MADE, "no answer within 60 s", UNREADABLE)],
)
def test_a_cluster_that_was_made_here_goes_with_everything_in_it_and_no_other_is_taken_for_gone(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    target: dict[str, object],
    why: str,
    status: int,
) -> None:
    cluster = Cluster(monkeypatch, parsed(changed(ON_CLUSTER, ("cluster.target", target))))
    cluster.unreachable = why
    assert concluded("destroy") == status
    assert bool(capsys.readouterr().err) == (status == UNREADABLE)


def test_what_gets_ready_in_time_is_ready() -> None:
    answers = [(NOT_READY, "starts"), (NOT_READY, "starts"), (READY, "runs")]
    aftermath.STEP_SECONDS, before = 0.01, aftermath.STEP_SECONDS
    try:
        assert patiently(lambda: answers.pop(0), 5) == (READY, "runs")
        assert patiently(lambda: (NOT_READY, "never"), 0.05) == (NOT_READY, "never")
    finally:
        aftermath.STEP_SECONDS = before


def test_wrong_settings_are_told_by_the_engine_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.prod.yaml"
    file.write_text("config: {shared-observability:cluster: {nam: x}}\n")
    monkeypatch.setattr(aftermath, "stack_file", lambda _: file)
    assert aftermath.settings_of("prod") is None
