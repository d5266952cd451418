"""Gives a shared cluster back as it was: what tests made is removed, what they changed on nodes is set back."""

from dataclasses import dataclass

from simulator.nodes import Nodes, takes_pods
from tests.support.kube import Kube, Object, wait_until

# Webhooks and policies first: they could refuse the rest.
KINDS = (
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
    "validatingadmissionpolicybindings",
    "validatingadmissionpolicies",
    "apiservices",
    "namespaces",
    "clusterrolebindings",
    "clusterroles",
    "priorityclasses",
    "storageclasses",
    "persistentvolumes",
    "customresourcedefinitions",
)
# In the namespace `default`, which stays: the program's rights there, and endpoints that a test adds.
DEFAULT = "default"
KINDS_IN_DEFAULT = ("rolebindings", "roles", "endpointslices")
SECONDS = 60


@dataclass(frozen=True)
class Snapshot:
    """What a cluster held at one time: names of cluster-scoped objects and of those in `default`, and its nodes."""

    names: dict[str, frozenset[str]]
    in_default: dict[str, frozenset[str]]
    nodes: tuple[Object, ...]


def snapshot(kube: Kube, nodes: list[Object]) -> Snapshot:
    """Remembers a cluster; `nodes` are the manifests that it was made with."""
    names = {kind: frozenset(_names(kube, kind)) for kind in KINDS}
    in_default = {kind: frozenset(_names(kube, kind, DEFAULT)) for kind in KINDS_IN_DEFAULT}
    return Snapshot(names, in_default, tuple(nodes))


def restore(kube: Kube, before: Snapshot) -> None:
    """Removes what is new since the snapshot and waits until it is gone; brings the nodes back."""
    for kind in KINDS:
        for name in _new(kube, kind, before):
            kube.remove_namespace(name) if kind == "namespaces" else kube.delete(kind, name)
    for kind in KINDS_IN_DEFAULT:
        for name in _names(kube, kind, DEFAULT) - before.in_default[kind]:
            kube.delete(kind, name, DEFAULT)
    _restore_nodes(kube, before.nodes)
    for kind in ("namespaces", "persistentvolumes"):
        _wait_until_gone(kube, kind, before)


def _wait_until_gone(kube: Kube, kind: str, before: Snapshot) -> None:
    def gone() -> bool:
        return not _new(kube, kind, before)

    wait_until(gone, SECONDS, lambda: f"{kind} that do not go: {', '.join(_new(kube, kind, before))}")


def _new(kube: Kube, kind: str, before: Snapshot) -> list[str]:
    return sorted(_names(kube, kind) - before.names[kind])


def _names(kube: Kube, kind: str, namespace: str | None = None) -> set[str]:
    return {item["metadata"]["name"] for item in kube.list(kind, namespace)}


def _restore_nodes(kube: Kube, manifests: tuple[Object, ...]) -> None:
    live = {node["metadata"]["name"]: node for node in kube.list("nodes")}
    wanted = {node["metadata"]["name"]: node for node in manifests}
    nodes = Nodes(kube)
    changed = [name for name in wanted if name in live and not _same(wanted[name], live[name])]
    nodes.remove(*(live.keys() - wanted.keys()), *changed)
    nodes.add(*(wanted[name] for name in wanted if name not in live or name in changed))


def stated_labels(node: Object) -> dict[str, str]:
    """A node's labels without `beta.kubernetes.io/os` and `/arch`, which a controller adds."""
    labels: dict[str, str] = node["metadata"]["labels"]
    return {key: value for key, value in labels.items() if not key.startswith("beta.kubernetes.io/")}


def _same(wanted: Object, live: Object) -> bool:
    """Labels, taints and size as made; ignores what only kwok and the controllers write."""
    return (
        wanted["metadata"]["labels"] == stated_labels(live)
        and [t["key"] for t in wanted["spec"]["taints"]] == [t["key"] for t in live["spec"].get("taints", [])]
        and wanted["status"]["allocatable"]["pods"] == live["status"]["allocatable"]["pods"]
        and takes_pods(live)
    )
