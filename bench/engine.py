"""What the engine takes: `python -m bench.engine`.

For each number of tenants, rendered to files and on a simulated cluster (a real API server), with the state in a folder
as `make` keeps it: `up` from empty, preview and `up` without a change, `up` with one tenant more, destroy. Beside it,
rendered, preview from empty and without a change, in turns with a program that registers the same objects by hand
(`bench.bare`).

Judged by CPU time, of which other work on the machine changes less than of seconds:

- preview takes at most `MOST_OF_BARE` times what the bare program takes;
- one tenant more costs at most `MOST_OF_UNCHANGED` times what an `up` without a change takes with as many tenants: both
  grow with the state, which the engine writes at each step (ADR 0020).
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bench import bare
from bench.measuring import Used, Writes, finish, run, say, watch_machine, write
from commands.engine import PULUMI, WITHOUT_CHECKPOINTS, engine_environment, variables_of
from commands.environments import ROOT
from components.names import OWNER_LABEL
from simulator import nodes, teams
from simulator.api import Object
from simulator.control_plane import ControlPlane
from simulator.nodes import Nodes
from tests.support import stack_files
from tests.support.environments import KEY, PROJECT, changed, parsed

TENANTS = (5, 50, 200)
ROUNDS = 3
MOST_OF_BARE = 1.25
MOST_OF_UNCHANGED = 1.25
WHERE = ("files", "cluster")
MOST_RENDERED_WHOLE = 50
"""Tenants up to which `up` from empty and destroy are measured with files too: at 200 each takes 15 minutes."""
PODS = 3  # of a tenant: its Grafana and two of its own
STACK = "sim"  # its passphrase is public
STACK_FILE = ROOT / f"Pulumi.{STACK}.yaml"
NOTHING: Mapping[str, str] = MappingProxyType({})
Step = str


@dataclass(frozen=True)
class Row:
    """One command with one number of tenants.

    Attributes:
        where: `cluster`, or `files` where it is rendered.
        tenants: before the command.
        step: which one.
        objects: that the stack has after it.
        wall: seconds.
        cpu: seconds of the engine, its plugins and the program; not of the API server.
        peak_mib: most memory of these at one moment.
        state_kib: size of the state file after it.
        writes: how often it was written.
    """

    where: str
    tenants: int
    step: Step
    objects: int
    wall: float
    cpu: float
    peak_mib: float
    state_kib: float
    writes: int


@dataclass(frozen=True)
class Ratio:
    """A preview by this project and by the bare program: the best of several turns each.

    Attributes:
        tenants: of the environment.
        step: from empty, or without a change.
        objects: that both register.
        cpu: seconds of CPU: ours, and bare.
        wall: seconds: ours, and bare.
        ratio: of CPU.
        spread: worst by best turn of ours, by CPU.
    """

    tenants: int
    step: Step
    objects: int
    cpu: tuple[float, float]
    wall: tuple[float, float]
    ratio: float
    spread: float


def settings_of(tenants: int, target: Object) -> Object:
    """The settings of `sim` with so many tenants, and nodes enough."""
    own = {f"team-{number}": {"pods": PODS} for number in range(tenants)}
    size = 9 + tenants * (PODS + 1) // 40
    return changed(
        stack_files.shipped(STACK),
        ("tenants", own),
        ("cluster.nodeGroups.workers.nodes", size),
        ("cluster.target", target),
    )


class Project:
    """A stack of a program, with a state of its own."""

    def __init__(self, folder: Path, program: Path, project: str, settings: Object | None) -> None:
        """Makes the stack.

        Args:
            folder: for state and stack file.
            program: folder of the program.
            project: its name.
            settings: of this project; None for a program without.
        """
        self._folder, self._program, self._settings = folder, program, settings
        self.state = folder / "state" / ".pulumi" / "stacks" / project / f"{STACK}.json"
        folder.mkdir(parents=True, exist_ok=True)
        self._write()
        self.engine("stack", "init", STACK, "--no-select")

    def change(self, settings: Object) -> None:
        """Other settings for all that follows."""
        self._settings = settings
        self._write()

    def _write(self) -> None:
        # The bare program has no configuration; the same salt, so that the same passphrase opens its secrets.
        bare_text = "".join(
            line for line in STACK_FILE.read_text().splitlines(True) if line.startswith("encryptionsalt")
        )
        text = bare_text if self._settings is None else stack_files.stack_file_text(STACK, self._settings)
        (self._folder / f"Pulumi.{STACK}.yaml").write_text(text)

    def engine(self, *arguments: str, variables: Mapping[str, str] = NOTHING) -> Used:
        """One command of the engine."""
        with engine_environment(STACK, backend=f"file://{self._folder / 'state'}") as environment:
            # Python keeps what it has compiled, as for whoever deploys a second time; some build machines forbid it.
            given = {**variables_of(arguments[0], environment), **variables, "PYTHONDONTWRITEBYTECODE": ""}
            used = run([str(PULUMI), "--non-interactive", *arguments], given, self._program)
        if used.status:
            raise SystemExit(f"{' '.join(arguments)} fails:\n{used.output[-3000:]}")
        return used

    def command(self, command: str, variables: Mapping[str, str] = NOTHING) -> Used:
        """One that works on the stack."""
        file = str(self._folder / f"Pulumi.{STACK}.yaml")
        at_once = [] if command == "preview" else ["--yes", "--skip-preview"]
        given = (command, "--stack", STACK, "--config-file", file, "--suppress-outputs", *at_once)
        return self.engine(*given, variables=variables)

    def fill(self) -> None:
        """`up` from empty that is not measured: its state is written once, at the end."""
        self.command("up", WITHOUT_CHECKPOINTS)

    def export(self) -> Mapping[str, Any]:
        """Its state, with secrets."""
        file = self._folder / "export.json"
        self.engine("stack", "export", "--stack", STACK, "--show-secrets", "--file", str(file))
        found: Mapping[str, Any] = json.loads(file.read_text())
        file.unlink()
        return found

    def objects(self) -> int:
        """Kubernetes objects in the state."""
        resources = json.loads(self.state.read_text())["checkpoint"]["latest"].get("resources") or []
        return sum(resource["type"].startswith(bare.KUBERNETES) for resource in resources)


def on_cluster(tenants: int, using: ExitStack) -> list[Row]:
    """All commands on one simulated cluster."""
    folder = Path(using.enter_context(tempfile.TemporaryDirectory()))
    plane = using.enter_context(ControlPlane(folder / "plane"))
    target = {"kind": "kubeconfig", "path": str(plane.kubeconfig), "context": "sim"}
    read = parsed({**settings_of(tenants + 1, target), "gatewayKey": KEY}, STACK)
    Nodes(plane.api).add(*nodes.of_cluster(read.cluster))
    for name in teams.namespaces(read):
        plane.api.apply(teams.namespace(name))
    rows = steps("cluster", tenants, folder / "stack", target)
    left = plane.api.list("daemonsets", labelSelector=f"{OWNER_LABEL}={STACK}")
    if left:
        raise SystemExit(f"destroy leaves {[o['metadata']['name'] for o in left]}")
    return rows


def rendered(tenants: int, using: ExitStack) -> list[Row]:
    """All commands with files as target: what the engine itself takes."""
    folder = Path(using.enter_context(tempfile.TemporaryDirectory()))
    return steps(
        "files", tenants, folder / "stack", {"kind": "render", "directory": str(folder / "rendered")}
    )


def steps(where: str, tenants: int, folder: Path, target: Object) -> list[Row]:
    """The commands, one after another."""
    settings, more = settings_of(tenants, target), settings_of(tenants + 1, target)
    settings["cluster"] = more["cluster"]  # nodes for both, so that only the tenant is added
    project = Project(folder, ROOT, PROJECT, settings)
    rows = []

    def step(name: Step, command: str) -> None:
        writes = Writes(project.state)
        used = project.command(command)
        size = round(project.state.stat().st_size / 1024)
        figures = (round(used.wall, 2), round(used.cpu, 2), round(used.peak_mib), size, writes.count())
        rows.append(Row(where, tenants, name, project.objects(), *figures))
        say(f"  {line(rows[-1])}")

    whole = where == "cluster" or tenants <= MOST_RENDERED_WHOLE
    if whole:
        step("up from empty", "up")
    else:
        project.fill()
    step("preview, no change", "preview")
    step("up, no change", "up")
    step("up, no change, again", "up")
    project.change(more)
    step("up, one tenant more", "up")
    if whole:
        step("destroy", "destroy")
    return rows


def line(row: Row) -> str:
    """A row for people."""
    return (
        f"{row.where:<7} {row.tenants:>4} tenants  {row.step:<22} {row.objects:>5} objects  {row.wall:>7.1f} s  "
        f"CPU {row.cpu:>6.1f} s  {row.peak_mib:>5.0f} MiB  state {row.state_kib:>6.0f} KiB, written {row.writes} times"
    )


def against_bare(tenants: int, rounds: int, using: ExitStack) -> list[Ratio]:
    """Previews in turns, rendered to files."""
    folder = Path(using.enter_context(tempfile.TemporaryDirectory()))
    target = {"kind": "render", "directory": str(folder / "rendered")}
    ours = Project(folder / "ours", ROOT, PROJECT, settings_of(tenants, target))
    ours.fill()
    program = folder / "program"
    program.mkdir()
    objects = bare.write(program, ours.export())
    theirs = Project(folder / "bare", program, "bare", None)
    theirs.fill()
    if theirs.objects() != objects:
        raise SystemExit(f"the bare program has {theirs.objects()} objects, not {objects}")
    empty = (
        Project(folder / "ours-empty", ROOT, PROJECT, settings_of(tenants, target)),
        Project(folder / "bare-empty", program, "bare", None),
    )
    return [
        _turns(tenants, "preview from empty", objects, rounds, empty),
        _turns(tenants, "preview, no change", objects, rounds, (ours, theirs)),
    ]


def _turns(tenants: int, step: Step, objects: int, rounds: int, projects: tuple[Project, Project]) -> Ratio:
    runs = [[project.command("preview") for project in projects] for _ in range(rounds)]
    ours, theirs = zip(*runs, strict=True)

    def best(key: Callable[[Used], float]) -> tuple[float, float]:
        return round(min(map(key, ours)), 2), round(min(map(key, theirs)), 2)

    cpu = best(lambda used: used.cpu)
    spread = max(used.cpu for used in ours) / cpu[0]
    ratio = Ratio(
        tenants, step, objects, cpu, best(lambda used: used.wall), round(cpu[0] / cpu[1], 3), round(spread, 2)
    )
    say(
        f"  {tenants:>4} tenants  {step:<22} {objects:>5} objects  CPU {cpu[0]:.2f} s, bare {cpu[1]:.2f} s: "
        f"{ratio.ratio:.2f}x (wall {ratio.wall[0]:.1f} and {ratio.wall[1]:.1f} s, spread {ratio.spread:.2f})"
    )
    return ratio


def without_change(rows: Sequence[Row], where: str) -> dict[int, float]:
    """CPU seconds of an `up` that has nothing to do, the better of two, by tenants."""
    found: dict[int, float] = {}
    for row in rows:
        if row.where == where and row.step in ("up, no change", "up, no change, again"):
            found[row.tenants] = min(row.cpu, found.get(row.tenants, row.cpu))
    return found


def one_more(rows: Sequence[Row], where: str) -> dict[int, float]:
    """CPU seconds that one tenant more costs, by the tenants that there were."""
    unchanged = without_change(rows, where)
    return {
        row.tenants: round(row.cpu - unchanged[row.tenants], 2)
        for row in rows
        if row.where == where and row.step == "up, one tenant more"
    }


def mistakes(rows: Sequence[Row], ratios: Sequence[Ratio]) -> list[str]:
    """What costs more than it may."""
    found = [
        f"{r.step} at {r.tenants} tenants takes {r.ratio:.2f} times the bare program's CPU, over {MOST_OF_BARE}"
        for r in ratios
        if r.ratio > MOST_OF_BARE
    ]
    for where in WHERE:
        unchanged = without_change(rows, where)
        for tenants, more in one_more(rows, where).items():
            if more > MOST_OF_UNCHANGED * unchanged[tenants]:
                found.append(
                    f"one tenant more ({where}) costs {more:.1f} s of CPU at {tenants} tenants, where `up` without a "
                    f"change takes {unchanged[tenants]:.1f} s: {more / unchanged[tenants]:.2f} times, over "
                    f"{MOST_OF_UNCHANGED}"
                )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, and writes JSON; fails if something costs more than it may."""
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    parser.add_argument(
        "--tenants", type=int, nargs="*", default=list(TENANTS), help="rendered, and beside bare"
    )
    parser.add_argument(
        "--cluster", type=int, nargs="*", default=list(TENANTS), help="on a simulated cluster"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args(arguments)
    end = watch_machine()
    rows: list[Row] = []
    ratios: list[Ratio] = []
    for tenants in given.tenants:
        say(
            f"engine: {tenants} tenants, rendered and beside the bare program (about {1 + tenants // 30} minutes)"
        )
        with ExitStack() as using:
            ratios += against_bare(tenants, given.rounds, using)
        with ExitStack() as using:
            rows += rendered(tenants, using)
        write("engine", told(rows, ratios), end(), mistakes(rows, ratios))
    for tenants in given.cluster:
        say(f"engine: {tenants} tenants on a simulated cluster (about {1 + tenants**2 // 1000} minutes)")
        with ExitStack() as using:
            rows += on_cluster(tenants, using)
    return finish("engine", told(rows, ratios), end(), mistakes(rows, ratios))


def told(rows: Sequence[Row], ratios: Sequence[Ratio]) -> dict[str, Any]:
    """The results."""
    return {
        "rows": [asdict(row) for row in rows],
        "ratios": [asdict(ratio) for ratio in ratios],
        "one_more_cpu": {where: one_more(rows, where) for where in WHERE},
        "bounds": {"preview": MOST_OF_BARE, "one_more": MOST_OF_UNCHANGED},
    }


if __name__ == "__main__":
    raise SystemExit(main())
