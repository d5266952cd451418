"""The engine's calls, read from their own messages; the SDK's servicer does the rest.

Two things that the SDK (pulumi_policy 1.21) does not give a pack:

- What the engine says of the operation. The call `ConfigureStack` brings stack, project, configuration, tags and
  whether it is a preview; the SDK keeps only the tags, so `pulumi.runtime.is_dry_run()` is False at preview and
  `pulumi.Config` is empty (both measured).
- Each resource once. The SDK converts a resource's properties anew for every policy, and those of the whole stack for
  every stack policy: with 815 resources 2.0 of the pack's 3.4 CPU seconds (measured). Here a message is converted
  once, at the first policy that asks, and the SDK gets the message without its properties.

`listen` puts a subclass in the place of the SDK's private servicer. Where a later SDK has none of this name, the pack
works on with what the SDK hands over, more slowly and as if every operation were an update; a test says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pulumi_policy.policy
from google.protobuf import json_format
from pulumi.runtime import proto
from pulumi_policy import PolicyResource, ResourceValidationArgs

from policies.operation import Operation, Told, hear
from policies.props import plain

SERVICER = "_PolicyAnalyzerServicer"
METADATA = "metadata"


def listen(operation: Operation) -> bool:
    """Has the SDK serve by a servicer that listens; False if this SDK cannot be listened to."""
    servicer = getattr(pulumi_policy.policy, SERVICER, None)
    if servicer is None:
        return False
    setattr(pulumi_policy.policy, SERVICER, listening(servicer, operation))
    return True


def listening(servicer: Any, operation: Operation) -> Any:
    """A subclass of the SDK's servicer that keeps what it is told, and hands on what the SDK needs for its answer."""

    class Listening(servicer):  # type: ignore[misc]
        def ConfigureStack(self, request: Any, context: Any) -> Any:  # noqa: N802, the protocol's name
            hear(operation, request)
            return super().ConfigureStack(request, context)

        def Analyze(self, request: Any, context: Any) -> Any:  # noqa: N802
            with _answering(operation, [_told(request, request.options.parent)]):
                return super().Analyze(_without_properties(request), context)

        def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802
            with _answering(operation, _stack(request.resources)):
                return super().AnalyzeStack(proto.AnalyzeStackRequest(), context)

        def Remediate(self, request: Any, context: Any) -> Any:  # noqa: N802
            # No policy of this pack changes a resource.
            return super().Remediate(_without_properties(request), context)

        def _configure_runtime_settings(self) -> None:
            """At each call the SDK sets up the runtime that a program has; no rule asks it anything."""

    return Listening


def from_arguments(args: ResourceValidationArgs) -> Told:
    """The resource that the SDK hands to a resource policy."""
    return Told(args.urn, args.resource_type, args.opts.parent or "", partial(plain, args.props))


def from_stack(resources: Sequence[PolicyResource]) -> list[Told]:
    """The resources that the SDK hands to a stack policy."""
    return [
        Told(
            resource.urn,
            resource.resource_type,
            resource.parent.urn if resource.parent else "",
            partial(plain, resource.props),
            depends=bool(resource.property_dependencies.get(METADATA)),
        )
        for resource in resources
    ]


@contextmanager
def _answering(operation: Operation, resources: Sequence[Told]) -> Iterator[None]:
    operation.call.resources = resources
    try:
        yield
    finally:
        operation.call.resources = None


def _stack(messages: Sequence[Any]) -> list[Told]:
    """What is not in the stack is nothing to depend on, as in the SDK."""
    known = {message.urn for message in messages}
    return [
        _told(message, message.parent, depends=_depends(message.propertyDependencies, known))
        for message in messages
    ]


def _depends(dependencies: Mapping[str, Any], known: set[str]) -> bool:
    return METADATA in dependencies and not known.isdisjoint(dependencies[METADATA].urns)


def _told(message: Any, parent: str, *, depends: bool = False) -> Told:
    return Told(message.urn, message.type, parent, partial(_properties, message), depends)


def _properties(message: Any) -> Any:
    return plain(json_format.MessageToDict(message.properties))


def _without_properties(request: Any) -> Any:
    return proto.AnalyzeRequest(
        type=request.type, urn=request.urn, name=request.name, options=request.options
    )
