"""What the stand-in knows of one resource type: which AWS calls it is, and how their arguments are found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.aws.wire import Args

Client = Any  # boto3 makes its clients' classes at run time
# (client, old inputs, new inputs); the new ones also hold `_id`, `_arn`, and create's arguments, `_create`.
Step = Callable[[Client, Args, Args], object]


def nothing(*_: Args) -> Args:
    """No arguments, no outputs."""
    return {}


@dataclass(frozen=True)
class Kind:
    """One resource type. A changed property that no update covers means replacement.

    Attributes:
        service: boto3's name of it.
        create: the method that makes it.
        read: the method that describes it.
        delete: the method that removes it.
        identifier: its id, a format string over the inputs and `r`, the answer to `create`.
        key: the arguments that find it again, from the inputs with the id at `_id`.
        delete_key: the same for `delete` where they differ.
        complete: what further calls add to the description.
        found: the path of its description in the answer to `read`; empty where the answer is the description.
        renames: Pulumi's property to AWS's argument; `a.b` puts it into an object; `*` wraps all but the bucket.
        names: the property that the engine may name.
        inside: where in the description the dotted renames lead.
        apart: inputs that are no argument of `create`, nor in the description.
        create_apart: inputs that are no argument of `create`, but in the description.
        extra: further arguments of `create`, in AWS's form, from the inputs.
        after: further calls after `create`.
        updates: what changes a property in place.
        outputs: properties that AWS decides, from the description and the inputs.
        put: `create` replaces what is there, so any change repeats it, but for one of the properties in `key`.
        present: whether it is in the answer to `read`, where that is a list.
        tagged: has `tags`, and takes the provider's default tags too.
    """

    service: str
    create: str
    read: str
    delete: str
    identifier: str
    key: Callable[[Args], Args]
    delete_key: Callable[[Args], Args] | None = None
    complete: Callable[[Client, Args], Args] = nothing
    found: str = ""
    renames: Mapping[str, str] = field(default_factory=dict)
    names: str = ""
    inside: str = ""
    apart: tuple[str, ...] = ()
    create_apart: tuple[str, ...] = ()
    extra: Callable[[Args], Args] = nothing
    after: Step | None = None
    updates: Mapping[str, Step] = field(default_factory=dict)
    outputs: Callable[[Args, Args], Args] = nothing
    put: bool = False
    present: Callable[[Args, Args], bool] | None = None
    tagged: bool = False

    @property
    def fixed_name(self) -> bool:
        """Whether its id is made of names: two of them cannot exist, so a replacement deletes the old one first."""
        return "{r[" not in self.identifier

    def replaces(self, property_: str) -> bool:
        """Whether a change of a property makes a new resource."""
        if self.put:
            return property_ in {"bucket", "role", "name"}
        return property_ not in self.updates

    def flat_renames(self) -> dict[str, str]:
        """The renames of single arguments."""
        return {prop: name for prop, name in self.renames.items() if prop != "*" and "." not in name}

    def last_renames(self) -> dict[str, str]:
        """The renames as an answer has them: the last part of each."""
        return {prop: name.rsplit(".", maxsplit=1)[-1] for prop, name in self.renames.items() if prop != "*"}


def operation_name(method: str) -> str:
    """botocore's operation for a boto3 method: create_addon -> CreateAddon."""
    method = method.replace("open_id", "open_i_d")  # OpenIDConnectProvider
    return "".join(part.capitalize() for part in method.split("_"))


def as_pairs(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Tags as EC2, IAM and S3 want them."""
    return [{"Key": key, "Value": value} for key, value in sorted(tags.items())]


def removed(old: Mapping[str, Any], new: Mapping[str, Any], property_: str) -> list[str]:
    """Keys of a mapping that a change takes away."""
    return [key for key in old.get(property_, {}) if key not in new.get(property_, {})]
