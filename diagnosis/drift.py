"""What the cluster holds against what the stack's state says was declared: field by field, every kind of object. Pure.

The engine's own refresh does not report a Role or binding that somebody edited, nor keys that somebody added to a
ConfigMap or a quota. Only what is declared is compared: what the API server fills in, and labels of others, are not.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from components.names import CREATED_LABEL
from components.quantities import parse

Manifest = Mapping[str, Any]
# By which the engine marks a secret value in an exported state.
_SECRET = "4dabf18193072939515e22adb298388d"  # noqa: S105 - a public constant of the engine
# Of these every key counts: one that somebody added is a right, a limit or a text that nobody declared.
_WHOLE = ("data", "binaryData", "hard", "rules", "subjects", "roleRef", "podSelector")
UNFINISHED = "its last rollout did not end; the next deployment goes on with it"
_INDEX = re.compile(r"\[\d+\]$")
_SHOWN = 60


@dataclass(frozen=True, order=True)
class Ref:
    """An object by kind, namespace (empty if it has none) and name."""

    kind: str
    namespace: str
    name: str

    @override
    def __str__(self) -> str:
        """What a person reads."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Declared:
    """One object of the state.

    Attributes:
        urn: the engine's name of it.
        manifest: as it was declared.
        unfinished: the engine has not brought it to what is declared, and will go on with it at the next `up`.
        manager: field manager by which the engine sets its fields; empty if the state does not tell.
    """

    urn: str
    manifest: Manifest
    unfinished: bool
    manager: str = ""

    @property
    def ref(self) -> Ref:
        """Which object."""
        return ref(self.manifest)


@dataclass(frozen=True)
class Drift:
    """One object that is not as declared.

    Attributes:
        ref: which.
        what: what is different, in words.
        urn: the engine's name of it; empty for one that the state does not know.
        gone: it does not exist.
    """

    ref: Ref
    what: tuple[str, ...]
    urn: str = ""
    gone: bool = False


def ref(manifest: Manifest) -> Ref:
    """Which object a manifest is about."""
    metadata = manifest["metadata"]
    return Ref(str(manifest["kind"]), str(metadata.get("namespace") or ""), str(metadata["name"]))


def declared(exported: Mapping[str, Any]) -> list[Declared]:
    """The objects of a state as `pulumi stack export --show-secrets` gives it."""
    resources: Sequence[Mapping[str, Any]] = (exported.get("deployment") or {}).get("resources") or []
    return [
        Declared(
            r["urn"],
            _revealed(r["inputs"]),
            bool(r.get("initErrors")),
            str(r.get("outputs", {}).get("__fieldManager") or ""),
        )
        for r in resources
        if r["type"].startswith("kubernetes:") and not r.get("delete") and "metadata" in r.get("inputs", {})
    ]


def _revealed(value: Any) -> Any:
    """A value of the state with its secrets in plain text: it is compared, and never shown."""
    if isinstance(value, Mapping):
        if _SECRET in value:
            return _revealed(json.loads(value["plaintext"])) if "plaintext" in value else {}
        return {key: _revealed(inner) for key, inner in value.items() if not key.startswith("__")}
    return [_revealed(inner) for inner in value] if isinstance(value, list) else value


def drifts(state: Sequence[Declared], live: Mapping[Ref, Manifest], ours: Sequence[Manifest]) -> list[Drift]:
    """Every object that is gone, changed, or there without being declared.

    Args:
        state: what was declared.
        live: those objects as they are; absent if they are gone.
        ours: all objects that carry this stack's label.
    """
    known = {item.ref for item in state}
    found: list[Drift] = []
    for item in state:
        if item.unfinished:
            found.append(Drift(item.ref, (UNFINISHED,), item.urn))
        elif item.ref not in live:
            found.append(Drift(item.ref, ("it does not exist",), item.urn, gone=True))
        elif what := tuple(differences(item.manifest, live[item.ref])):
            found.append(Drift(item.ref, what, item.urn))
    extra = [ref(item) for item in ours if not is_by_design(item) and ref(item) not in known]
    return sorted(
        [
            *found,
            *(
                Drift(one, ("it carries this stack's label, and its state does not know it",))
                for one in extra
            ),
        ],
        key=lambda drift: drift.ref,
    )


def is_by_design(manifest: Manifest) -> bool:
    """Whether it may carry our label without being in the state: made by a controller for an object of ours, or a
    namespace that we made and keep.
    """
    metadata = manifest["metadata"]
    kept = manifest["kind"] == "Namespace" and CREATED_LABEL in (metadata.get("labels") or {})
    return bool(metadata.get("ownerReferences")) or kept


def differences(wanted: Manifest, found: Manifest) -> Iterator[str]:
    """What of a manifest is otherwise in the cluster, by path; values of Secrets are not told."""
    secret = wanted["kind"] == "Secret"
    texts = {
        key: base64.b64encode(str(v).encode()).decode() for key, v in wanted.get("stringData", {}).items()
    }
    plain = {key: value for key, value in wanted.items() if key not in ("apiVersion", "kind", "stringData")}
    if texts:
        plain["data"] = {**plain.get("data", {}), **texts}
    notes = plain["metadata"].get("annotations") or {}
    # Orders to the engine's provider; on a patched object it leaves them out.
    kept = {key: value for key, value in notes.items() if not key.startswith("pulumi.com/")}
    plain["metadata"] = {**plain["metadata"], "annotations": kept}
    yield from _compare(plain, found, "", secret=secret)


def _compare(wanted: Any, found: Any, path: str, *, secret: bool) -> Iterator[str]:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for key, value in wanted.items():
            yield from _compare(value, found.get(key), f"{path}.{key}" if path else key, secret=secret)
        if _INDEX.sub("", path).rpartition(".")[2] in _WHOLE:
            yield from (f"{path}.{key} was added" for key in found if key not in wanted)
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for i, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from _compare(one, other, f"{path}[{i}]", secret=secret)
    elif not _equal(wanted, found):
        yield f"{path} is {_told(found, secret)}, declared {_told(wanted, secret)}"


def _equal(wanted: Any, found: Any) -> bool:
    """Equal, or the same quantity, or both empty: the API server leaves out what is empty."""
    if not wanted and not found:
        return True
    if isinstance(wanted, str) and isinstance(found, str):
        one, other = parse(wanted), parse(found)
        return wanted == found or (one is not None and one == other)
    return bool(wanted == found)


def _told(value: Any, secret: bool) -> str:
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None:
        return "absent"
    text = json.dumps(value)
    return text if not secret and len(text) <= _SHOWN else "another value"
