"""Whether an environment's target is a cluster that others reach: it gets nothing whose secrets are public."""

from collections.abc import Mapping

from commands.aftermath import settings_of
from commands.environments import stack_file, stack_settings
from commands.passphrase import refusal, uses_public
from commands.why import cluster_of
from components.cluster.kubectl import ClusterUnreachableError, is_loopback
from components.settings.eks import EksTarget
from components.settings.model import Settings


def refuse_public(environment: str, variables: Mapping[str, str]) -> None:
    """Refuses to deploy an environment to a real cluster whose secrets everybody can read.

    Args:
        environment: which; settings that are wrong are left to the program, which says so.
        variables: that the engine runs with.

    Raises:
        CommandError: with the steps to a passphrase of its own.
    """
    if not uses_public(stack_settings(stack_file(environment)), variables):
        return
    settings = settings_of(environment)
    where = real_target(settings) if settings else ""
    if where:
        raise refusal(environment, where)


def real_target(settings: Settings) -> str:
    """The cluster in words, if it is no rendered folder and not on this machine; else empty.

    A cluster that the kubeconfig does not lead to is none: nothing can be deployed there.
    """
    if isinstance(settings.cluster.target, EksTarget):
        return "a cluster on EKS"
    kubectl = cluster_of(settings)
    try:
        server = kubectl.server() if kubectl else ""
    except ClusterUnreachableError:
        return ""
    return f"the API server {server}" if server and not is_loopback(server) else ""
