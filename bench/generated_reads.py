"""10,000 made-up reads of one tenant in two worlds that differ in foreign data only: `python -m bench.generated_reads`.

The same tests as in `make test`, which makes up 500: an answer never holds another owner's value, and both worlds give
the same answers. With real nginx, prom-label-proxy and Prometheus.
"""

import os
import subprocess
import sys
import time

from bench.measuring import finish, say, watch_machine
from commands.environments import ROOT

CASES = 10_000
SECONDS = 1800
"""For each of the tests; all of it took about 5 minutes on two busy cores."""
TESTS = "tests/services/gateway/test_generated.py"


def main() -> int:
    """Runs them; a failure is a mistake of the bench."""
    say(f"{CASES} generated reads")
    end, started = watch_machine(), time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", f"--timeout={SECONDS}", TESTS]
    environment = {**os.environ, "GATEWAY_CASES": str(CASES)}
    failed = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603 - of this project
    mistakes = ["one tenant's reads told of another's data, or could not be asked"] if failed else []
    took = {"cases": CASES, "seconds": time.monotonic() - started}
    return finish("generated_reads", took, end(), mistakes)


if __name__ == "__main__":
    sys.exit(main())
