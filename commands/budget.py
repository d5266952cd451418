"""Prints an environment's pod budget as JSON, the output `podBudget`: `python -m commands.budget --env dev`.

From the stack file alone: no engine, no cluster, no secret. Its fields: docs/pod-budget.md. A budget that does not fit
is printed too, with `fits: false` and the groups that bind.
"""

import argparse
import json
import sys
from collections.abc import Sequence

from commands.environments import CommandError, stack_file
from components.budget import pod_budget
from components.cluster.pod_budget_output import as_output
from components.settings.mistakes import SettingsError
from components.settings.stack_file import read_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m commands.budget", description=__doc__)
    parser.add_argument("--env", required=True, help="the environment: dev for Pulumi.dev.yaml")
    asked = parser.parse_args(arguments)
    try:
        settings = read_settings(stack_file(asked.env), "shared-observability", asked.env)
    except (CommandError, SettingsError) as problem:
        sys.stderr.write(f"budget: {problem}\n")
        return 2
    json.dump(as_output(pod_budget(settings)), sys.stdout, indent=2)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
