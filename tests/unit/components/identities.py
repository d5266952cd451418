"""By what a release finds what the one before it has deployed: each registration's URN, its object, what cannot change.

`python -m tests.unit.components.identities` writes them to `identities.txt`, for all variants together.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support.mocks import KUBERNETES, Registered
from tests.unit.components.environments import VARIANTS, Object, environment

FILE = Path(__file__).with_name("identities.txt")
HASH = re.compile(r"-[0-9a-f]{10}\b")  # of content: a new one is meant to be a new object
# What the API server refuses to change, by kind: another value is another object, deleted and made anew.
FIXED = {
    "ClusterRoleBinding": ("roleRef",),
    "DaemonSet": ("spec.selector",),
    "Deployment": ("spec.selector",),
    "PersistentVolumeClaim": ("spec.accessModes", "spec.storageClassName", "spec.volumeMode"),
    "PriorityClass": ("value", "preemptionPolicy"),
    "RoleBinding": ("roleRef",),
    "Service": ("spec.clusterIP",),
    "StorageClass": ("provisioner", "parameters", "volumeBindingMode"),
}


def lines() -> list[str]:
    """One line for each registration of any variant, sorted."""
    return sorted({line for raw in VARIANTS.values() for line in _lines(raw)})


def _lines(raw: dict[str, Any]) -> Iterator[str]:
    registered = environment(raw).recorder.registered
    for found in registered.values():
        of_object = _object(Object(found)) if found.type.startswith(KUBERNETES) else ""
        yield HASH.sub("-HASH", f"{'$'.join(_types(found, registered))}::{found.name}{of_object}")


def _types(found: Registered, registered: Mapping[str, Registered]) -> list[str]:
    """Its type after those of its parents, as in a URN of the engine's; the mocks' name the nearest only."""
    parent = registered.get(found.parent)
    return [*(_types(parent, registered) if parent else []), found.type]


def _object(found: Object) -> str:
    name = found.inputs.get("metadata", {}).get("name", "")
    where = f"{found.namespace}/" if found.namespace else ""
    kept = {
        path: value for path in FIXED.get(found.kind, ()) if (value := _at(found.inputs, path)) is not None
    }
    return f" is {where}{name}" + (f" {json.dumps(kept, sort_keys=True)}" if kept else "")


def _at(inputs: Any, path: str) -> Any:
    for part in path.split("."):
        inputs = inputs.get(part) if isinstance(inputs, dict) else None
    return inputs


if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
