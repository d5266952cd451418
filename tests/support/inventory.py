"""Everything that a cluster holds of somebody, whatever its kind: asked from the API server kind by kind."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from components.names import FIELD_MANAGER, OWNER_LABEL, PREFIX
from tests.support.kube import Kube, Object

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
# Written all the time by the cluster itself, or computed when asked for.
PASSING = ("events", "leases", "componentstatuses")
# Field managers: the engine's provider, and what it calls itself for the labels of adopted namespaces.
MANAGERS = ("pulumi", FIELD_MANAGER)


@dataclass(frozen=True, order=True)
class Ref:
    """One object."""

    kind: str
    namespace: str
    name: str


Inventory = dict[Ref, Object]


def everything(kube: Kube, which: Callable[[Object], bool] = lambda _: True) -> Inventory:
    """All objects of a cluster for which something holds, in the kinds' preferred versions."""
    return {ref(plural, item): item for plural, item in _all(kube) if which(item)}


def _all(kube: Kube) -> Iterator[tuple[str, Object]]:
    for plural, path in _collections(kube).items():
        if plural not in PASSING:
            yield from ((plural, item) for item in kube.request("GET", path)["items"])


def _collections(kube: Kube) -> dict[str, str]:
    """Where all objects of each kind are listed."""
    found: dict[str, str] = {}
    for root in ("/api", "/apis"):
        for group in kube.request("GET", root, accept=DISCOVERY)["items"]:
            for version in group["versions"]:
                prefix = "/".join(filter(None, [root, group["metadata"].get("name"), version["version"]]))
                for item in version["resources"]:
                    if "list" in item["verbs"]:
                        found.setdefault(item["resource"], f"{prefix}/{item['resource']}")
    return found


def ref(plural: str, item: Object) -> Ref:
    """Its kind, namespace and name."""
    return Ref(plural, item["metadata"].get("namespace", ""), item["metadata"]["name"])


def is_labelled(item: Object) -> bool:
    """Whether it carries our owner's label."""
    return OWNER_LABEL in item["metadata"].get("labels", {})


def is_named(item: Object) -> bool:
    """Whether it is called as only our objects are."""
    return str(item["metadata"]["name"]).startswith((PREFIX, "observability"))


def is_touched(item: Object) -> bool:
    """Whether the engine's provider owns any field of it, or it has a label or annotation of ours."""
    metadata = item["metadata"]
    managers = [entry.get("manager", "") for entry in metadata.get("managedFields", [])]
    keys = [*metadata.get("labels", {}), *metadata.get("annotations", {})]
    ours = any(manager.startswith(MANAGERS) for manager in managers)
    return ours or any(PREFIX in key for key in keys)


def versions(inventory: Inventory) -> dict[Ref, tuple[str, int | str]]:
    """What changes when somebody writes an object: its UID, and its generation or else its version.

    The generation counts changes of what is wanted; only where there is none, the version counts, since that of a
    Deployment changes with each pod that gets ready.
    """
    return {
        key: (
            item["metadata"]["uid"],
            item["metadata"].get("generation", item["metadata"]["resourceVersion"]),
        )
        for key, item in inventory.items()
    }
