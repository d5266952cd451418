"""Says why the layer's objects are not ready: `python -m commands.why --env prod`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from commands.environments import ROOT, CommandError, stack_file
from components.cluster.eks.kubeconfig import CONTEXT
from components.cluster.eks.reading import EksKubectl
from components.cluster.kubectl import ClusterUnreachableError, Kubectl
from components.names import LAYER_NAMESPACE, NODES_NAMESPACE
from components.settings.eks import EksTarget
from components.settings.mistakes import SettingsError
from components.settings.model import KubeconfigTarget, Settings
from components.settings.stack_file import read_settings
from diagnosis.findings import findings
from diagnosis.remains import remains
from diagnosis.report import remains_report, report
from diagnosis.snapshot import take

READY, NOT_READY, UNREADABLE = 0, 1, 2


def explain(environment: str) -> tuple[int, str]:
    """Exit status and text: 0 if all is ready, 1 if something is not, 2 if the cluster could not be read.

    Raises:
        CommandError: if there is no such environment.
        SettingsError: if its settings are wrong.
    """

    def ask(settings: Settings, kubectl: Kubectl) -> tuple[int, str]:
        found = findings(settings, take(kubectl, settings))
        return (NOT_READY if any(f.fails for f in found) else READY), report(found, environment)

    return asked_of_cluster(environment, ask)


def explain_remains(environment: str) -> tuple[int, str]:
    """The same for a destroy that did not end: what of the layer is left, and what holds it."""

    def ask(_: Settings, kubectl: Kubectl) -> tuple[int, str]:
        found = list(remains(kubectl.objects("namespaces", LAYER_NAMESPACE, NODES_NAMESPACE)))
        return (NOT_READY if found else READY), remains_report(found, environment)

    return asked_of_cluster(environment, ask)


def asked_of_cluster(
    environment: str, ask: Callable[[Settings, Kubectl], tuple[int, str]]
) -> tuple[int, str]:
    """The answer to a question to an environment's cluster; status 2 if it cannot be read.

    Raises:
        CommandError: if there is no such environment.
        SettingsError: if its settings are wrong.
    """
    settings = read_settings(stack_file(environment), "shared-observability", environment)
    kubectl = cluster_of(settings)
    if kubectl is None:
        return READY, f"Environment {environment} is rendered to files: there is no cluster to ask."
    try:
        return ask(settings, kubectl)
    except ClusterUnreachableError as error:
        return (
            UNREADABLE,
            f"The cluster of environment {environment} cannot be read: {error}\nTry: {kubectl.probe}",
        )


def cluster_of(settings: Settings) -> Kubectl | None:
    """A reader of the environment's cluster, or None where objects become files."""
    target = settings.cluster.target
    if isinstance(target, EksTarget):
        return EksKubectl("", CONTEXT, target)
    if not isinstance(target, KubeconfigTarget):
        return None
    return Kubectl(str(ROOT / Path(target.path).expanduser()), target.context)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m commands.why", description=__doc__)
    parser.add_argument("--env", required=True, help="the environment: dev for Pulumi.dev.yaml")
    asked = parser.parse_args(arguments)
    try:
        status, text = explain(asked.env)
    except (CommandError, SettingsError) as problem:
        sys.stderr.write(f"why: {problem}\n")
        return UNREADABLE
    sys.stdout.write(f"{text}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
