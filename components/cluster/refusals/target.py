"""A target that is not the one of the last deployment. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from components.cluster.live import Live
from components.settings.mistakes import Mistake
from components.settings.model import Settings

RENDERED = "rendered"
"""Identity of a target that is no cluster, or none yet."""

IDENTITY = {
    "kubeconfig": "the UID of its namespace kube-system",
    "eks": "its ARN with the time when it was made",
}


def mistakes(
    settings: Settings, live: Live | None, outputs: Mapping[str, Any], stack: str
) -> Iterator[Mistake]:
    """Another kind of target than at the last deployment, or another cluster."""
    before = outputs.get("target") or {}
    kind = settings.cluster.target.kind
    anew = f"make destroy ENV={stack} with the old target, then deploy; or use another stack for the new one"
    if before and before.get("kind") != kind:
        yield Mistake(
            "cluster.target.kind",
            f"was {before.get('kind')} at the last deployment and is {kind} now: the "
            "engine would take what it rendered for what runs, or the reverse",
            anew,
        )
    elif before and live and before.get("identity") != live.identity:
        yield Mistake(
            "cluster.target",
            f"leads to another cluster than at the last deployment ({IDENTITY[kind]} is {live.identity}, it was "
            f"{before.get('identity')}): the engine would take the old cluster's objects for this one's",
            f"Point it at the old cluster, or: {anew}",
        )
