"""Reads the objects of a live cluster by kubectl: this kubeconfig only, page by page, and never a write.

kubectl is what knows the cluster's log-in (exec plug-ins, proxies, certificates). Whatever it is refused is said.
"""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from policies.manifest import Manifest, Origin
from policies.manifests import from_document
from policies.opaque import GIT_OPS
from policies.pods import AGENT_KINDS

PAGE = 500
"""Objects in one answer: the API server's memory, and ours, stays bounded."""
SECONDS = 60
CORE = "/api/v1"
# Kinds that rules look at, by API path; what a cluster does not serve is left out.
BUILT_IN: Mapping[str, Sequence[str]] = {
    CORE: (
        "namespaces",
        "nodes",
        "pods",
        "limitranges",
        "persistentvolumes",
        "replicationcontrollers",
        "podtemplates",
    ),
    "/apis/apps/v1": ("daemonsets", "deployments", "statefulsets", "replicasets"),
    "/apis/batch/v1": ("cronjobs", "jobs"),
    "/apis/rbac.authorization.k8s.io/v1": ("clusterroles", "clusterrolebindings", "roles", "rolebindings"),
    "/apis/autoscaling/v2": ("horizontalpodautoscalers",),
    "/apis/scheduling.k8s.io/v1": ("priorityclasses",),
}
CUSTOM_KINDS = frozenset(
    {
        *((agent.group, agent.kind) for agent in AGENT_KINDS),
        *((kind.group, kind.kind) for kind in GIT_OPS),
        ("apps.kruise.io", "DaemonSet"),
        ("autoscaling.k8s.io", "VerticalPodAutoscaler"),
        ("keda.sh", "ScaledObject"),
        ("monitoring.coreos.com", "ServiceMonitor"),
        ("monitoring.coreos.com", "PodMonitor"),
    }
)
NOT_SERVED = ("NotFound", "the server could not find the requested resource")
EXPIRED = ("Expired", "The provided continue parameter is too old")


class ReadError(Exception):
    """kubectl's own reason why something could not be read."""


@dataclass
class ClusterReading:
    """What was read of a cluster.

    Attributes:
        manifests: objects to be judged: what a controller made of another object is not judged again.
        nodes: all nodes.
        pods: all pods.
        unread: one sentence for each kind that could not be read.
    """

    manifests: list[Manifest] = field(default_factory=list)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    pods: list[dict[str, Any]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def read_cluster(kubeconfig: Path) -> ClusterReading:
    """Reads everything that rules look at."""
    reading, source = ClusterReading(), f"cluster {kubeconfig}"
    try:
        groups = _groups(kubeconfig)
    except ReadError as error:
        reading.unread.append(f"{source}: {error}")
        return reading
    for path, resources in [*BUILT_IN.items(), *_custom(kubeconfig, groups, reading, source)]:
        for resource in resources:
            try:
                objects = list(_objects(kubeconfig, f"{path}/{resource}"))
            except ReadError as error:
                if not any(text in str(error) for text in NOT_SERVED):
                    reading.unread.append(f"{resource} of {source}: {error}")
                continue
            _keep(reading, resource, objects, source)
    return reading


def _keep(reading: ClusterReading, resource: str, objects: list[dict[str, Any]], source: str) -> None:
    if resource == "nodes":
        reading.nodes = objects
    elif resource == "pods":
        reading.pods = objects
    for raw in objects:
        if not _is_made_by_another(raw):
            reading.manifests += from_document(raw, source, Origin.CLUSTER)


def _is_made_by_another(raw: Mapping[str, Any]) -> bool:
    owners = raw.get("metadata", {}).get("ownerReferences") or []
    return any(owner.get("controller") for owner in owners)


def _groups(kubeconfig: Path) -> dict[str, str]:
    """API groups of the cluster with their preferred version."""
    raw = _get(kubeconfig, "/apis")
    return {group["name"]: group["preferredVersion"]["groupVersion"] for group in raw.get("groups", [])}


def _custom(
    kubeconfig: Path, groups: Mapping[str, str], reading: ClusterReading, source: str
) -> Iterator[tuple[str, list[str]]]:
    """Plural names of the custom resources that rules look at, where the cluster has them."""
    for group in sorted({group for group, _ in CUSTOM_KINDS} & groups.keys()):
        path = f"/apis/{groups[group]}"
        try:
            served = _get(kubeconfig, path).get("resources", [])
        except ReadError as error:
            reading.unread.append(f"{group} of {source}: {error}")
            continue
        names = [r["name"] for r in served if (group, r["kind"]) in CUSTOM_KINDS and "/" not in r["name"]]
        yield path, names


def _objects(kubeconfig: Path, path: str) -> Iterator[dict[str, Any]]:
    """All objects of one kind, page by page; from the start again, once, if the list has expired meanwhile."""
    for attempt in (1, 2):
        try:
            yield from list(_pages(kubeconfig, path))
        except ReadError as error:
            if attempt == 1 and any(text in str(error) for text in EXPIRED):
                continue
            raise
        return


def _pages(kubeconfig: Path, path: str) -> Iterator[dict[str, Any]]:
    token = ""
    while True:
        query = {"limit": str(PAGE), **({"continue": token} if token else {})}
        raw = _get(kubeconfig, f"{path}?{urlencode(query)}")
        kind = str(raw.get("kind", "")).removesuffix("List")
        for item in raw.get("items") or []:
            yield {"apiVersion": raw.get("apiVersion"), "kind": kind, **item}
        token = raw.get("metadata", {}).get("continue", "")
        if not token:
            return


def _get(kubeconfig: Path, path: str) -> dict[str, Any]:
    """One answer of the API server.

    Raises:
        ReadError: there is none, or it is a refusal.
    """
    command = ["kubectl", f"--kubeconfig={kubeconfig}", "get", "--raw", path]
    environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
    try:
        done = subprocess.run(  # noqa: S603, a list of arguments and no shell
            command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except FileNotFoundError:
        raise ReadError("kubectl is not installed, or not on PATH") from None
    except subprocess.TimeoutExpired:
        raise ReadError(f"no answer within {SECONDS} s") from None
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise ReadError(lines[-1] if lines else "kubectl failed without a message")
    raw = json.loads(done.stdout)
    return raw if isinstance(raw, dict) else {}
