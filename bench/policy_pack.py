"""What the policy pack costs: `python -m bench.policy_pack`.

`pulumi preview` of the real program with and without the pack: environment dev with 50 and with 200 tenants, and nodes
enough for them. Both take turns, in the reverse order every other round, after one round that is not counted (it fills
caches). Each figure is the best of the rounds: other work on the machine only makes them longer.

- Wall time is what a person waits. It is judged, unless the machine was noisy.
- CPU time is that of all processes of the preview (CLI, language host, program, provider, pack), as the kernel counts
  it. Other work changes it less, so it is judged where wall time tells nothing.
"""

import argparse
import ctypes
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.measuring import others
from commands.engine import WITHOUT_CHECKPOINTS
from commands.passphrase import PUBLIC_PASSPHRASE
from tests.policies.engine.conftest import ROOT, STACK, Engine

TENANTS = (50, 200)
MOST = 1.3
"""How much longer a preview may take with the pack."""
BUSY_LOAD = 0.5
"""Runnable processes of others for each core, above which wall time tells nothing."""
SPREAD = 0.15
"""How far the median of the rounds may lie above the best one; more is noise."""
PR_SET_CHILD_SUBREAPER = 36
PLUGIN_SECONDS = 10
PREVIEW_SECONDS = 900  # 200 tenants took more than 100 s where ten processes wanted each core


@dataclass(frozen=True)
class Run:
    """One preview: seconds."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Row:
    """What the pack costs at one number of tenants: seconds of wall time, and ratios with the pack to without."""

    tenants: int
    seconds_without: float
    seconds_with: float
    ratio_wall: float
    ratio_cpu: float
    spread: float


@dataclass(frozen=True)
class Result:
    """All of it."""

    rounds: int
    rows: Sequence[Row]
    load_before: float
    load_of_others: float

    @property
    def noisy(self) -> bool:
        """Whether other work made wall time tell nothing."""
        return self.load_of_others > BUSY_LOAD or any(row.spread > SPREAD for row in self.rows)

    def mistakes(self) -> list[str]:
        """Where the pack costs more than it may."""
        what = "CPU" if self.noisy else "wall"
        ratios = {row.tenants: row.ratio_cpu if self.noisy else row.ratio_wall for row in self.rows}
        return [
            f"{tenants} tenants: {ratio:.2f}x {what} time with the pack, over {MOST:.1f}x"
            for tenants, ratio in ratios.items()
            if ratio > MOST
        ]

    def text(self) -> str:
        """A table for people."""
        lines = [
            f"best of {self.rounds} rounds; load average before {self.load_before:.1f}",
            f"{'tenants':>7}  {'without':>9}  {'with pack':>9}  {'wall':>6}  {'CPU':>6}  {'spread':>6}",
        ]
        lines += [
            f"{row.tenants:>7}  {row.seconds_without:>7.2f} s  {row.seconds_with:>7.2f} s  {row.ratio_wall:>5.2f}x  "
            f"{row.ratio_cpu:>5.2f}x  {row.spread:>6.0%}"
            for row in self.rows
        ]
        if self.noisy:
            lines.append(
                f"NOISY: {self.load_of_others:.1f} other processes wanted to run for each core. Wall time tells "
                "nothing; CPU time is judged instead, and is higher than on an idle machine."
            )
        return "\n".join([*lines, *self.mistakes()])


def environment(tenants: int) -> dict[str, Any]:
    """dev with this many tenants."""
    raw: dict[str, Any] = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())
    config = raw["config"]
    config["shared-observability:tenants"] = {f"team-{number}": {"pods": 10} for number in range(tenants)}
    config["shared-observability:cluster"]["nodeGroups"]["workers"]["nodes"] = 200
    return raw


def preview(engine: Engine, file: Path, *, pack: bool) -> Run:
    """One preview, with all its processes."""
    policies = ("--policy-pack", str(ROOT / "policies")) if pack else ()
    started, before = time.monotonic(), children()
    run = engine.call("--cwd", str(ROOT), "preview", *STACK, "--config-file", str(file), *policies)
    wall = time.monotonic() - started
    if run.status != 0:
        raise SystemExit(run.output)
    reap()
    return Run(wall, children() - before)


def children() -> float:
    """CPU seconds of the processes below this one that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def adopt_orphans() -> None:
    """Makes plugins that outlive the CLI children of this process, so that their CPU time is counted too."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap() -> None:
    """Waits for the plugins that the CLI left behind: it has told them to stop."""
    end = time.monotonic() + PLUGIN_SECONDS
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.01)
        except ChildProcessError:
            return
    raise SystemExit(
        f"a plugin of the preview still runs {PLUGIN_SECONDS} s after it: its CPU time is not known"
    )


def measure(sizes: Sequence[int], rounds: int) -> Result:
    """Rounds in which previews with and without the pack take turns."""
    load_before, loads, rows = os.getloadavg()[0], [], []
    adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(
            Path(folder) / "engine",
            passphrase=PUBLIC_PASSPHRASE,
            seconds=PREVIEW_SECONDS,
            variables=WITHOUT_CHECKPOINTS,  # as `make preview`
        )
        for tenants in sizes:
            file = Path(folder) / f"Pulumi.{tenants}.yaml"
            file.write_text(yaml.safe_dump(environment(tenants)))
            runs: dict[bool, list[Run]] = {False: [], True: []}
            for number in range(rounds + 1):
                for pack in (False, True) if number % 2 else (True, False):
                    loads.append(others())
                    runs[pack].append(preview(engine, file, pack=pack))
            rows.append(row(tenants, {pack: found[1:] for pack, found in runs.items()}))
    return Result(rounds, rows, load_before, statistics.median(loads))


def row(tenants: int, runs: Mapping[bool, Sequence[Run]]) -> Row:
    """The best of each, and how far the others lie above it."""
    wall = {pack: min(run.wall for run in found) for pack, found in runs.items()}
    cpu = {pack: min(run.cpu for run in found) for pack, found in runs.items()}
    medians = {pack: statistics.median(run.wall for run in found) for pack, found in runs.items()}
    return Row(
        tenants=tenants,
        seconds_without=wall[False],
        seconds_with=wall[True],
        ratio_wall=wall[True] / wall[False],
        ratio_cpu=cpu[True] / cpu[False],
        spread=max(medians[pack] / wall[pack] - 1 for pack in runs),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints a table, writes JSON; fails if the pack costs more than it may."""
    parser = argparse.ArgumentParser(prog="python -m bench.policy_pack", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tenants", type=int, nargs="+", default=list(TENANTS))
    parser.add_argument("--json", type=Path, default=Path("build/bench/policy_pack.json"))
    given = parser.parse_args(arguments)
    measured = measure(given.tenants, given.rounds)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    told = {**asdict(measured), "noisy": measured.noisy, "mistakes": measured.mistakes()}
    given.json.write_text(json.dumps(told, indent=1) + "\n")
    sys.stdout.write(f"{measured.text()}\n")
    return 1 if measured.mistakes() else 0


if __name__ == "__main__":
    sys.exit(main())
