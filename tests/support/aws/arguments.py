"""The arguments of AWS's create call, from a resource's inputs: what botocore's model does not have is refused."""

from botocore.model import Shape

from tests.support.aws.kind import Client, Kind, operation_name
from tests.support.aws.shapes import member, to_aws
from tests.support.aws.wire import Args, RefusedError, has_unknown

NOT_OF_THE_BUCKET = ("bucket", "skipDestroy")


def of_create(client: Client, kind: Kind, inputs: Args, region: str) -> Args:
    """What to call `kind.create` with.

    Raises:
        RefusedError: AWS does not know an argument or its value, or one is missing; with its path.
    """
    shape = input_shape(client, kind.create)
    left_out = {*kind.apart, *kind.create_apart, "region"}
    given = _wrapped(kind, {key: v for key, v in inputs.items() if key not in left_out})
    result: Args = {}
    for key, value in given.items():
        name = member(shape, key, kind.flat_renames())
        if name is None:
            raise RefusedError(
                f"{key}: {kind.create} has no such argument; it has {', '.join(sorted(shape.members))}"
            )
        result[name] = to_aws(shape.members[name], value, key)
    if has_unknown(inputs):
        return result
    result |= kind.extra({"region": region, **inputs})
    filled_in = {name for name, inner in shape.members.items() if inner.metadata.get("idempotencyToken")}
    missing = set(shape.required_members) - set(result) - filled_in
    if missing:
        raise RefusedError(f"{kind.create}: AWS requires {', '.join(sorted(missing))}")
    return result


def _wrapped(kind: Kind, given: Args) -> Args:
    """`rules` becomes `{Configuration: {Rules: rules}}`, by the renames with a dot or a star."""
    for prop, target in kind.renames.items():
        if prop == "*":
            inside = {key: value for key, value in given.items() if key not in NOT_OF_THE_BUCKET}
            given = {"bucket": given["bucket"], target: inside}
        elif "." in target and prop in given:
            outer, inner = target.split(".")
            rest = {key: value for key, value in given.items() if key != prop}
            given = {**rest, outer: {**rest.get(outer, {}), inner: given[prop]}}
    return given


def input_shape(client: Client, method: str) -> Shape:
    """The shape of a method's arguments."""
    return client.meta.service_model.operation_model(operation_name(method)).input_shape


def output_shape(client: Client, method: str) -> Shape | None:
    """The shape of a method's answer; None where there is none."""
    return client.meta.service_model.operation_model(operation_name(method)).output_shape
