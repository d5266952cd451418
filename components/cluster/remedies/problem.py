"""The question that each kind of remedy answers, and the form of an answer.

A remedy is a list of changes to the settings. Every candidate is applied and the budget is solved again; only what fits
is offered, so no number in a remedy is an estimate.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from components.cluster.pod_budget import AgentsPerNode, Demand, GroupBudget, LayerPods, PodBudget, budget
from components.settings.model import NodeGroup, Settings

Kind = Literal["fewer pods", "other groups", "prefix delegation", "larger type", "more nodes"]
Value = int | str | tuple[str, ...] | None
T = TypeVar("T")


@dataclass(frozen=True)
class Change:
    """One setting, by its path as written in the stack file, and its new value."""

    path: tuple[str, ...]
    old: Value
    new: Value


@dataclass(frozen=True)
class Remedy:
    """Changes after which everything fits."""

    kind: Kind
    changes: tuple[Change, ...]
    free: int
    """Slots that stay free with it."""
    effect: str = ""
    """What it does to the nodes, in numbers."""
    note: str = ""
    """What else it takes."""


@dataclass(frozen=True)
class Problem:
    """An environment whose pods do not fit."""

    settings: Settings
    agents: AgentsPerNode
    layer: Sequence[LayerPods]
    found: PodBudget

    def after(self, changes: Iterable[Change]) -> PodBudget:
        """The budget after these changes."""
        return budget(apply(self.settings, changes), self.agents, self.layer)

    def remedy(
        self, kind: Kind, changes: Sequence[Change], effect: str = "", note: str = ""
    ) -> Iterator[Remedy]:
        """The remedy, if everything fits after these changes."""
        if changes and (after := self.after(changes)).fits:
            yield Remedy(kind, tuple(changes), after.left - after.need, effect, note)

    @property
    def blocked(self) -> tuple[Demand, ...]:
        """The pods of the binding set."""
        return self.found.binding.demands if self.found.binding else ()

    @property
    def targets(self) -> list[GroupBudget]:
        """Groups that have to take more: the binding ones, and those on which not even the agents fit."""
        names = self.found.binding.groups if self.found.binding else ()
        return [group for group in self.found.groups if group.name in names or group.short]

    @property
    def capacity(self) -> dict[str, int]:
        """Pods that fit into each group."""
        return {group.name: group.left for group in self.found.groups}

    def group(self, name: str) -> NodeGroup:
        """The settings of a group."""
        return self.settings.cluster.node_groups[name]


def apply(settings: Settings, changes: Iterable[Change]) -> Settings:
    """The settings with these changes."""
    changed: Settings = reduce(lambda tree, change: _set(tree, change.path, change.new), changes, settings)
    return changed


def _set(node: Any, path: tuple[str, ...], value: Value) -> Any:
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(node, BaseModel):
        fields = type(node).model_fields
        name = next(name for name, info in fields.items() if key in (info.alias, name))
        return node.model_copy(update={name: _set(getattr(node, name), rest, value)})
    return {**node, key: _set(node[key], rest, value)}


def first_else(first: Iterator[T], *others: Callable[[], Iterator[T]]) -> Iterator[T]:
    """The items of the first iterator that has any."""
    for items in (first, *(other() for other in others)):
        found = False
        for item in items:
            found = True
            yield item
        if found:
            return
