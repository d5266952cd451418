"""Says what in the cluster is not as it was deployed: `python -m commands.drift --env prod`."""

import argparse
import sys
from collections.abc import Sequence

from commands.engine import engine_environment, exporter
from commands.environments import CommandError
from commands.state import objects_of
from commands.why import NOT_READY, READY, UNREADABLE, asked_of_cluster
from components.cluster.kubectl import Kubectl
from components.settings.mistakes import SettingsError
from components.settings.model import Settings
from diagnosis.declared_objects import found_drifts
from diagnosis.report import drift_report


def compare(environment: str) -> tuple[int, str]:
    """Exit status and text: 0 if all is as declared, 1 if something is not, 2 if the cluster could not be read.

    Raises:
        CommandError: if there is no such environment, or no state.
        SettingsError: if its settings are wrong.
    """

    def ask(_: Settings, kubectl: Kubectl) -> tuple[int, str]:
        with engine_environment(environment) as variables:
            state = objects_of(exporter(environment, variables)())
        found = found_drifts(kubectl, environment, state)
        return (NOT_READY if found else READY), drift_report(found, environment)

    return asked_of_cluster(environment, ask)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m commands.drift", description=__doc__)
    parser.add_argument("--env", required=True, help="the environment: dev for Pulumi.dev.yaml")
    asked = parser.parse_args(arguments)
    try:
        status, text = compare(asked.env)
    except (CommandError, SettingsError) as problem:
        sys.stderr.write(f"drift: {problem}\n")
        return UNREADABLE
    sys.stdout.write(f"{text}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
