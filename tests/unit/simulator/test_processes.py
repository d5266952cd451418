"""Processes are found again by their record, and only they are ended."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from simulator.processes import RECORD, Processes

SLEEP = ["sleep", "60"]


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    found = Processes(tmp_path)
    yield found
    found.stop()


def test_a_process_outlives_the_object_that_started_it_and_is_found_by_another(processes: Processes) -> None:
    processes.start("one", SLEEP)
    found = Processes(processes.state).all()["one"]
    assert found.alive()
    assert Processes(processes.state).stop() == ["one"]
    assert not found.alive()
    assert not Path(f"/proc/{found.pid}").exists()


def test_a_pid_that_belongs_to_another_process_by_now_is_left_alone(processes: Processes) -> None:
    with subprocess.Popen(SLEEP) as foreign:
        time.sleep(0.03)  # the kernel tells start times in steps of 10 ms
        processes.start("one", SLEEP)
        entries = json.loads((processes.state / RECORD).read_text())
        processes.stop()
        entries[0]["pid"] = foreign.pid
        (processes.state / RECORD).write_text(json.dumps(entries))
        assert processes.stop() == []
        assert foreign.poll() is None
        foreign.kill()


def test_a_record_of_before_the_machine_was_booted_names_nothing(processes: Processes) -> None:
    process = processes.start("one", SLEEP)
    record = processes.state / RECORD
    text = record.read_text()
    record.write_text(text.replace(process.boot, "another-boot"))
    assert not Processes(processes.state).all()["one"].alive()
    record.write_text(text)


def test_a_killed_process_starts_again_with_its_arguments_and_keeps_its_log(processes: Processes) -> None:
    processes.start("echo", ["sh", "-c", "echo started; exec sleep 60"])
    wait_for(lambda: "started" in processes.last_lines("echo"))
    old = processes.kill("echo")
    new = processes.restart("echo")
    assert old.argv == new.argv
    assert old.pid != new.pid
    wait_for(lambda: processes.last_lines("echo").count("started") == 2)


def test_restarting_what_runs_changes_nothing(processes: Processes) -> None:
    assert processes.start("one", SLEEP) == processes.restart("one")


def test_a_process_that_ignores_sigterm_is_ended_at_once(processes: Processes) -> None:
    process = processes.start("stubborn", ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"])
    begun = time.monotonic()
    processes.stop()
    assert not process.alive()
    assert time.monotonic() - begun < 5


def test_a_process_that_ended_by_itself_is_not_counted_as_stopped(processes: Processes) -> None:
    process = processes.start("short", ["true"])
    assert process.wait(5)
    assert not process.alive()
    assert processes.stop() == []


def test_processes_get_neither_our_terminal_nor_our_session(processes: Processes) -> None:
    process = processes.start("one", SLEEP)
    assert os.getsid(process.pid) == process.pid
    assert Path(f"/proc/{process.pid}/fd/0").readlink() == Path("/dev/null")


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
