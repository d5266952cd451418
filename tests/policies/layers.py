"""Runs objects through the rules at four layers, of which each has failed where the one before it passed:

plain   the rules on plain data, as `python -m policies.check` does
proxy   Pulumi's policies, called with the SDK's unknown-checking proxies
wire    the SDK's servicer, called with the protobuf messages that the engine sends (numbers become floats)
calls   the same messages, read by the pack itself, as it is served
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from google.protobuf import struct_pb2
from pulumi.runtime import proto
from pulumi_policy import (
    EnforcementLevel,
    PolicyCustomTimeouts,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.policy import _PolicyAnalyzerServicer
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from policies.calls import listening
from policies.check import check
from policies.config import UNDECIDED, take_apart
from policies.manifest import Manifest, Origin
from policies.manifests import LOADER, Reading
from policies.operation import Operation
from policies.pack import NAME, policies
from policies.props import plain
from policies.values import MISSING, Field

LAYERS = ("plain", "proxy", "wire", "calls")
UNKNOWN_MARK = "<unknown>"
"""In a test's YAML: a value that is not known before the update."""


@dataclass(frozen=True)
class Found:
    """One thing that was reported."""

    rule: str
    verdict: str
    message: str


@dataclass(frozen=True)
class Resource:
    """An object as Pulumi would register it.

    Attributes:
        props: its inputs.
        token: its type; from kind and apiVersion if it is not given.
        name: its name; the object's own if it is not given.
        parents: types of its parents, from the outside in.
        outputs: what its provider answered.
    """

    props: Mapping[str, Any]
    token: str = ""
    name: str = ""
    parents: tuple[str, ...] = ()
    outputs: Mapping[str, Any] | None = None
    stub: bool = False

    @property
    def type(self) -> str:
        return (
            self.token or f"kubernetes:{self.props.get('apiVersion', 'v1')}:{self.props.get('kind', 'None')}"
        )

    @property
    def urn(self) -> str:
        name = self.name or str((self.props.get("metadata") or {}).get("name", "unnamed"))
        namespace = (self.props.get("metadata") or {}).get("namespace")
        path = "$".join([*self.parents, self.type])
        return f"urn:pulumi:dev::shared-observability::{path}::{f'{namespace}-' if namespace else ''}{name}"


def objects(text: str) -> list[Resource]:
    """The documents of a YAML text."""
    return [Resource(document) for document in yaml.load_all(text, LOADER) if document]


def run(
    layer: str,
    resources: Sequence[Resource],
    *,
    config: Mapping[str, Any] | None = None,
    preview: bool = False,
    tags: Mapping[str, str] | None = None,
    origin: Origin = Origin.FILE,
) -> list[Found]:
    """What the pack reports of these resources.

    Args:
        layer: one of LAYERS.
        resources: in the order of their registration.
        config: the pack's settings, as in a file for `--policy-pack-config`.
        preview: whether it is a preview (for the layers of Pulumi).
        tags: the stack's tags (for the layers of Pulumi).
        origin: of the objects (for the plain layer).
    """
    operation = Operation(preview=preview)
    if layer == "plain":
        return _plain(resources, config or {}, Origin.PREVIEW if preview else origin)
    if layer == "proxy":
        return _proxy(resources, config or {}, operation, tags or {})
    servicer = _PolicyAnalyzerServicer if layer == "wire" else listening(_PolicyAnalyzerServicer, operation)
    return _wire(servicer, resources, config or {}, operation, tags or {})


def judged(rule: str, text: str, layer: str, **options: Any) -> list[str]:
    """The verdicts of one rule on the documents of a YAML text, sorted; nothing means that all pass.

    The order in which resources are registered must not matter: the last layer tries the reverse as well.
    """
    resources = objects(text)
    found = only(run(layer, resources, **options), rule)
    if layer == LAYERS[-1] and len(resources) > 1:
        assert only(run(layer, resources[::-1], **options), rule) == found, "the order decides"
    return found


def only(found: Sequence[Found], rule: str) -> list[str]:
    """The verdicts of one rule."""
    return sorted(each.verdict for each in found if each.rule == rule)


