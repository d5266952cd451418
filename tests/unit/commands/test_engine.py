"""What the engine is run with: its environment, its arguments, its signals."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from commands import engine, stack
from commands.passphrase import VARIABLES

STACK_FILE = "secretsprovider: awskms://alias/observability\nconfig: {}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of the test's own, with the environments dev and prod."""
    for name in ("dev", "prod"):
        (tmp_path / f"Pulumi.{name}.yaml").write_text(STACK_FILE)
    monkeypatch.setattr(engine, "ROOT", tmp_path)
    monkeypatch.setattr(engine, "STATE", tmp_path / ".pulumi" / "state")
    monkeypatch.setattr(engine, "TEMPORARY", tmp_path / ".pulumi" / "tmp")
    monkeypatch.setattr(engine, "POLICIES", tmp_path / "policies")
    monkeypatch.setattr(engine, "PULUMI", tmp_path / "pulumi")
    for module in (engine, stack):
        monkeypatch.setattr(module, "stack_file", lambda name: tmp_path / f"Pulumi.{name}.yaml")
    for variable in ("PULUMI_BACKEND_URL", *VARIABLES):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def _pulumi(project: Path, script: str) -> None:
    (project / "pulumi").write_text(f"#!{sys.executable}\n{textwrap.dedent(script)}")
    (project / "pulumi").chmod(0o755)


# --- environment ---


