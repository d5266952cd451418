"""Turns the rules into Pulumi's policies.

Each rule is one resource policy, and one stack policy of the same name if it has more to say once all resources are
known: the first stops an object before it is made, the second sees what the first could not. Stack policies get
outputs, which can be empty at preview; so the inputs that the resource policies saw are kept and judged again.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy import Severity as PulumiSeverity

from policies.calls import from_arguments, from_stack
from policies.config import PACK_SETTINGS, UNDECIDED, PackSettings, json_schema, parse
from policies.exemptions import Exemptions
from policies.judge import Judge, today
from policies.manifest import Manifest
from policies.operation import Operation, Told
from policies.props import plain
from policies.rule import Rule
from policies.rules import RULES
from policies.tenancy import STACK_TAG, Tenancy
from policies.values import Field
from policies.verdict import Finding, Verdict
from policies.world import World

NAME = "shared-observability"
SETTINGS_SUMMARY = "The pack's own settings must be right, and every exemption in force and in use."
UNDECIDED_SUMMARY = "What a rule cannot decide is said, not passed over."
HELM_RELEASE = "kubernetes:helm.sh/v3:Release"


@dataclass
class Request:
    """One call of the engine: the SDK runs all policies on it in turn, on one thread.

    Attributes:
        urn: whose call it is; empty for the whole stack.
        manifests: the object, converted once for all policies.
        served: policies that have seen it; one that comes again starts another call.
        pending: what could not be decided, for the policy `undecided` that runs last.
    """

    urn: str
    manifests: list[Manifest]
    served: set[str] = field(default_factory=set)
    pending: list[Finding] = field(default_factory=list)


@dataclass
class Memory:
    """The pack's memory during one operation.

    Attributes:
        operation: what the engine said of it.
    """

    operation: Operation
    _judge: Judge | None = None
    lock: Any = field(default_factory=threading.RLock)
    _settings: Mapping[str, Any] = field(default_factory=dict)
    _local: threading.local = field(default_factory=threading.local)
    _tag: str = ""
    _number: int = 0

    def settle(self, raw: Mapping[str, Any], tags: Mapping[str, str]) -> None:
        """Takes the shared settings, before any rule runs.

        Raises:
            ConfigError: they are wrong; the engine then stops the operation.
        """
        self._settings, self._tag = raw, tags.get(STACK_TAG, "")

    @property
    def judge(self) -> Judge:
        """The judge, made when the settings are known; each operation has its own."""
        if self._judge is None or self._number != self.operation.number:
            self._number = self.operation.number
            settings: PackSettings = parse(PackSettings, plain(self._settings), PACK_SETTINGS)
            tenancy = Tenancy(
                settings, self.operation.declared_tenants, self._tag or self.operation.stack_tenant
            )
            groups = self.operation.declared_groups
            world = World(self.operation.origin, settings, tenancy, groups)
            self._judge = Judge(world, Exemptions(settings.exemptions, today()))
        return self._judge

    def resource(self, policy: str, args: ResourceValidationArgs) -> Request:
        """The call that this policy is part of."""
        request: Request | None = getattr(self._local, "request", None)
        if request is None or request.urn != args.urn or policy in request.served:
            (told,) = self.operation.call.resources or [from_arguments(args)]
            request = Request(args.urn, self._read(told))
            self._local.request = request
        request.served.add(policy)
        return request

    def stack(self, policy: str, args: StackValidationArgs) -> Request:
        """The call on the whole stack that this policy is part of."""
        request: Request | None = getattr(self._local, "request", None)
        if request is None or request.urn or policy in request.served:
            request = Request("", [])
            self._local.request = request
            resources = self.operation.call.resources
            self._complete(from_stack(args.resources) if resources is None else resources)
        request.served.add(policy)
        return request

    def _read(self, told: Told) -> list[Manifest]:
        manifests = list(self._manifest(told, judged=self.operation.targets.hold(told.urn)).expanded())
        for found in manifests:
            self.judge.world.add(found)
        return manifests

    def _complete(self, resources: Iterable[Told]) -> None:
        """Adds what only the whole stack shows: resources that were read, dependencies, what Helm installed."""
        world = self.judge.world
        for told in resources:
            if world.knows(told.urn):
                outputs = told.properties() if told.token == HELM_RELEASE else None
                world.explain(told.urn, literal=not told.depends, outputs=Field(outputs))
                continue
            for found in self._manifest(told, judged=False).expanded():
                world.add(found)
        world.complete = True

    def _manifest(self, told: Told, *, judged: bool) -> Manifest:
        return Manifest(
            Field(told.properties()),
            source=told.urn,
            origin=self.operation.origin,
            token=told.token,
            urn=told.urn,
            parent=told.parent,
            judged=judged,
        )


def policies(operation: Operation) -> list[Policy]:
    """All policies of the pack.

    The order matters: the SDK runs them one after the other on each resource, then on the stack. The settings come
    first; what could not be decided and whether every exemption was used are known last.
    """
    memory = Memory(operation)
    found: list[Policy] = [_settings_policy(memory)]
    for rule in RULES:
        found.append(_resource_policy(memory, rule))
        if rule.needs_all:
            found.append(_stack_policy(memory, rule))
    return [*found, _exemptions_policy(memory), *_undecided_policies(memory)]


def _resource_policy(memory: Memory, rule: Rule) -> Policy:
    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        with memory.lock:
            request = memory.resource(rule.name, args)
            settings = memory.judge.configure(rule, args.get_config())
            for manifest in request.manifests:
                _tell(request, memory.judge.one(rule, manifest, settings), report)

    return ResourceValidationPolicy(validate=validate, **_texts(rule))


def _stack_policy(memory: Memory, rule: Rule) -> Policy:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        with memory.lock:
            request = memory.stack(rule.name, args)
            settings = memory.judge.configure(rule, args.get_config())
            _tell(request, memory.judge.everything(rule, settings), report)

    return StackValidationPolicy(validate=validate, **_texts(rule))


def _tell(request: Request, findings: Iterable[Finding], report: ReportViolation) -> None:
    """Reports violations at the rule's level; the others wait for the policy `undecided`, which has its own."""
    for finding in findings:
        if finding.verdict is Verdict.VIOLATION:
            report(finding.message, finding.subject.urn or None)
        else:
            request.pending.append(finding)


