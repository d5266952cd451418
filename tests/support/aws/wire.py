"""Values as the engine sends them and wants them: protobuf structs on one side, plain Python on the other."""

from typing import Any

from google.protobuf import json_format, struct_pb2

Args = dict[str, Any]
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"  # the engine's sign for "known after it is made"
SIGNATURE = "4dabf18193072939515e22adb298388d"  # the key that marks a secret or an output value
SECRET = "1b47061264138c4ac30d75fd1eb44270"
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


class RefusedError(Exception):
    """The stand-in does not know this type, argument or value, or AWS would refuse it; the message says which."""


def struct(values: Args) -> struct_pb2.Struct:
    """Plain values as a struct."""
    return json_format.ParseDict(values, struct_pb2.Struct())


def unstruct(message: struct_pb2.Struct) -> Args:
    """A struct as plain values."""
    return dict(plain(json_format.MessageToDict(message)))


def plain(value: Any) -> Any:
    """Secrets and output values unwrapped, nulls left out, whole floats as integers: all numbers come as floats."""
    if isinstance(value, dict):
        if value.get(SIGNATURE) in {SECRET, OUTPUT}:
            return plain(value["value"]) if "value" in value else UNKNOWN
        return {key: plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def has_unknown(value: Any) -> bool:
    """Whether anything in it is known only after a resource is made."""
    if isinstance(value, dict):
        return any(has_unknown(inner) for inner in value.values())
    if isinstance(value, list):
        return any(has_unknown(inner) for inner in value)
    return bool(value == UNKNOWN)
