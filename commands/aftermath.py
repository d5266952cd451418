"""What `make up` and `make destroy` say after the engine: what is not ready, or not gone, and why."""

import subprocess
import sys
import time
from collections.abc import Callable

from commands.environments import CommandError, stack_file
from commands.state import objects_of
from commands.why import NOT_READY, READY, UNREADABLE, cluster_of, explain, explain_remains
from components.cluster.kubectl import ClusterUnreachableError, Kubectl
from components.layer.rollout import agents_seconds
from components.settings.eks import EksTarget
from components.settings.mistakes import SettingsError
from components.settings.model import Settings
from components.settings.stack_file import read_settings
from diagnosis.declared_objects import left_behind, read
from diagnosis.drift import drifts
from diagnosis.managers import free
from diagnosis.report import drift_report, left_report
from diagnosis.watch import Watch

# After a success: a node may have joined a moment ago, and its agents start.
SETTLE_SECONDS = 30.0
STEP_SECONDS = 2.0
# In the AWS CLI's answer about a cluster that does not exist.
NO_CLUSTER = "ResourceNotFoundException"


def settings_of(environment: str) -> Settings | None:
    """The environment's settings; None where they are wrong, which the engine's program has said or will say."""
    try:
        return read_settings(stack_file(environment), "shared-observability", environment)
    except SettingsError:
        return None


def watch_for(command: str, environment: str) -> Watch:
    """Listens to a run of the engine; for `up` on a cluster it ends the wait for refused pods."""
    settings = settings_of(environment) if command == "up" else None
    return Watch(cluster_of(settings) if settings else None)


def conclude(
    command: str,
    environment: str,
    status: int,
    watch: Watch,
    export: Callable[[], "subprocess.CompletedProcess[str]"],
) -> int:
    """Exit status after the engine's own, with the report printed where there is something to tell.

    Nothing is asked where the engine changed nothing: its own message says why, and where objects become files.

    Args:
        command: that was run.
        environment: on which.
        status: of the engine.
        watch: what was heard of it.
        export: gives the state, which after a success is compared with the cluster.
    """
    settings = settings_of(environment)
    kubectl = cluster_of(settings) if settings else None
    if settings is None or kubectl is None:
        return status
    if command == "destroy" and not status:
        # Whether or not anything was changed: a state that knows nothing is destroyed at once.
        return _after_destroy(settings, kubectl, environment)
    if not watch.began:
        return status
    if watch.refusal:
        sys.stderr.write(
            f"{command}: interrupted, since waiting is in vain: pods of {watch.refusal.subject} are refused.\n"
        )
        status = status or 1
    if watch.conflict:
        sys.stderr.write(
            f"{command}: somebody else has changed fields that are declared here. make drift ENV={environment} shows "
            f"which, make repair ENV={environment} sets them back.\n"
        )
    if command == "destroy":
        sys.stdout.write(f"\n{explain_remains(environment)[1]}\n")
    if command == "up":
        patience = 0.0 if status else min(SETTLE_SECONDS, float(agents_seconds(settings)))
        found, text = patiently(lambda: explain(environment), patience)
        sys.stdout.write(f"\n{text}\n")
        if status and found == READY:
            sys.stdout.write("What failed is in the engine's own message above.\n")
        return status or found or _compare(kubectl, environment, export())
    return status


def _compare(kubectl: Kubectl, environment: str, exported: "subprocess.CompletedProcess[str]") -> int:
    """What the engine calls unchanged is what its state says: whether the cluster says the same is asked here."""
    try:
        state = objects_of(exported)
        seen = read(kubectl, environment, state)
        if free(kubectl, state, seen.declared):
            seen = read(kubectl, environment, state)
        found = drifts(state, seen.declared, seen.ours)
    except (CommandError, ClusterUnreachableError) as problem:
        sys.stderr.write(f"up: the cluster could not be compared with what was deployed: {problem}\n")
        return UNREADABLE
    if found:
        sys.stdout.write(f"\n{drift_report(found, environment)}\n")
    return NOT_READY if found else READY


def _after_destroy(settings: Settings, kubectl: Kubectl, environment: str) -> int:
    """The engine removes what its state knows; whether that was all is asked of the cluster."""
    target = settings.cluster.target
    try:
        found = left_behind(kubectl, environment)
    except ClusterUnreachableError as problem:
        if isinstance(target, EksTarget) and target.create and NO_CLUSTER in str(problem):
            return READY  # it was ours, and is gone with everything in it
        sys.stderr.write(
            f"destroy: done, but the cluster could not be asked whether anything is left: {problem}\n"
        )
        return UNREADABLE
    if found:
        sys.stdout.write(f"\n{left_report(found, environment)}\n")
    return NOT_READY if found else READY


def patiently(ask: Callable[[], tuple[int, str]], seconds: float) -> tuple[int, str]:
    """The answer; asked again for so many seconds while it is not that all is ready."""
    deadline = time.monotonic() + seconds
    while (answer := ask())[0] != READY and time.monotonic() < deadline:
        time.sleep(STEP_SECONDS)
    return answer
