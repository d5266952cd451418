"""The engine's own command line on an environment: `python -m commands.cli --env prod -- stack export`."""

import argparse
import sys
from collections.abc import Sequence

from commands.engine import engine_environment, exit_status, run_pulumi
from commands.environments import CommandError
from commands.real_target import refuse_public

# What deploys, or encrypts something new.
CHANGING = (
    ("up",),
    ("update",),
    ("destroy",),
    ("refresh",),
    ("import",),
    ("config", "set"),
    ("config", "set-all"),
)


def changes(words: Sequence[str]) -> bool:
    """Whether these words of the engine's command line deploy something, or encrypt something new."""
    return any(tuple(words[: len(start)]) == start for start in CHANGING)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs it, with the state, passphrase and plugins that the other commands use."""
    parser = argparse.ArgumentParser(prog="python -m commands.cli", description=__doc__)
    parser.add_argument("--env", required=True, help="the environment: dev for Pulumi.dev.yaml")
    parser.add_argument("words", nargs="+", help="what comes after `pulumi`; the stack is added")
    asked = parser.parse_args(arguments)
    try:
        with engine_environment(asked.env) as variables:
            if changes(asked.words):
                refuse_public(asked.env, variables)
            # The engine is no part of the terminal's foreground: reading from it would stop it for ever.
            piped = not sys.stdin.isatty()
            return exit_status(run_pulumi([*asked.words, "--stack", asked.env], variables, ask=piped))
    except CommandError as problem:
        sys.stderr.write(f"pulumi: {problem}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
