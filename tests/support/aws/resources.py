"""What the provider does with a resource: checks it, compares it, and makes, reads, changes and removes it in AWS."""

import functools
import importlib
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError
from botocore.model import Shape

from tests.support.aws import arguments
from tests.support.aws.account import Account
from tests.support.aws.kind import Client, Kind
from tests.support.aws.shapes import mirror, shape_at, value_at
from tests.support.aws.wire import UNKNOWN, Args, RefusedError

GONE = {
    "NoSuchEntity",
    "NoSuchBucket",
    "ResourceNotFoundException",
    "NoSuchLifecycleConfiguration",
    "NoSuchBucketPolicy",
    "ServerSideEncryptionConfigurationNotFoundError",
    "NoSuchPublicAccessBlockConfiguration",
    "OwnershipControlsNotFoundError",
    "InvalidLaunchTemplateId.NotFound",
    "InvalidLaunchTemplateName.NotFoundException",
}


@dataclass(frozen=True)
class Changed:
    """One property that differs: `ADD`, `DELETE` or `UPDATE`, and whether it makes a new resource."""

    how: str
    replaces: bool


@dataclass
class Resources:
    """The resources of one provider.

    Attributes:
        account: where they are.
        region: the provider's.
        default_tags: that it adds to everything with tags.
    """

    account: Account
    region: str = ""
    default_tags: dict[str, str] = field(default_factory=dict)

    def client(self, service: str) -> Client:
        """A client in the provider's region."""
        return self.account.client(service, self.region)

    def refusal(self, kind: Kind, inputs: Args) -> RefusedError | None:
        """Why AWS would refuse to make it with these inputs."""
        try:
            arguments.of_create(self.client(kind.service), kind, inputs, self.region)
        except RefusedError as error:
            return error
        return None

    def create(self, token: str, kind: Kind, inputs: Args) -> tuple[str, Args]:
        """Makes it; its id and its state."""
        client, given = self.client(kind.service), self._tagged(kind, inputs)
        answer = getattr(client, kind.create)(**arguments.of_create(client, kind, given, self.region))
        identifier = kind.identifier.format(**inputs, r=answer)
        if kind.after:
            kind.after(client, {}, {**given, "_id": identifier})
        state = self.state(token, kind, inputs, identifier)
        if state is None:
            raise RefusedError(f"{identifier} is made, but AWS does not find it")
        return identifier, state

    def read(self, token: str, kind: Kind, inputs: Args, identifier: str) -> tuple[Args, Args] | None:
        """Inputs and state as AWS has them now; None when it is gone."""
        description = self._description(kind, inputs, identifier)
        if description is None:
            return None
        apart = {key: value for key, value in inputs.items() if key in kind.apart}
        inside = {key: value for key, value in inputs.items() if key not in kind.apart}
        shape = arguments.output_shape(self.client(kind.service), kind.read)
        if shape is not None and not kind.present:
            inside = self._mirrored(kind, shape, inside, description)
        seen = self._without_default_tags(inputs, {**apart, **inside})
        return seen, self._state_of(token, kind, seen, description, identifier)

    def _mirrored(self, kind: Kind, shape: Shape, inputs: Args, description: Args) -> Args:
        """The inputs as AWS has them; those with a dotted rename are deeper in its description."""
        at = shape_at(shape, kind.found)
        if not kind.inside:
            return dict(mirror(at, inputs, description, kind.last_renames()))
        deep = {key: value for key, value in inputs.items() if "." in kind.renames.get(key, "")}
        rest = {key: value for key, value in inputs.items() if key not in deep}
        deep_shape, deep_seen = shape_at(at, kind.inside), value_at(description, kind.inside)
        return {
            **mirror(at, rest, description, kind.flat_renames()),
            **mirror(deep_shape, deep, deep_seen, kind.last_renames()),
        }

    def update(self, token: str, kind: Kind, old: Args, new: Args, state: Args, identifier: str) -> Args:
        """Changes it; its new state."""
        client, given = self.client(kind.service), self._tagged(kind, new)
        if kind.put:
            getattr(client, kind.create)(**arguments.of_create(client, kind, given, self.region))
        else:
            create = arguments.of_create(client, kind, given, self.region)
            now = {**given, "_id": identifier, "_arn": _arn(state), "_create": create, "region": self.region}
            steps = [kind.updates[key] for key in changes(kind, old, new)]
            for step in dict.fromkeys(steps):
                step(client, old, now)
        changed = self.state(token, kind, new, identifier)
        if changed is None:
            raise RefusedError(f"{identifier} is changed, but AWS does not find it")
        return changed

    def delete(self, kind: Kind, inputs: Args, identifier: str) -> None:
        """Removes it; one that is gone is as well."""
        key = (kind.delete_key or kind.key)({**inputs, "_id": identifier})
        try:
            getattr(self.client(kind.service), kind.delete)(**key)
        except ClientError as error:
            if not _is_gone(error):
                raise

    def state(self, token: str, kind: Kind, inputs: Args, identifier: str) -> Args | None:
        """Inputs and outputs as AWS describes them; None when it is gone."""
        description = self._description(kind, inputs, identifier)
        return None if description is None else self._state_of(token, kind, inputs, description, identifier)

    def _state_of(self, token: str, kind: Kind, inputs: Args, description: Args, identifier: str) -> Args:
        full = {"region": self.region, **inputs}
        all_tags = {"tagsAll": {**self.default_tags, **inputs.get("tags", {})}} if kind.tagged else {}
        declared = set(outputs_of(token))
        known = {
            **(full if "region" in declared else inputs),
            **kind.outputs(description, {**full, "_id": identifier}),
            **all_tags,
        }
        undeclared = set(known) - declared
        if undeclared:
            raise RefusedError(f"{token} has no properties {', '.join(sorted(undeclared))}")
        return known

    def _description(self, kind: Kind, inputs: Args, identifier: str) -> Args | None:
        read = getattr(self.client(kind.service), kind.read)
        try:
            answer = read(**kind.key({**inputs, "_id": identifier}))
        except ClientError as error:
            if _is_gone(error):
                return None
            raise
        if kind.present:
            return {} if kind.present(answer, inputs) else None
        answer.pop("ResponseMetadata", None)
        try:
            description = dict(value_at(answer, kind.found))
        except IndexError:  # in a list of what is there
            return None
        return {**description, **kind.complete(self.client(kind.service), description)}

    def _tagged(self, kind: Kind, inputs: Args) -> Args:
        tags = {**self.default_tags, **inputs.get("tags", {})}
        return {**inputs, "tags": tags} if kind.tagged and tags else inputs

    def _without_default_tags(self, inputs: Args, seen: Args) -> Args:
        """The provider's own tags are in AWS's answer, and in no program."""
        own = set(self.default_tags) - set(inputs.get("tags", {}))
        if "tags" not in seen:
            return seen
        return {**seen, "tags": {key: value for key, value in seen["tags"].items() if key not in own}}