def _settings_policy(memory: Memory) -> Policy:
    def validate(args: ResourceValidationArgs, _report: ReportViolation) -> None:
        with memory.lock:
            memory.settle(args.get_config(), args.stack_tags)

    return ResourceValidationPolicy(validate=validate, **_settings_texts())


def _exemptions_policy(memory: Memory) -> Policy:
    def validate(_args: StackValidationArgs, report: ReportViolation) -> None:
        with memory.lock:
            for finding in memory.judge.exemptions.report(complete=True):
                report(finding.message, None)

    return StackValidationPolicy(validate=validate, **_settings_texts())


def _undecided_policies(memory: Memory) -> list[Policy]:
    def tell(request: Request, report: ReportViolation) -> None:
        for finding in request.pending:
            report(f"{finding.rule} cannot be decided: {finding.message}", finding.subject.urn or None)
        request.pending.clear()

    def one(args: ResourceValidationArgs, report: ReportViolation) -> None:
        with memory.lock:
            tell(memory.resource(UNDECIDED, args), report)

    def everything(args: StackValidationArgs, report: ReportViolation) -> None:
        with memory.lock:
            tell(memory.stack(UNDECIDED, args), report)

    texts: dict[str, Any] = {
        "name": UNDECIDED,
        "description": UNDECIDED_SUMMARY,
        "enforcement_level": EnforcementLevel.ADVISORY,
        "severity": PulumiSeverity.LOW,
    }
    return [
        ResourceValidationPolicy(validate=one, **texts),
        StackValidationPolicy(validate=everything, **texts),
    ]


def _settings_texts() -> dict[str, Any]:
    return {
        "name": PACK_SETTINGS,
        "description": SETTINGS_SUMMARY,
        "enforcement_level": EnforcementLevel.ADVISORY,
        "config_schema": PolicyConfigSchema(json_schema(PackSettings)),
    }


def _texts(rule: Rule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "description": rule.summary,
        "enforcement_level": EnforcementLevel(rule.level.value),
        "config_schema": PolicyConfigSchema(json_schema(rule.settings)),
        "severity": PulumiSeverity(rule.severity.value),
        "remediation_steps": rule.remediation,
    }
