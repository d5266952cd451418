"""Brings a cluster back to what is declared, whoever changed it: `python -m commands.repair --env prod`.

An `up` that looks at the cluster first and takes fields back from whoever has set them since. What that cannot see,
edited Roles and bindings above all, is replaced: deleted and made again, within a second.
"""

import argparse
import sys
from collections.abc import Sequence

from commands.aftermath import conclude
from commands.engine import engine_environment, exporter, run_watched, select_stack
from commands.environments import CommandError, stack_file
from commands.real_target import refuse_public
from commands.state import objects_of
from commands.why import UNREADABLE, cluster_of
from components.cluster.kubectl import ClusterUnreachableError, Kubectl
from components.cluster.lost_state import TAKE_OVER_VARIABLE
from components.settings.mistakes import SettingsError
from components.settings.stack_file import read_settings
from diagnosis.declared_objects import found_drifts, read
from diagnosis.drift import Declared, Drift
from diagnosis.managers import free

# Fields that somebody else has set become ours again; without it such a field is a conflict, and the deployment fails.
FORCE = {"PULUMI_K8S_ENABLE_PATCH_FORCE": "true"}
# Their lists belong as a whole to whoever wrote them last, and the provider compares only what is its own.
UNSEEN = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
# Replaced, they would take with them what they hold.
NEVER_REPLACED = ("Namespace", "PersistentVolumeClaim")


def replacements(found: Sequence[Drift], *kinds: str) -> list[str]:
    """The CLI's arguments that replace drifted objects, of these kinds or of all.

    Args:
        found: what is not as declared; what is gone, or is not in the state, cannot be replaced.
        kinds: to replace.
    """
    return [
        argument
        for one in found
        if one.urn and not one.gone and one.ref.kind not in NEVER_REPLACED
        if not kinds or one.ref.kind in kinds
        for argument in ("--replace", one.urn)
    ]


def repair(environment: str, *, take_over: bool = False) -> int:
    """Repairs, and returns the exit status: of the deployment, and 1 if something is still not as declared.

    Args:
        environment: which.
        take_over: also objects with the stack's label that its state does not know, since it is lost.

    Raises:
        CommandError: if there is no such environment.
        SettingsError: if its settings are wrong.
        ClusterUnreachableError: if the cluster does not answer.
    """
    kubectl = cluster_of(read_settings(stack_file(environment), "shared-observability", environment))
    if kubectl is None:
        raise CommandError(f"{environment} is rendered to files: there is no cluster to repair")
    with engine_environment(environment) as variables:
        export = exporter(environment, variables)
        forced = {**variables, **FORCE, **({TAKE_OVER_VARIABLE: environment} if take_over else {})}
        refuse_public(environment, variables)
        # Taken over is what a lost state does not know, and its stack may be lost with it.
        status = select_stack(environment, variables, create=take_over)
        if status:
            return status
        unseen = replacements(found_drifts(kubectl, environment, objects_of(export())), *UNSEEN)
        status, watch = run_watched("up", environment, forced, ["--refresh", *unseen])
        left = [] if status else _what_is_left(kubectl, environment, objects_of(export()))
        if left:
            status, watch = run_watched("up", environment, forced, left)
        return conclude("up", environment, status, watch, export)


def _what_is_left(kubectl: Kubectl, environment: str, state: Sequence[Declared]) -> list[str]:
    """Frees the objects of managers that nobody knows any more; gives the arguments that replace what still differs."""
    free(kubectl, state, read(kubectl, environment, state).declared)
    return replacements(found_drifts(kubectl, environment, state))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m commands.repair", description=__doc__)
    parser.add_argument("--env", required=True, help="the environment: dev for Pulumi.dev.yaml")
    parser.add_argument("--take-over", action="store_true", help="also what a lost state does not know")
    asked = parser.parse_args(arguments)
    try:
        return repair(asked.env, take_over=asked.take_over)
    except (CommandError, SettingsError, ClusterUnreachableError) as problem:
        sys.stderr.write(f"repair: {problem}\n")
        return UNREADABLE


if __name__ == "__main__":
    sys.exit(main())