def _plain(resources: Sequence[Resource], config: Mapping[str, Any], origin: Origin) -> list[Found]:
    manifests = []
    for resource in resources:
        outputs = MISSING if resource.outputs is None else Field(plain(_with_sentinels(resource.outputs)))
        root = Field(plain(_with_sentinels(resource.props)))
        token = resource.type if resource.token or resource.parents else ""
        urn = resource.urn if token else ""
        manifest = Manifest(root, "test.yaml", origin, token=token, urn=urn, outputs=outputs)
        manifests += list(manifest.expanded())
    result = check(Reading(manifests), take_apart(config))
    return [Found(found.rule, str(found.verdict), found.message) for found, _ in result.findings]


def _proxy(
    resources: Sequence[Resource], config: Mapping[str, Any], operation: Operation, tags: Mapping[str, str]
) -> list[Found]:
    found: list[Found] = []
    pack = policies(operation)
    options = PolicyResourceOptions(False, [], None, [], PolicyCustomTimeouts(0, 0, 0), [], None)
    for resource in resources:
        for policy in pack:
            if not isinstance(policy, ResourceValidationPolicy) or _level(policy.name, config) == "disabled":
                continue
            props = unknown_checking_proxy(_with_sentinels(resource.props))
            args = ResourceValidationArgs(
                resource.type,
                props,
                resource.urn,
                resource.name,
                options,
                None,
                _own(policy.name, config),
                tags,
            )
            policy.validate(args, _reporter(policy.name, found))
    for policy in pack:
        if not isinstance(policy, StackValidationPolicy) or _level(policy.name, config) == "disabled":
            continue
        stack = [
            PolicyResource(
                each.type,
                unknown_checking_proxy(_with_sentinels(each.outputs or each.props)),
                each.urn,
                each.name,
                options,
                None,
                None,
                [],
                {},
            )
            for each in resources
        ]
        policy.validate(
            StackValidationArgs(stack, _own(policy.name, config), tags), _reporter(policy.name, found)
        )
    return found


def _wire(
    sdk: Any,
    resources: Sequence[Resource],
    config: Mapping[str, Any],
    operation: Operation,
    tags: Mapping[str, str],
) -> list[Found]:
    pack = policies(operation)
    servicer = sdk(NAME, "0.0.1", pack, EnforcementLevel.ADVISORY)
    request = proto.ConfigureAnalyzerRequest()
    for policy in pack:
        level = _level(policy.name, config) or str(getattr(policy.enforcement_level, "value", "advisory"))
        request.policyConfig[policy.name].enforcementLevel = getattr(proto, level.upper())
        request.policyConfig[policy.name].properties.update(_own(policy.name, config))
    servicer.Configure(request, None)
    servicer.ConfigureStack(
        proto.AnalyzerStackConfigureRequest(tags=dict(tags), dry_run=operation.preview), None
    )
    answers = [
        servicer.Analyze(
            proto.AnalyzeRequest(
                type=each.type, properties=_struct(each.props), urn=each.urn, name=each.name
            ),
            None,
        )
        for each in resources
    ]
    stack = [
        proto.AnalyzerResource(
            type=each.type, properties=_struct(each.outputs or each.props), urn=each.urn, name=each.name
        )
        for each in resources
    ]
    answers.append(servicer.AnalyzeStack(proto.AnalyzeStackRequest(resources=stack), None))
    return [
        _found(diagnostic.policyName, diagnostic.message.partition("\n")[2])
        for answer in answers
        for diagnostic in answer.diagnostics
    ]


def _struct(props: Mapping[str, Any]) -> struct_pb2.Struct:
    message = struct_pb2.Struct()
    message.update(_with_sentinels(props))
    return message


def _reporter(policy: str, found: list[Found]) -> Any:
    def report(message: str, _urn: str | None = None) -> None:
        found.append(_found(policy, message))

    return report


def _found(policy: str, message: str) -> Found:
    if policy == UNDECIDED:
        rule, _, rest = message.partition(" cannot be decided: ")
        return Found(rule, "undecided", rest)
    return Found(policy, "violation", message)


def _own(policy: str, config: Mapping[str, Any]) -> dict[str, Any]:
    given = config.get(policy, {})
    return {} if isinstance(given, str) else {k: v for k, v in given.items() if k != "enforcementLevel"}


def _level(policy: str, config: Mapping[str, Any]) -> str:
    given = config.get(policy, config.get("all", {}))
    return given if isinstance(given, str) else str(given.get("enforcementLevel", ""))


def _with_sentinels(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _with_sentinels(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_with_sentinels(element) for element in value]
    return UNKNOWN_STRING_VALUE if value == UNKNOWN_MARK else value
