"""Configurations of the last deployments, as the stack exports them: each text once, however many tenants share it."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from components.names import LAYER_NAMESPACE, NODES_NAMESPACE

Texts = dict[str, str]


def key(namespace: str, name: str) -> str:
    """Under which a configuration's versions are kept: the layer's by its name, a tenant's by its namespace too."""
    return name if namespace in (LAYER_NAMESPACE, NODES_NAMESPACE) else f"{namespace}/{name}"


def merged(histories: Iterable[Mapping[str, list[Texts]]]) -> dict[str, list[Texts]]:
    """The layer's and all tenants' as one."""
    return {name: found for history in histories for name, found in history.items()}


def pack(history: Mapping[str, Sequence[Texts]]) -> dict[str, Any]:
    """The output: digests in place of texts, and the texts by digest."""
    digests = {
        text: _digest(text) for found in history.values() for version in found for text in version.values()
    }
    return {
        "versions": {
            name: [{file: digests[text] for file, text in version.items()} for version in found]
            for name, found in history.items()
        },
        "texts": {digest: text for text, digest in digests.items()},
    }


def unpack(output: Mapping[str, Any]) -> dict[str, list[Texts]]:
    """What `pack` was given; nothing before the first deployment."""
    texts = output.get("texts") or {}
    return {
        name: [{file: texts[digest] for file, digest in version.items()} for version in found]
        for name, found in (output.get("versions") or {}).items()
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
