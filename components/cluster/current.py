"""Reads the cluster of an environment, by its target: none when objects are rendered, or before EKS has made it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi

from components.cluster import live as cluster
from components.cluster.eks import in_cluster_checks, reading
from components.cluster.eks.kubeconfig import aws_arguments
from components.cluster.kubectl import ClusterUnreachableError, Kubectl
from components.cluster.live import Live
from components.settings.eks import EksTarget
from components.settings.mistakes import Mistake, SettingsError
from components.settings.model import KubeconfigTarget, Settings

if TYPE_CHECKING:
    from components.cluster.eks.cloud import Cloud

# kubectl's words for a kind that the API server does not serve.
_NO_POLICIES = "the server doesn't have a resource type \"validatingadmissionpolic"
TOO_OLD = Mistake(
    "cluster.target",
    "is a cluster whose API server has no ValidatingAdmissionPolicy, so it is older than Kubernetes 1.30",
    "Upgrade it: see docs/compatibility.md",
)


def live(settings: Settings, cloud: "Cloud | None") -> tuple[Live | None, list[Mistake]]:
    """The cluster as it is, and what of a cluster on EKS is otherwise than declared."""
    target = settings.cluster.target
    if isinstance(target, EksTarget):
        return _live_eks(settings, target, cloud)
    return (_live_kubeconfig(settings, target) if isinstance(target, KubeconfigTarget) else None), []


def _live_kubeconfig(settings: Settings, target: KubeconfigTarget) -> Live:
    path = Path(target.path).expanduser()
    if not path.exists():
        hint = "Check the path; the simulated cluster is started by: make simulator"
        raise SettingsError(
            [Mistake("cluster.target.path", f"there is no file {path}", hint)], pulumi.get_stack()
        )
    try:
        return cluster.read(Kubectl(str(path), target.context), settings)
    except ClusterUnreachableError as error:
        if _NO_POLICIES in str(error):
            raise SettingsError([TOO_OLD], pulumi.get_stack()) from None
        command = f"kubectl --kubeconfig {path} --context {target.context} get --raw /readyz"
        raise _unreadable(f"of context '{target.context}'", error, command) from None


def _live_eks(
    settings: Settings, target: EksTarget, cloud: "Cloud | None"
) -> tuple[Live | None, list[Mistake]]:
    """Read by the same kubeconfig that the provider gets; None for a cluster that does not exist yet."""
    found = cloud.facts.cluster if cloud else None
    if found is None:
        return None, []
    try:
        with reading.reader(target, found) as kubectl:
            live = replace(cluster.read(kubectl, settings), identity=reading.identity_of(found))
            in_cluster = reading.read(kubectl)
    except ClusterUnreachableError as error:
        command = " ".join(["aws", *aws_arguments(target, "eks", "get-token", "--cluster-name", found.name)])
        raise _unreadable(f"'{found.name}'", error, command) from None
    return live, in_cluster_checks.mistakes(settings, target, in_cluster)


def _unreadable(which: str, error: Exception, command: str) -> SettingsError:
    problem = f"the cluster {which} cannot be read ({error}), and nothing about it is guessed"
    return SettingsError([Mistake("cluster.target", problem, f"Try: {command}")], pulumi.get_stack())
