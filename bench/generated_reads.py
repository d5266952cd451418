"""10,000 made-up reads of one tenant in two worlds that differ in foreign data only: `python -m bench.generated_reads`.

The same tests as in `make test`, which makes up 500: an answer never holds another owner's value, and both worlds give
the same answers. With real nginx, prom-label-proxy and Prometheus.
"""

import os
import subprocess
import sys

from bench.measuring import say
from commands.environments import ROOT

CASES = 10_000
SECONDS = 1800
"""For each of the tests; all of it took about 5 minutes on two busy cores."""
TESTS = "tests/services/gateway/test_generated.py"


def main() -> int:
    """Runs them; the exit status is pytest's."""
    say(f"{CASES} generated reads")
    command = [sys.executable, "-m", "pytest", "-q", f"--timeout={SECONDS}", TESTS]
    environment = {**os.environ, "GATEWAY_CASES": str(CASES)}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603 - of this project


if __name__ == "__main__":
    sys.exit(main())