def changes(kind: Kind, old: Args, new: Args, ignored: tuple[str, ...] = ()) -> dict[str, Changed]:
    """The properties that differ."""
    found = {}
    for key in sorted(set(old) | set(new)):
        if old.get(key) != new.get(key) and key not in ignored:
            how = "ADD" if key not in old else "DELETE" if key not in new else "UPDATE"
            found[key] = Changed(how, kind.replaces(key))
    return found


def planned(token: str, inputs: Args) -> Args:
    """The state of one that a preview would make: every output is unknown."""
    return {**dict.fromkeys(outputs_of(token), UNKNOWN), **inputs}


@functools.cache
def outputs_of(token: str) -> tuple[str, ...]:
    """The properties of a type, as the installed SDK declares them."""
    _, path, name = token.split(":")
    module, file = path.split("/")
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in file)
    declared: Any = vars(getattr(importlib.import_module(f"pulumi_aws.{module}.{snake}"), name))
    getters: list[Any] = [p.fget for p in declared.values() if isinstance(p, property)]
    return tuple(getter._pulumi_name for getter in getters)


def _arn(state: Args) -> str:
    return str(state.get("arn") or state.get("associationArn") or state.get("accessEntryArn") or "")


def _is_gone(error: ClientError) -> bool:
    code = error.response["Error"]["Code"]
    # 404 without a name is the answer to S3's HeadBucket, and moto's to a call that it does not know.
    return code in GONE or (code == "404" and error.operation_name == "HeadBucket")
