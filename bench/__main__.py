"""All benches, one after another, and the page from their results: `python -m bench`, or `make bench`.

Every one of them runs, also after one that missed a bound; the exit status is 1 if any did.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence

from bench.measuring import say
from commands.environments import ROOT

# In this order, with the minutes that each takes on two idle cores, in round figures.
BENCHES = {
    "per_app_shape": 6,
    "prometheus": 4,
    "gateway": 3,
    "generated_reads": 5,
    "policy_pack": 4,
    "engine": 65,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs those that are named, by default all."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("benches", nargs="*", default=list(BENCHES), metavar=f"{{{','.join(BENCHES)}}}")
    chosen = parser.parse_args(arguments).benches
    if unknown := sorted(set(chosen) - set(BENCHES)):
        parser.error(f"no such bench: {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    say(f"{len(chosen)} benches, about {sum(BENCHES[name] for name in chosen)} minutes on idle cores")
    failed = []
    for name in chosen:
        started = time.monotonic()
        say(f"== {name}: about {BENCHES[name]} minutes")
        command = [sys.executable, "-m", f"bench.{name}"]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:  # noqa: S603 - of this folder
            failed.append(name)
        say(f"== {name}: {'FAILED' if name in failed else 'done'} after {time.monotonic() - started:.0f} s")
    subprocess.run([sys.executable, "-m", "bench.report"], cwd=ROOT, check=True)
    if failed:
        say(f"FAILED: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
