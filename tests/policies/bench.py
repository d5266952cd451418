"""What the pack costs: preview of the real program with and without it, `python -m tests.policies.bench 50 200`.

The environment is dev with so many tenants and enough nodes. Each number is the best of four runs: other work on the
machine only makes them longer.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.policies.engine.conftest import ROOT, STACK, Engine

RUNS = 4
MOST = 1.3
"""How much longer a preview may take with the pack."""
PUBLIC_PASSPHRASE = "public-dev-passphrase"


def environment(tenants: int) -> dict[str, Any]:
    """dev with this many tenants."""
    raw: dict[str, Any] = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())
    config = raw["config"]
    config["shared-observability:tenants"] = {f"team-{number}": {"pods": 10} for number in range(tenants)}
    config["shared-observability:cluster"]["nodeGroups"]["workers"]["nodes"] = 200
    return raw


def measure(engine: Engine, file: Path) -> tuple[float, float]:
    """Best wall time without and with the pack; the two take turns, so that other work meets both."""
    best = [float("inf"), float("inf")]
    for _ in range(RUNS):
        for pack in (False, True):
            started = time.monotonic()
            policies = ("--policy-pack", str(ROOT / "policies")) if pack else ()
            run = engine.call("--cwd", str(ROOT), "preview", *STACK, "--config-file", str(file), *policies)
            best[pack] = min(best[pack], time.monotonic() - started)
            if run.status != 0:
                raise SystemExit(run.output)
    return best[False], best[True]


def main(sizes: Sequence[int]) -> int:
    """Measures; fails if the pack costs more than it may."""
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(Path(folder) / "engine", passphrase=PUBLIC_PASSPHRASE)
        for tenants in sizes:
            file = Path(folder) / f"Pulumi.{tenants}.yaml"
            file.write_text(yaml.safe_dump(environment(tenants)))
            without, with_pack = measure(engine, file)
            worst = max(worst, with_pack / without)
            line = f"preview {without:.2f} s, with the pack {with_pack:.2f} s, {with_pack / without:.2f}x"
            sys.stdout.write(f"{tenants} tenants: {line}\n")
    return 0 if worst <= MOST else 1


if __name__ == "__main__":
    raise SystemExit(main([int(argument) for argument in sys.argv[1:]] or [50, 200]))
