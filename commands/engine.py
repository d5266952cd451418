"""Runs the real Pulumi engine on an environment: `python -m commands.engine preview|up|destroy|refresh --env dev`."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Protocol

from commands import stack
from commands.aftermath import conclude, watch_for
from commands.environments import ROOT, CommandError, stack_file, stack_settings
from commands.executor_noise import ExecutorNoise
from commands.passphrase import PUBLIC, VARIABLES, passphrase
from commands.real_target import refuse_public
from commands.state import export_arguments
from diagnosis.watch import Watch

PULUMI = ROOT / ".toolchain" / "bin" / "pulumi"
TEMPORARY = ROOT / ".pulumi" / "tmp"
STATE = ROOT / ".pulumi" / "state"
POLICIES = ROOT / "policies"
COMMANDS = ("preview", "up", "destroy", "refresh")
# As what the engine gets them. It knows the first two, and a terminal that closes must not leave its lock behind.
FORWARDED = {signal.SIGINT: signal.SIGINT, signal.SIGTERM: signal.SIGTERM, signal.SIGHUP: signal.SIGTERM}

SETTINGS = {
    # Only the plugins of this project: none that happens to lie on PATH, none fetched in the middle of a run.
    "PULUMI_HOME": str(ROOT / ".toolchain" / "pulumi"),
    "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
    "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    "PULUMI_SKIP_UPDATE_CHECK": "true",
    # An Output that lands in an f-string raises instead of becoming a text that describes it.
    "PULUMI_ERROR_OUTPUT_STRING": "true",
    # A policy pack announces its port on stdout and does not flush it: unbuffered, or preview hangs for ever.
    "PYTHONUNBUFFERED": "1",
}
# A preview saves nothing, and yet the engine writes down the whole state for each of its steps: at 50 tenants 24 s of
# CPU with that, 8 s without. Only for commands whose state nobody needs: what a killed `up` leaves is its last step's.
WITHOUT_CHECKPOINTS = {"PULUMI_EXPERIMENTAL": "true", "PULUMI_SKIP_CHECKPOINTS": "true"}


@contextmanager
def engine_environment(
    environment: str, *, backend: str | None = None, public: bool = False
) -> Iterator[dict[str, str]]:
    """Gives the variables to run the engine with on an environment.

    TMPDIR is a new folder that is removed at the end, whatever happens: provider 4.25.0 leaves a kubeconfig with its
    token there, twice per run.

    Args:
        environment: its name, as in `Pulumi.<environment>.yaml`.
        backend: where the state is; by default PULUMI_BACKEND_URL, else a folder of this checkout.
        public: whether nothing in it is secret, so that the public passphrase does, whatever is given.
    """
    file = stack_file(environment)
    url = backend or os.environ.get("PULUMI_BACKEND_URL") or f"file://{STATE}"
    # The kubeconfig in use is the one that the environment's target names, never the one of the shell.
    given = {key: value for key, value in os.environ.items() if key not in ("KUBECONFIG", *VARIABLES)}
    variables = {
        **given,
        **SETTINGS,
        **plugins(stack_settings(file)),
        "PATH": os.pathsep.join([str(PULUMI.parent), os.environ.get("PATH", os.defpath)]),
        "PULUMI_BACKEND_URL": url,
        **(PUBLIC if public else passphrase(environment, stack_settings(file), url, os.environ)),
    }
    _make_state_folder(url)
    with temporary_folder() as folder:
        yield {**variables, "TMPDIR": str(folder)}


def plugins(settings: Mapping[str, object]) -> dict[str, str]:
    """Returns what lets the engine fetch the plugin for AWS, which no other environment needs, and nothing else does.

    Args:
        settings: content of the environment's file.
    """
    config = settings.get("config")
    cluster = config.get("shared-observability:cluster") if isinstance(config, Mapping) else None
    target = cluster.get("target") if isinstance(cluster, Mapping) else None
    on_eks = isinstance(target, Mapping) and target.get("kind") == "eks"
    return {"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "false"} if on_eks else {}


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Gives a new private folder and removes it at the end; one of a run that was killed goes with the next run."""
    TEMPORARY.mkdir(parents=True, exist_ok=True)
    for left in TEMPORARY.iterdir():
        if not _alive(left.name.partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(
        prefix=f"{os.getpid()}-", dir=TEMPORARY, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def _alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except PermissionError:
        return True  # somebody else's
    except (ProcessLookupError, ValueError):
        return False
    return True


def _make_state_folder(url: str) -> None:
    """Creates the folder of a file backend, which the engine wants to find: relative means relative to the project."""
    if url.startswith("file://"):
        folder = Path(url.removeprefix("file://").partition("?")[0]).expanduser()
        (ROOT / folder).mkdir(parents=True, exist_ok=True)


class Listener(Protocol):
    """Hears one run of the engine."""

    def started(self, interrupt: Callable[[], None]) -> None:
        """It runs; `interrupt` is what Ctrl-C is."""

    def heard(self, line: str) -> None:
        """A line of its standard output."""

    def ended(self) -> None:
        """It has ended."""


def run_pulumi(
    arguments: Sequence[str],
    variables: Mapping[str, str],
    *,
    capture: bool = False,
    listener: Listener | None = None,
    ask: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Runs the CLI in the project's folder and waits for it, through Ctrl-C too.

    Its output passes through, or is captured (standard error within it) where a test wants to read it. It reads our
    standard input only where `ask` says so: a secret may come that way.
    """
    if not PULUMI.exists():
        raise CommandError(f"{PULUMI} is missing: run `make setup`")
    sent: list[int] = []
    children: list[subprocess.Popen[str]] = []

    def forward(number: int, _frame: FrameType | None) -> None:
        sent.append(FORWARDED[signal.Signals(number)])
        for child in children:
            child.send_signal(sent[-1])

    with _handled(forward):
        # A group of its own: a terminal sends Ctrl-C to our whole group, and the engine takes a second one as the
        # order to abandon what it is doing. So it gets exactly those that are forwarded.
        child = subprocess.Popen(
            [str(PULUMI), "--non-interactive", *arguments],
            cwd=ROOT,
            env=dict(variables),
            stdin=None if ask else subprocess.DEVNULL,
            stdout=subprocess.PIPE if capture or listener else None,
            stderr=subprocess.STDOUT if capture else None,
            text=True,
            process_group=0,
        )
        children.append(child)
        for number in sent:  # came before there was a child to send it to
            child.send_signal(number)
        if listener:
            output = _listen(child, listener)
        else:
            output, _ = child.communicate()
    return subprocess.CompletedProcess(child.args, child.returncode, output or "")


def _listen(child: "subprocess.Popen[str]", listener: Listener) -> str:
    """Passes the output on, line by line; where nobody reads ours any more, the engine is heard to its end."""
    listener.started(lambda: child.send_signal(signal.SIGINT))
    noise = ExecutorNoise()
    for line in child.stdout or ():
        listener.heard(line)
        _show(noise.filtered(line))
    _show(noise.rest())
    child.wait()
    listener.ended()
    return ""


def _show(lines: Iterable[str]) -> None:
    for line in lines:
        with suppress(BrokenPipeError):
            sys.stdout.write(line)
            sys.stdout.flush()


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # Python handles signals in its main thread only
        return
    before = {number: signal.signal(number, handler) for number in FORWARDED}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def arguments_of(command: str, environment: str) -> list[str]:
    """Returns the CLI's arguments for one of `COMMANDS`."""
    # Outputs are for other programs, and long: `pulumi stack output` shows them, one by one too.
    arguments = [command, "--stack", environment, "--suppress-outputs"]
    if command != "preview":
        arguments.append("--yes")
    if command in {"preview", "up"}:
        arguments += policy_arguments()
    return arguments


def policy_arguments() -> list[str]:
    """Returns what makes the engine ask the policy pack, once there is one."""
    return ["--policy-pack", str(POLICIES)] if (POLICIES / "PulumiPolicy.yaml").exists() else []


def run(command: str, environment: str) -> int:
    """Runs one of `COMMANDS` on an environment and returns the engine's exit status."""
    with engine_environment(environment) as variables:
        if command != "preview":
            refuse_public(environment, variables)
        status = select_stack(environment, variables, create=command in stack.CREATING)
        if status:
            return status
        status, watch = run_watched(command, environment, variables)
        return conclude(command, environment, status, watch, exporter(environment, variables))


def select_stack(environment: str, variables: Mapping[str, str], *, create: bool) -> int:
    """Selects the environment's stack; returns the exit status.

    Raises:
        CommandError: if there is none, and none is to be made.
    """
    return stack.select(environment, variables, _captured, create=create)


def _captured(arguments: Sequence[str], variables: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    return run_pulumi(arguments, variables, capture=True)


def run_watched(
    command: str, environment: str, variables: Mapping[str, str], options: Sequence[str] = ()
) -> tuple[int, Watch]:
    """Runs one of `COMMANDS` with further options; returns the engine's exit status and what was heard of it."""
    watch = watch_for(command, environment)
    color = ["--color", "always"] if sys.stdout.isatty() else []
    arguments = [*arguments_of(command, environment), *color, *options]
    return exit_status(run_pulumi(arguments, variables_of(command, variables), listener=watch)), watch


def variables_of(command: str, variables: Mapping[str, str]) -> dict[str, str]:
    """The environment's variables for one of `COMMANDS`."""
    return {**variables, **(WITHOUT_CHECKPOINTS if command == "preview" else {})}


def exporter(
    environment: str, variables: Mapping[str, str]
) -> Callable[[], "subprocess.CompletedProcess[str]"]:
    """What exports the environment's state when it is called."""
    return lambda: run_pulumi(export_arguments(environment), variables, capture=True)


def exit_status(done: subprocess.CompletedProcess[str]) -> int:
    """Returns the status as a shell gives it: 128 and the signal's number for a process that a signal ended."""
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m commands.engine", description=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--env", required=True, help="the environment: dev for Pulumi.dev.yaml")
    asked = parser.parse_args(arguments)
    try:
        return run(asked.command, asked.env)
    except CommandError as problem:
        sys.stderr.write(f"{asked.command}: {problem}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
