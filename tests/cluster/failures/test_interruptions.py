"""Deployments that are cut off in the middle, by whatever: the next one goes on, and nothing is lost or doubled."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from simulator.control_plane import ControlPlane
from tests.cluster.failures import load
from tests.cluster.failures.checkout import Checkout, finish
from tests.cluster.failures.environment import engines_managers
from tests.support.deployment import Change
from tests.support.kube import Kube, wait_until

SECONDS = 60
Start = Callable[[list[Change], Callable[[], bool]], "subprocess.Popen[str]"]


@pytest.fixture(scope="module", autouse=True)
def _namespaces(checkout: Checkout, kube: Kube) -> None:
    load.namespaces(kube)


@pytest.fixture
def in_the_middle(checkout: Checkout) -> Iterator[Start]:
    """Starts `make up` with changes, and returns as soon as a condition holds, which is in the middle of it."""
    started: list[subprocess.Popen[str]] = []

    def start(changes: list[Change], middle: Callable[[], bool]) -> "subprocess.Popen[str]":
        checkout.change(*changes)
        command = checkout.start("engine", "up")
        started.append(command)
        wait_until(lambda: middle() or command.poll() is not None, SECONDS, "the deployment does not begin")
        assert command.poll() is None, f"it had ended before:\n{finish(command).said}"
        return command

    yield start
    for command in started:
        end_session(command.pid)


def end_session(leader: int) -> None:
    """Ends what a killed engine has left running: its program and its provider, in the session of the command."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if session == leader:
            os.kill(int(folder.name), signal.SIGKILL)


def locks(checkout: Checkout) -> list[Path]:
    return list((checkout.backend / "locks").rglob("*.json"))


def engine_process(checkout: Checkout) -> int:
    """The engine that holds the stack's lock."""
    (lock,) = locks(checkout)
    return int(json.loads(lock.read_text())["pid"])


def pending(checkout: Checkout) -> list[str]:
    """What the engine was doing when it was killed."""
    return [item["type"] for item in checkout.state().get("pending_operations") or []]


def test_an_api_server_that_is_killed_and_comes_back_fails_the_deployment_and_the_next_one_goes_on(
    checkout: Checkout, kube: Kube, control_plane: ControlPlane, in_the_middle: Start
) -> None:
    command = in_the_middle(load.come(), lambda: len(load.quotas(kube)) >= load.MIDDLE)
    control_plane.kill("apiserver")
    try:
        done = finish(command)
    finally:
        control_plane.restart("apiserver")
    assert done.status != 0
    assert "connection refused" in done.said or "EOF" in done.said
    assert "The cluster of environment sim cannot be read" in done.said
    assert "get --raw /readyz" in done.said
    assert pending(checkout) == []
    assert 0 < len(load.quotas(kube)) < load.QUOTAS

    checkout.up()
    assert load.all_there(kube)


def test_a_deployment_that_is_interrupted_stops_at_once_says_what_is_ready_and_the_next_one_goes_on(
    checkout: Checkout, kube: Kube, in_the_middle: Start
) -> None:
    command = in_the_middle(load.go(), lambda: len(load.quotas(kube)) <= load.QUOTAS - load.MIDDLE)
    os.killpg(command.pid, signal.SIGINT)
    done = finish(command)
    assert done.status != 0
    assert "cancelling" in done.said
    assert done.said.endswith(
        "All of the layer's objects are ready.\nWhat failed is in the engine's own message above.\n"
    )
    assert locks(checkout) == []
    assert 0 < len(load.quotas(kube)) < load.QUOTAS

    checkout.up()
    assert load.all_gone(kube)


def test_a_killed_engine_leaves_its_lock_which_the_next_one_names_and_once_it_is_cancelled_goes_on(
    checkout: Checkout, kube: Kube, in_the_middle: Start
) -> None:
    command = in_the_middle(load.come(), lambda: len(load.quotas(kube)) >= load.MIDDLE)
    os.kill(engine_process(checkout), signal.SIGKILL)
    done = finish(command)
    assert done.status == 128 + signal.SIGKILL
    assert "All of the layer's objects are ready." in done.said
    assert pending(checkout) != []
    assert 0 < len(load.quotas(kube)) < load.QUOTAS

    refused = checkout.fails()
    assert "the stack is currently locked by 1 lock(s)" in refused
    assert "`pulumi cancel`" in refused
    assert "objects are ready" not in refused
    assert checkout.pulumi("cancel", "--yes").status == 0
    said = checkout.up()
    assert "pending operations from previous deployment" in said
    assert load.all_there(kube)
    assert engines_managers(kube) == {}

    assert pending(checkout) != []
    cleared = checkout.pulumi("refresh", "--yes", "--clear-pending-creates", "--suppress-outputs")
    assert cleared.status == 0, cleared.said
    assert pending(checkout) == []


def test_an_etcd_that_is_killed_and_comes_back_only_delays_the_deployment(
    checkout: Checkout, kube: Kube, control_plane: ControlPlane, in_the_middle: Start
) -> None:
    command = in_the_middle(load.go(), lambda: len(load.quotas(kube)) <= load.QUOTAS - load.MIDDLE)
    control_plane.kill("etcd")
    control_plane.restart("etcd")
    done = finish(command)
    assert done.status == 0, done.said
    assert load.all_gone(kube)


def test_of_two_deployments_at_once_the_second_is_refused_at_once_and_the_first_succeeds(
    checkout: Checkout, in_the_middle: Start
) -> None:
    command = in_the_middle([], lambda: len(locks(checkout)) == 1)
    holder = engine_process(checkout)
    refused = checkout.fails()
    assert "the stack is currently locked by 1 lock(s)" in refused
    assert f"(pid {holder})" in refused
    done = finish(command)
    assert done.status == 0, done.said
    assert locks(checkout) == []
