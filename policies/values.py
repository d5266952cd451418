"""JSON-shaped values with a path, and with a marker for what is not known before the update.

Rules read everything through `Field`: it never raises, whatever the shape of the data, so a rule cannot crash on a
manifest that the API server would refuse. Missing and null are the same, as they are to the API.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from typing_extensions import override


@final
class Unknown:
    """The type of `UNKNOWN`."""

    @override
    def __repr__(self) -> str:
        """What a message would show."""
        return "<not known before the update>"


UNKNOWN: Final = Unknown()
"""Stands for a value that depends on a resource that does not exist yet."""

Truth: TypeAlias = bool | None
"""True, False, or None: cannot be decided."""


@dataclass(frozen=True, slots=True)
class Field:
    """A value inside a manifest.

    Attributes:
        value: None (missing or null), bool, int, float, str, list, dict or `UNKNOWN`.
        path: where it is, as `spec.template.spec.tolerations[0].key`.
    """

    value: Any
    path: str = ""

    def __getitem__(self, key: str) -> "Field":
        """The member of this name; unknown if this value is, missing if this value has no members."""
        return Field(self._member(key), join(self.path, key))

    def at(self, *keys: str) -> "Field":
        """The member at the end of several steps."""
        found = self
        for key in keys:
            found = found[key]
        return found

    def items(self) -> Iterator["Field"]:
        """The elements of a list; none for anything else."""
        if isinstance(self.value, list):
            for index, element in enumerate(self.value):
                yield Field(element, f"{self.path}[{index}]")

    def members(self) -> Iterator[tuple[str, "Field"]]:
        """Key and value of each member of an object; none for anything else."""
        if isinstance(self.value, dict):
            for key in self.value:
                yield key, self[key]

    @property
    def absent(self) -> bool:
        """Missing or null."""
        return self.value is None

    @property
    def empty(self) -> bool:
        """Missing, null, or an empty text, list or object: what the API drops when it stores an object."""
        return self.value is None or (isinstance(self.value, str | list | dict) and not self.value)

    @property
    def unknown(self) -> bool:
        """Not known before the update."""
        return self.value is UNKNOWN

    @property
    def text(self) -> str | None:
        """The text, or None if it is anything else."""
        return self.value if isinstance(self.value, str) else None

    @property
    def number(self) -> float | None:
        """The number, or None if it is anything else; Pulumi sends every number as a float."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        return float(self.value) if is_number else None

    @property
    def true(self) -> Truth:
        """Whether it is true; None if that is not known."""
        return None if self.unknown else self.value is True

    def texts(self) -> list[str]:
        """The texts among the elements of a list."""
        return [item.value for item in self.items() if isinstance(item.value, str)]

    @property
    def has_unknown(self) -> bool:
        """Whether it, or anything inside it, is not known."""
        return _has_unknown(self.value)

    def _member(self, key: str) -> Any:
        if isinstance(self.value, dict):
            return self.value.get(key)
        return UNKNOWN if self.unknown else None


MISSING: Final = Field(None)


def join(path: str, key: str) -> str:
    """A path with one more step; keys that would be misread are put in brackets."""
    if not key.replace("-", "").replace("_", "").isalnum():
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def contains(field: Field, wanted: str) -> Truth:
    """Whether a list of texts has this element; None if an unknown element could be it."""
    if wanted in field.texts():
        return True
    return None if field.unknown or any(item.unknown for item in field.items()) else False


def any_of(truths: Iterable[Truth]) -> Truth:
    """True if one is; else None if one cannot be decided."""
    known = list(truths)
    if any(truth is True for truth in known):
        return True
    return None if None in known else False


def all_of(truths: Iterable[Truth]) -> Truth:
    """False if one is; else None if one cannot be decided."""
    known = list(truths)
    if any(truth is False for truth in known):
        return False
    return None if None in known else True


def negate(truth: Truth) -> Truth:
    """The opposite; what cannot be decided stays so."""
    return None if truth is None else not truth


def _has_unknown(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_unknown(member) for member in value.values())
    if isinstance(value, list):
        return any(_has_unknown(element) for element in value)
    return value is UNKNOWN