def test_the_shells_kubeconfig_does_not_reach_the_engine(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/someone/.kube/config")
    with engine.engine_environment("dev") as variables:
        assert "KUBECONFIG" not in variables


def test_the_state_lies_in_the_checkout_in_a_folder_that_exists(project: Path) -> None:
    with engine.engine_environment("dev") as variables:
        assert variables["PULUMI_BACKEND_URL"] == f"file://{project}/.pulumi/state"
    assert (project / ".pulumi" / "state").is_dir()


def test_a_stated_backend_is_used(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", "file://./elsewhere?no_tmp_dir=true")
    with engine.engine_environment("dev") as variables:
        assert variables["PULUMI_BACKEND_URL"] == "file://./elsewhere?no_tmp_dir=true"
    assert (project / "elsewhere").is_dir()
    assert not (project / ".pulumi" / "state").exists()


def test_temporary_files_go_with_the_run_even_when_it_fails(project: Path) -> None:
    folders: list[Path] = []

    def fail() -> None:
        with engine.engine_environment("dev") as variables:
            folders.append(Path(variables["TMPDIR"]))
            assert folders[0].stat().st_mode & 0o777 == 0o700
            (folders[0] / "kubeconfig").write_text("token")
            raise TimeoutError

    with pytest.raises(TimeoutError):
        fail()
    assert not folders[0].exists()


def test_temporary_files_of_a_killed_run_go_with_the_next_one(project: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    killed, other = (project / ".pulumi" / "tmp" / f"{pid}-x" for pid in (ended.pid, os.getppid()))
    for folder in (killed, other):
        folder.mkdir(parents=True)
        (folder / "kubeconfig").write_text("token")
    with engine.engine_environment("dev"):
        assert not killed.exists()
        assert other.exists(), "belongs to a process that is alive"


# --- arguments ---


def test_up_shows_its_preview_and_asks_nothing() -> None:
    arguments = engine.arguments_of("up", "dev")
    assert "--yes" in arguments
    assert "--skip-preview" not in arguments


@pytest.mark.parametrize(("command", "asked"), [("preview", 1), ("up", 1), ("destroy", 0), ("refresh", 0)])
def test_policies_judge_what_is_declared_as_soon_as_there_is_a_pack(
    command: str, asked: int, project: Path
) -> None:
    assert "--policy-pack" not in engine.arguments_of(command, "dev")
    (project / "policies").mkdir()
    (project / "policies" / "PulumiPolicy.yaml").write_text("runtime: python\n")
    assert engine.arguments_of(command, "dev").count("--policy-pack") == asked


REMEMBERS = """
    import os, sys
    open("asked", "a").write(" ".join(sys.argv[1:]) + "\\n")
    if "select" in sys.argv and os.path.exists("broken"):
        print("error: " + open("broken").read())
        sys.exit(7)
"""


def asked(project: Path) -> list[str]:
    """What the engine was called with."""
    return [line.removeprefix("--non-interactive ") for line in (project / "asked").read_text().splitlines()]


def test_the_stack_is_selected_first_and_a_failure_there_ends_the_run(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _pulumi(project, REMEMBERS)
    assert engine.run("preview", "dev") == 0
    (project / "broken").write_text("incorrect passphrase")
    assert engine.run("up", "dev") == 7
    assert engine.run("destroy", "dev") == 7
    assert capsys.readouterr().out.count("error: incorrect passphrase") == 2
    provider = "--secrets-provider awskms://alias/observability"
    assert asked(project) == [
        f"stack select dev --create {provider}",
        "preview --stack dev --suppress-outputs",
        f"stack select dev --create {provider}",
        "stack select dev",
    ]


@pytest.mark.parametrize("command", ["destroy", "refresh"])
def test_what_changes_a_stack_that_is_there_makes_none_and_names_the_backend(
    command: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _pulumi(project, REMEMBERS)
    (project / "broken").write_text("no stack named 'dev' found")
    monkeypatch.setenv("PULUMI_BACKEND_URL", "postgres://me:hidden@db.example.com/state")
    assert engine.main([command, "--env", "dev"]) == 2
    said = capsys.readouterr().err
    assert "no stack 'dev' in postgres://...@db.example.com/state" in said
    assert "PULUMI_BACKEND_URL" in said
    assert "hidden" not in said
    assert asked(project) == ["stack select dev"]


def test_without_the_engine_the_next_command_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert engine.main(["up", "--env", "dev"]) == 2
    assert "run `make setup`" in capsys.readouterr().err


# --- signals ---

WAITS = """
    import os, signal, sys, time
    received = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda n, _: received.append(signal.Signals(n).name))
    open("ready", "w").close()
    while not received:
        time.sleep(0.01)
    time.sleep(0.15)  # a second one would come in here
    print(",".join(received), flush=True)
    sys.exit(5)
"""


def _wait_for(file: Path, seconds: float = 60) -> None:
    """Long, since an interpreter took more than 5 s to start on a busy machine."""
    last = time.monotonic() + seconds
    while time.monotonic() < last:
        if file.exists():
            return
        time.sleep(0.01)
    raise AssertionError(f"{file} did not appear")


@pytest.mark.parametrize(
    ("sent", "received"), [("SIGINT", "SIGINT"), ("SIGTERM", "SIGTERM"), ("SIGHUP", "SIGTERM")]
)
@pytest.mark.parametrize("to_the_group", [True, False], ids=["from a terminal", "to the process"])
def test_the_engine_gets_each_signal_once_and_is_waited_for(
    sent: str, received: str, to_the_group: bool, project: Path
) -> None:
    _pulumi(project, WAITS)
    program = f"""
        import pathlib, sys
        from commands import engine, stack
        engine.PULUMI, engine.ROOT = (pathlib.Path({str(project)!r}) / part for part in ("pulumi", "."))
        sys.exit(engine.run_pulumi([], {{}}).returncode)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True, process_group=0
    ) as command:
        try:
            _wait_for(project / "ready")
            (os.killpg if to_the_group else os.kill)(command.pid, signal.Signals[sent])
            output, _ = command.communicate(timeout=60)
        finally:
            command.kill()  # nothing to do unless the test failed: leaving the block would wait for it
    assert output.strip() == received
    assert command.returncode == 5


def test_an_engine_that_a_signal_ended_gives_the_shells_status(project: Path) -> None:
    _pulumi(project, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert engine.exit_status(engine.run_pulumi([], {})) == 137


def test_captured_output_holds_both_streams(project: Path) -> None:
    _pulumi(project, "import sys; print('out', flush=True); print('err', file=sys.stderr)")
    assert engine.run_pulumi([], {}, capture=True).stdout == "out\nerr\n"


@pytest.mark.parametrize("command", engine.COMMANDS)
def test_only_a_preview_goes_without_checkpoints(command: str) -> None:
    """A killed `up` leaves what its last step wrote; a preview leaves nothing."""
    given = engine.variables_of(command, {"A": "b"})
    assert ("PULUMI_SKIP_CHECKPOINTS" in given) == (command == "preview")
    assert given["A"] == "b"
