"""The engine's own command line on an environment: `python -m commands.cli --env prod -- stack export`."""

import argparse
import sys
from collections.abc import Sequence

from commands.engine import engine_environment, exit_status, run_pulumi
from commands.environments import CommandError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs it, with the state, passphrase and plugins that the other commands use."""
    parser = argparse.ArgumentParser(prog="python -m commands.cli", description=__doc__)
    parser.add_argument("--env", required=True, help="the environment: dev for Pulumi.dev.yaml")
    parser.add_argument("words", nargs="+", help="what comes after `pulumi`; the stack is added")
    asked = parser.parse_args(arguments)
    try:
        with engine_environment(asked.env) as variables:
            return exit_status(run_pulumi([*asked.words, "--stack", asked.env], variables))
    except CommandError as problem:
        sys.stderr.write(f"pulumi: {problem}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
