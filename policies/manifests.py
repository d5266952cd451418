"""Reads objects from YAML and JSON files, folders and exported Pulumi states, and says what it could not read."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from policies.manifest import Manifest, Origin
from policies.props import plain
from policies.values import Field

SUFFIXES = (".yaml", ".yml", ".json")
# The one in C is ten times faster; both are safe.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Parsed YAML can share parts of itself many times over: what unfolds to more values than this is no manifest.
MOST_VALUES = 2_000_000


@dataclass
class Reading:
    """What was read, and what was not.

    Attributes:
        manifests: the objects.
        unread: one sentence for each input that could not be read.
    """

    manifests: list[Manifest] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def read_paths(paths: list[Path]) -> Reading:
    """Reads files, and the YAML and JSON files in folders and below."""
    reading = Reading()
    for path in paths:
        for file in _files(path):
            _read_file(file, reading, asked_for=file == path)
        if path.is_dir() and not any(True for _ in _files(path)):
            reading.unread.append(f"{path}: no {', '.join(SUFFIXES)} file in it")
    return reading


def from_state(raw: dict[str, Any], source: str) -> Iterator[Manifest]:
    """The resources of `pulumi stack export`: inputs as the program gave them, outputs of Helm releases."""
    for resource in raw["deployment"].get("resources") or []:
        if not isinstance(resource, dict) or resource.get("delete"):
            continue
        token, urn = str(resource.get("type", "")), str(resource.get("urn", ""))
        read = bool(resource.get("external"))
        manifest = Manifest(
            Field(plain(resource.get("outputs" if read else "inputs") or {})),
            source=f"{source}: {urn}",
            origin=Origin.STATE,
            token=token,
            urn=urn,
            parent=str(resource.get("parent", "")),
            outputs=Field(plain(resource.get("outputs"))),
            judged=not read,
        )
        yield from manifest.expanded()


def is_state(raw: Any) -> bool:
    """Whether parsed JSON is an exported Pulumi state."""
    return isinstance(raw, dict) and isinstance(raw.get("deployment"), dict)


def is_object(raw: Any) -> bool:
    """Whether a parsed document is a Kubernetes object: it has a kind and an API version."""
    return (
        isinstance(raw, dict) and isinstance(raw.get("kind"), str) and isinstance(raw.get("apiVersion"), str)
    )


def from_document(raw: Any, source: str, origin: Origin = Origin.FILE) -> Iterator[Manifest]:
    """The objects in one parsed document."""
    yield from Manifest(Field(plain(raw)), source=source, origin=origin).expanded()


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    else:
        yield path


def _read_file(path: Path, reading: Reading, *, asked_for: bool) -> None:
    try:
        documents = _parse(path)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        reading.unread.append(f"{path}: {_first_line(error)}")
        return
    found = []
    for document in documents:
        if is_state(document):
            found += list(from_state(document, str(path)))
        elif is_object(document):
            found += list(from_document(document, str(path)))
    if asked_for and not found and not any(is_state(document) for document in documents):
        reading.unread.append(f"{path}: no Kubernetes object and no exported state in it")
    reading.manifests += found


def _parse(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    documents = [json.loads(text)] if path.suffix == ".json" else list(yaml.load_all(text, LOADER))
    budget = MOST_VALUES
    for document in documents:
        budget = _count(document, budget)
    return documents


def _count(value: Any, budget: int) -> int:
    """What is left of the budget.

    Raises:
        ValueError: nothing.
    """
    budget -= 1
    if budget <= 0:
        raise ValueError("it unfolds to too many values to be a manifest")
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        budget = _count(member, budget)
    return budget


def _first_line(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem or error.context}"
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return (str(error) or type(error).__name__).splitlines()[0]
