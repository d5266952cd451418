"""`make simulator` and `make simulator-stop`: an environment's cluster, simulated, until it is stopped."""

import argparse
import signal
import sys
from pathlib import Path

from components.settings.mistakes import SettingsError
from simulator import environment, lifecycle
from simulator.tools import PROJECT, SimulatorError

INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; a mistake or failure is told without a traceback, with exit status 1."""
    parser = argparse.ArgumentParser(prog="python -m simulator", description=__doc__)
    parser.add_argument("command", choices=["start", "stop"])
    parser.add_argument("--env", default="sim", help="environment: Pulumi.<env>.yaml (default: sim)")
    parser.add_argument(
        "--project", type=Path, default=PROJECT, help="folder of the environments (default: this one)"
    )
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if asked.command == "stop":
            lifecycle.stop(asked.env, asked.project)
        else:
            lifecycle.start(environment.read(asked.env, asked.project))
    except (SimulatorError, SettingsError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted: what had been started is stopped.", file=sys.stderr)
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
