"""Which resources an operation is about: `--target` and `--exclude` of the command that started the pack.

The engine hands every resource to the pack, also those that it will not touch: new ones with no inputs, existing ones
with the inputs of their last update, by nothing told apart from the rest. To accuse those would block the very update
that leaves them alone. No call tells the targets, so they are read from the command line of the process that started
this one. Where that cannot be read, every resource counts as targeted.
"""

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# This process, the language host, the CLI; and a wrapper or two between them.
MOST_ANCESTORS = 6
CLI_NAMES = ("pulumi", "pulumi.exe")
DEPENDENTS = ("--target-dependents", "--exclude-dependents")
PROC = Path("/proc")


@dataclass(frozen=True)
class Targets:
    """The resources that an operation may change.

    Attributes:
        targets: URNs and globs; with none every resource is one.
        excludes: URNs and globs that are not.
    """

    targets: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()

    def hold(self, urn: str) -> bool:
        """Whether the operation is about this resource."""
        wanted = not self.targets or any(_matches(glob, urn) for glob in self.targets)
        return wanted and not any(_matches(glob, urn) for glob in self.excludes)


def of_command_line(arguments: Sequence[str]) -> Targets:
    """What the CLI was told; with dependents any resource may be one, so none is left out."""
    if any(argument.partition("=")[0] in DEPENDENTS for argument in arguments):
        return Targets()
    return Targets(
        tuple(_values(arguments, ("--target", "-t", "--target-replace"))),
        tuple(_values(arguments, ("--exclude",))),
    )


def of_this_operation(pid: int) -> Targets:
    """What the CLI was told that started the process `pid`, through whatever lies between."""
    for arguments in _ancestors(pid):
        if arguments and Path(arguments[0]).name in CLI_NAMES:
            return of_command_line(arguments[1:])
    return Targets()


def _values(arguments: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    for number, argument in enumerate(arguments):
        name, separator, value = argument.partition("=")
        if name in names and separator:
            yield value
        elif argument in names and number + 1 < len(arguments):
            yield arguments[number + 1]
        elif (
            "-t" in names
            and argument.startswith("-t")
            and not argument.startswith("--")
            and len(argument) > len("-t")
        ):
            yield argument[len("-t") :].removeprefix("=")


def _matches(glob: str, urn: str) -> bool:
    """As the engine does it: `*` stops at a colon, `**` does not."""
    parts = ["[^:]*".join(re.escape(piece) for piece in part.split("*")) for part in glob.split("**")]
    return re.fullmatch(".*".join(parts), urn) is not None


def _ancestors(pid: int) -> Iterator[list[str]]:
    """Command lines from the process itself upwards."""
    for _ in range(MOST_ANCESTORS):
        found = _from_proc(pid) if PROC.is_dir() else _from_ps(pid)
        if found is None:
            return
        pid, arguments = found
        yield arguments
        if pid <= 1:
            return


def _from_proc(pid: int) -> tuple[int, list[str]] | None:
    """Parent and arguments of a process, on Linux."""
    try:
        arguments = (PROC / str(pid) / "cmdline").read_text(encoding="utf-8").split("\0")
        status = (PROC / str(pid) / "status").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    parent = re.search(r"^PPid:\s*(\d+)$", status, re.MULTILINE)
    return (int(parent[1]), arguments[:-1]) if parent else None


def _from_ps(pid: int) -> tuple[int, list[str]] | None:
    """The same elsewhere; a URN holds no blank, so the words are the arguments."""
    command = ["ps", "-o", "ppid=,args=", "-p", str(pid)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = done.stdout.split()
    return (int(words[0]), words[1:]) if words and words[0].isdigit() else None
