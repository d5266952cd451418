"""Pulumi's camelCase values and botocore's shapes, in both directions.

One rule does most of it: a Pulumi key and an AWS member are the same when they are equal without regard to case, as
`sseAlgorithm` and `SSEAlgorithm`. A key without a member is refused. botocore's own validation leaves enums and
patterns unchecked, though its models hold both: they are checked here, so a wrong value fails at preview.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from botocore.model import Shape

from tests.support.aws.wire import UNKNOWN, RefusedError, has_unknown

TAG_MEMBERS = {"Key", "Value"}
TRUTH = {"true": True, "false": False}  # in Terraform, a truth value that may be left out is a text
CATEGORIES = {r"\p{L}": r"\w", r"\p{N}": r"\d", r"\p{Z}": r"\s"}
SHOWN_VALUES = 40  # of an enum in a message


def member(shape: Shape, key: str, renames: Mapping[str, str]) -> str | None:
    """The name of a structure's member for a Pulumi key; None where there is none."""
    wanted = renames.get(key, key).lower()
    return next((name for name in shape.members if name.lower() == wanted), None)


def to_aws(shape: Shape, value: Any, where: str) -> Any:
    """A Pulumi value in the form that a shape asks for.

    Args:
        shape: of the argument.
        value: what the program gives; unknown values pass, as they occur in previews only.
        where: its path, for messages.

    Raises:
        RefusedError: it is nothing that AWS knows, with its path.
    """
    if value == UNKNOWN:
        return value
    if shape.type_name == "structure":
        return _structure(shape, value, where)
    if shape.type_name == "list":
        return _list(shape, value, where)
    if shape.type_name == "map":
        if not isinstance(value, dict):
            raise RefusedError(f"{where}: expected a mapping, got {value!r}")
        return {key: to_aws(shape.value, inner, f"{where}[{key!r}]") for key, inner in value.items()}
    if shape.type_name == "boolean" and isinstance(value, str) and value in TRUTH:
        return TRUTH[value]
    _check_scalar(shape, value, where)
    return value


def _list(shape: Shape, value: Any, where: str) -> list[Any]:
    if _is_tags(shape) and isinstance(value, dict):
        return [{"Key": key, "Value": text} for key, text in sorted(value.items())]
    # What is a single block in Terraform is a list of one in AWS.
    items = value if isinstance(value, list) else [value]
    return [to_aws(shape.member, item, f"{where}[{index}]") for index, item in enumerate(items)]


def _structure(shape: Shape, value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RefusedError(f"{where}: expected an object, got {value!r}")
    result = {}
    for key, inner in value.items():
        name = member(shape, key, {})
        if name is None:
            raise RefusedError(
                f"{where}.{key}: AWS has no such argument here; it has {', '.join(sorted(shape.members))}"
            )
        result[name] = to_aws(shape.members[name], inner, f"{where}.{key}")
    missing = [name for name in shape.required_members if name not in result]
    if missing and not has_unknown(value):
        raise RefusedError(f"{where}: AWS requires {', '.join(missing)}")
    return result


def _check_scalar(shape: Shape, value: Any, where: str) -> None:
    numbers, kind = {"integer", "long"}, shape.type_name
    if kind in numbers and (isinstance(value, bool) or not isinstance(value, int)):
        raise RefusedError(f"{where}: expected a number, got {value!r}")
    if kind == "string" and not isinstance(value, str):
        raise RefusedError(f"{where}: expected a text, got {value!r}")
    if kind == "boolean" and not isinstance(value, bool):
        raise RefusedError(f"{where}: expected true or false, got {value!r}")
    enum = getattr(shape, "enum", None)
    if enum and value not in enum:
        raise RefusedError(f"{where}: {value!r} is not one of {', '.join(enum[:SHOWN_VALUES])}")
    pattern = shape.metadata.get("pattern")
    if pattern and isinstance(value, str) and not re.fullmatch(_as_python(pattern), value):
        raise RefusedError(f"{where}: {value!r} does not match AWS's pattern {pattern}")


def _as_python(pattern: str) -> str:
    """AWS's patterns are Java's, whose Unicode categories Python does not have."""
    for java, python in CATEGORIES.items():
        pattern = pattern.replace(java, python)
    return pattern


def _is_tags(shape: Shape) -> bool:
    return shape.member.type_name == "structure" and set(shape.member.members) == TAG_MEMBERS


def mirror(shape: Shape, inputs: Any, seen: Any, renames: Mapping[str, str]) -> Any:
    """What the program set, with each value replaced by what AWS says now: drift, in the program's own keys only."""
    if seen is None:
        return None
    if shape.type_name == "structure" and isinstance(inputs, dict):
        return _mirror_structure(shape, inputs, seen, renames)
    if shape.type_name == "list" and shape.member.type_name == "structure":
        return _mirror_list(shape, inputs, seen, renames)
    if isinstance(inputs, str) and isinstance(seen, bool):
        return str(seen).lower()
    if isinstance(inputs, str) and inputs.startswith("{"):  # a JSON document
        now = json.loads(seen) if isinstance(seen, str) else seen
        return inputs if json.loads(inputs) == now else json.dumps(now, sort_keys=True)
    return dict(seen) if shape.type_name == "map" else seen


def _mirror_list(shape: Shape, inputs: Any, seen: list[Any], renames: Mapping[str, str]) -> Any:
    if _is_tags(shape):
        return {tag["Key"]: tag["Value"] for tag in seen}
    if isinstance(inputs, dict):  # Terraform's single block
        return mirror(shape.member, inputs, seen[0] if seen else None, renames)
    both = [mirror(shape.member, one, now, renames) for one, now in zip(inputs, seen, strict=False)]
    return both + [_as_pulumi(shape.member, one) for one in seen[len(inputs) :]]


def _mirror_structure(
    shape: Shape, inputs: dict[str, Any], seen: Mapping[str, Any], renames: Mapping[str, str]
) -> dict[str, Any]:
    result = {}
    for key, inner in inputs.items():
        name = member(shape, key, renames)
        now = inner if name is None else mirror(shape.members[name], inner, seen.get(name), renames)
        if now is not None:
            result[key] = now
    return result


def _as_pulumi(shape: Shape, seen: Any) -> Any:
    """An item that the program does not have, under Pulumi's names: AWS's own with a small first letter."""
    if shape.type_name != "structure":
        return seen
    return {name[0].lower() + name[1:]: _as_pulumi(shape.members[name], v) for name, v in seen.items()}


def shape_at(shape: Shape, path: str) -> Shape:
    """The shape at a dotted path, in which a number stands for a list's item."""
    for part in filter(None, path.split(".")):
        shape = shape.member if part.isdigit() else shape.members[part]
    return shape


def value_at(value: Any, path: str) -> Any:
    """The value at such a path; an empty path is the value itself."""
    for part in filter(None, path.split(".")):
        value = value[int(part)] if part.isdigit() else value[part]
    return value
