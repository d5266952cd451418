"""A control plane that cannot start says why and leaves nothing behind. (That it starts: tests/cluster.)"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from simulator import control_plane
from simulator.control_plane import ControlPlane
from simulator.processes import Processes
from simulator.tools import PROJECT, SimulatorError, require

# etcd runs; the API server says something and ends, or runs and never answers.
KUBEDEV = """#!/bin/sh
case "$1" in
  etcd) exec sleep 60 ;;
  *) echo "the disk is on fire"; {then} ;;
esac
"""


def fake_tools(folder: Path, then: str) -> Path:
    folder.mkdir()
    for name, text in {"kubedev": KUBEDEV.format(then=then), "kwok": "#!/bin/sh\n"}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "state"
    Processes(tmp_path / "state").stop()


def test_a_missing_tool_is_named_with_the_command_that_brings_it(tmp_path: Path, state: Path) -> None:
    with pytest.raises(SimulatorError, match=r"kubedev is missing: run `make setup`\n.*kwok is missing"):
        ControlPlane(state, tmp_path).start()
    assert not state.exists()


def test_a_missing_command_is_named_with_its_debian_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = fake_tools(tmp_path / "tools", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        SimulatorError, match=r"(?s)openssl is not on PATH.*kubectl .*install kubernetes-client"
    ):
        require(tools, ["kubectl"])


def test_a_process_that_ends_during_the_start_is_shown_with_its_last_lines(
    tmp_path: Path, state: Path
) -> None:
    plane = ControlPlane(state, fake_tools(tmp_path / "tools", "exit 1"))
    with pytest.raises(SimulatorError, match=r"(?s)apiserver has ended.*the disk is on fire") as failure:
        plane.start()
    assert str(state) in str(failure.value)
    assert plane.running() == {}


def test_a_start_that_never_gets_ready_ends_in_time_and_stops_what_it_started(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_plane, "START_SECONDS", 1)
    plane = ControlPlane(state, fake_tools(tmp_path / "tools", "exec sleep 60"))
    with pytest.raises(
        SimulatorError, match=r"(?s)did not answer /readyz.*etcd still runs.*apiserver still runs"
    ):
        plane.start()
    assert plane.running() == {}


def test_a_new_start_ends_what_an_earlier_one_left_in_the_folder(tmp_path: Path, state: Path) -> None:
    state.mkdir()
    left = Processes(state).start("etcd", ["sleep", "60"])
    with pytest.raises(SimulatorError):
        ControlPlane(state, fake_tools(tmp_path / "tools", "exit 1")).start()
    assert not left.alive()


def test_only_what_a_cluster_writes_is_removed_from_its_folder(state: Path) -> None:
    (state / "etcd").mkdir(parents=True)
    (state / "kubeconfig").touch()
    (state / "notes.txt").touch()
    ControlPlane(state).clear()
    assert [path.name for path in state.iterdir()] == ["notes.txt"]


def test_the_processes_end_with_their_owner_however_it_ends(tmp_path: Path, state: Path) -> None:
    tools = fake_tools(tmp_path / "tools", "exec sleep 60")
    owner = subprocess.Popen(
        [sys.executable, "-c", f"""if True:
            from pathlib import Path
            from simulator.control_plane import ControlPlane
            ControlPlane(Path({str(state)!r}), Path({str(tools)!r})).start()"""],
        cwd=PROJECT,
    )  # fmt: skip
    wait_for(lambda: len(Processes(state).all()) == 2)
    started = Processes(state).all()
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    wait_for(lambda: not any(process.alive() for process in started.values()))


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
