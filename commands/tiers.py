"""Runs the project's tests in tiers and says how long each took: `python -m commands.tiers lint types unit`."""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from commands.environments import ROOT


@dataclass(frozen=True)
class Tier:
    """Commands that belong together, and how long they may take on two cores with the tools in place."""

    budget: int  # seconds
    commands: tuple[tuple[str, ...], ...]


def _python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", *arguments)


def _tests(*folders: str, workers: int = 0) -> tuple[str, ...]:
    # The plugin fails a tier in which nothing ran or something was skipped: green must mean tested.
    options = ("-p", "commands.nothing_skipped", "-q", "-n", str(workers))
    return _python("pytest", *options, *(f"tests/{folder}" for folder in folders))


# Fast ones first. The first three are `make test-fast` and need no tools: 60 s; all: under 18 minutes.
TIERS = {
    "lint": Tier(5, (_python("ruff", "check", "."), _python("ruff", "format", "--check", "."))),
    "types": Tier(20, (_python("mypy"),)),
    "unit": Tier(35, (_tests("unit", "policies", workers=2),)),
    "engine": Tier(240, (_tests("engine", "policies/engine"),)),
    "cluster": Tier(420, (_tests("cluster", "policies/cluster"),)),
    "eks": Tier(240, (_tests("eks"),)),
    "services": Tier(120, (_tests("services"),)),
}


def run(name: str) -> tuple[bool, float]:
    """Runs one tier; tells whether all of it passed, and how many seconds it took."""
    tier = TIERS[name]
    print(f"== {name}: budget {tier.budget} s", flush=True)
    started = time.monotonic()
    failed = [c for c in tier.commands if subprocess.run(c, cwd=ROOT, check=False).returncode]
    took = time.monotonic() - started
    print(f"== {name}: {'FAILED' if failed else 'passed'} in {took:.1f} s of {tier.budget} s", flush=True)
    return not failed, took


def summary(results: dict[str, tuple[bool, float]]) -> str:
    """Returns a table of what every tier gave."""
    lines = [
        f"{name:<10}{'passed' if passed else 'FAILED':<8}{took:>7.1f} s of {TIERS[name].budget:>4} s"
        + ("" if took <= TIERS[name].budget else "  over its budget")
        for name, (passed, took) in results.items()
    ]
    total = sum(took for _, took in results.values())
    return "\n".join([*lines, f"{'all':<18}{total:>7.1f} s of {sum(TIERS[n].budget for n in results):>4} s"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tiers named on the command line; all of them, even after one failed."""
    parser = argparse.ArgumentParser(prog="python -m commands.tiers", description=__doc__)
    parser.add_argument("tiers", nargs="+", choices=TIERS)
    results = {name: run(name) for name in parser.parse_args(arguments).tiers}
    print(summary(results), flush=True)
    return 0 if all(passed for passed, _ in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
