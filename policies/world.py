"""All objects that are known by now, for rules that look at more than one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from components.settings.model import NodeGroup
from policies.config import PackSettings
from policies.kinds import CLUSTER_SCOPED
from policies.manifest import Manifest, Origin
from policies.tenancy import Tenancy
from policies.values import Field


@dataclass
class World:
    """The objects, and what is known beside them.

    Attributes:
        origin: where they come from: a verdict at preview can be weaker than one of a cluster.
        complete: whether all of them are here; while a stack is being registered they are not.
        declared_groups: node groups of the program's own settings.
        live_nodes: nodes of a cluster that was read.
    """

    origin: Origin
    settings: PackSettings = field(default_factory=PackSettings)
    tenancy: Tenancy = field(default_factory=Tenancy)
    declared_groups: Mapping[str, NodeGroup] = field(default_factory=dict)
    live_nodes: Sequence[Mapping[str, Any]] = ()
    complete: bool = False
    _objects: dict[str, Manifest] = field(default_factory=dict)
    _by_urn: dict[str, list[str]] = field(default_factory=dict)
    _by_name: dict[tuple[str, str, str], dict[str, Manifest]] = field(default_factory=dict)
    _by_kind: dict[str, dict[str, Manifest]] = field(default_factory=dict)

    @property
    def node_groups(self) -> Mapping[str, NodeGroup]:
        """The pack's node groups, else the program's."""
        return self.settings.node_groups or self.declared_groups

    def add(self, manifest: Manifest) -> None:
        """Takes note of an object; one that was seen before is replaced."""
        key = manifest.urn + manifest.root.path or f"{manifest.source}#{len(self._objects)}"
        self._objects[key] = manifest
        self._by_urn.setdefault(manifest.urn, []).append(key)
        self._by_name.setdefault(_identity(manifest), {})[key] = manifest
        self._by_kind.setdefault(manifest.kind, {})[key] = manifest
        self.tenancy.learn(manifest)

    def explain(self, urn: str, *, literal: bool, outputs: Field) -> None:
        """Adds to an object what only the whole stack shows."""
        for key in self._by_urn.get(urn, ()):
            better = replace(self._objects[key], literal=literal, outputs=outputs)
            self._objects[key] = better
            self._by_kind[better.kind][key] = better
            self._by_name[_identity(better)][key] = better

    def knows(self, urn: str) -> bool:
        """Whether an object of this URN is here."""
        return urn in self._by_urn

    def find(self, kind: str, name: str, namespace: str = "") -> list[Manifest]:
        """Objects of this kind and name; patches of it too."""
        return list(self._by_name.get((kind, namespace, name), {}).values())

    def of_kind(self, *kinds: str) -> Iterator[Manifest]:
        """All objects of these kinds."""
        for kind in kinds:
            yield from self._by_kind.get(kind, {}).values()

    def __iter__(self) -> Iterator[Manifest]:
        """All objects."""
        return iter(list(self._objects.values()))


def _identity(manifest: Manifest) -> tuple[str, str, str]:
    namespace = "" if manifest.kind in CLUSTER_SCOPED else manifest.namespace.text or ""
    return (manifest.kind, namespace, manifest.name)
