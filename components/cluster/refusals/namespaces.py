"""Tenants' namespaces: which exist, whose they are, and the labels on them. Pure."""

from collections.abc import Iterator, Mapping

from components.cluster.live import Live, LiveNamespace
from components.label_keys import mistaken_for
from components.settings.mistakes import Mistake
from components.settings.model import Settings
from components.settings.tenant import namespaces_of


def mistakes(settings: Settings, live: Live, stack: str) -> Iterator[Mistake]:
    """What keeps a namespace from being adopted, created, or kept, by tenant."""
    for name, tenant in settings.tenants.items():
        for namespace in namespaces_of(name, tenant):
            path = f"tenants.{name}"
            found = live.namespaces.get(namespace)
            if found is None:
                if tenant.namespace == "adopt":
                    yield Mistake(
                        path,
                        f"namespace '{namespace}' does not exist, and adopting never creates one",
                        f"Write `namespace: create`, or: kubectl create namespace {namespace}",
                    )
                continue
            yield from _existing_namespace(path, namespace, found, tenant.namespace, stack)
            yield from _foreign_labels(path, namespace, found, tenant.labels)
            yield from _lookalikes(path, namespace, found)


def of_a_new_cluster(settings: Settings) -> Iterator[Mistake]:
    """Namespaces to adopt on a cluster that is yet to be made, which has none of a team.

    The provider's patch would create them, and leave them behind: nobody would have said that this program makes them.
    """
    for name, tenant in settings.tenants.items():
        if tenant.namespace == "adopt":
            several = len(namespaces_of(name, tenant)) > 1
            listed = "', '".join(namespaces_of(name, tenant))
            yield Mistake(
                f"tenants.{name}",
                f"namespace{'s' if several else ''} '{listed}' cannot be adopted on a cluster that is yet to be made",
                "Write `namespace: create`, or make the cluster without this tenant first, and its namespace by hand",
            )


def _existing_namespace(
    path: str, namespace: str, found: LiveNamespace, mode: str, stack: str
) -> Iterator[Mistake]:
    if found.terminating:
        yield Mistake(
            path, f"namespace '{namespace}' is being deleted", "Wait until it is gone, or take the tenant out"
        )
    if found.owner and found.owner != stack:
        yield Mistake(
            path,
            f"namespace '{namespace}' belongs to stack '{found.owner}'",
            "Take it from one of the stacks",
        )
    if not found.created and mode == "create":
        yield Mistake(
            f"{path}.namespace",
            f"is create, but namespace '{namespace}' exists and was not made by this program",
            "Write `namespace: adopt`",
        )
    if found.created and found.owner == stack and mode == "adopt":
        yield Mistake(
            f"{path}.namespace",
            f"is adopt, but this program created namespace '{namespace}': with what creates it gone from the settings, "
            "`onRemove: delete` as deployed last would delete it with everything in it",
            "Write `namespace: create`; with `onRemove: keep` it stays when the tenant goes",
        )


def _foreign_labels(
    path: str, namespace: str, found: LiveNamespace, wanted: Mapping[str, str]
) -> Iterator[Mistake]:
    for key, value in wanted.items():
        if key in found.foreign_labels and found.labels.get(key) != value:
            yield Mistake(
                f'{path}.labels["{key}"]',
                f"is somebody else's label on namespace '{namespace}' already, with another value: it would be changed "
                "now and be gone when the tenant is removed",
                "Leave it out, or write the value that it has",
            )


def _lookalikes(path: str, namespace: str, found: LiveNamespace) -> Iterator[Mistake]:
    for key in found.labels:
        if ours := mistaken_for(key):
            yield Mistake(
                path,
                f"namespace '{namespace}' has the label {key}, which Alloy and Prometheus read as {ours}: which of the "
                "two counts is chance, so its lines and samples could become another tenant's",
                f"Take it off: kubectl label namespace {namespace} {key}-",
            )
