"""What a destroy that did not end has left, and what holds it. Pure."""

from collections.abc import Iterator, Sequence

from diagnosis.finding import Finding
from diagnosis.snapshot import Object

AGAIN = "Run it again: make destroy continues where it stopped"
# Conditions by which the namespace controller says why a namespace does not go.
_HOLDERS = (
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceContentRemaining",
    "NamespaceFinalizersRemaining",
)


def remains(namespaces: Sequence[Object]) -> Iterator[Finding]:
    """A finding for each of the layer's namespaces that still exists.

    Args:
        namespaces: as they are now.
    """
    for namespace in namespaces:
        name, status = namespace["metadata"]["name"], namespace.get("status", {})
        subject = f"Namespace {name}"
        if status.get("phase") != "Terminating":
            yield Finding(subject, "", "it was not deleted", AGAIN)
            continue
        told = [
            str(condition.get("message"))
            for condition in status.get("conditions") or []
            if condition["type"] in _HOLDERS and condition["status"] == "True"
        ]
        if told:
            see = (
                f"See: kubectl describe namespace {name}. Whoever set a finalizer has to take it away; an APIService "
                "that does not answer has to be mended or deleted"
            )
            yield Finding(subject, "", "it is being deleted: " + "; ".join(told), f"{see}. {AGAIN}")
        else:
            yield Finding(
                subject, "", "it is being deleted, and nothing says what it waits for", f"Wait. {AGAIN}"
            )
