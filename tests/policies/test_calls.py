"""The servicer between the engine and the SDK's: each resource is converted once, and every answer is the SDK's own."""

from collections.abc import Sequence
from typing import Any

import pytest
from google.protobuf import json_format, struct_pb2
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, policy
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY
from pulumi_policy.proxy import UNKNOWN_NUMBER_VALUE, UNKNOWN_STRING_VALUE

from policies import calls
from policies.calls import listen, listening
from policies.config import Tenant
from policies.operation import Operation
from policies.pack import NAME, policies
from policies.rules import RULES

SDK = policy._PolicyAnalyzerServicer
TENANT = "urn:pulumi:dev::p::shared-observability:tenant:TenantStack"
POD = {
    "hostNetwork": True,
    "tolerations": [{"operator": "Exists"}, {"key": UNKNOWN_STRING_VALUE}],
    "containers": [{"name": "a", "resources": None, "ports": [{"hostPort": UNKNOWN_NUMBER_VALUE}]}],
}


def daemon_set(namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "a", "namespace": namespace},
        "spec": {"template": {"spec": POD}},
    }


def release(**made: Any) -> dict[str, Any]:
    secret = {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": {"password": "hunter2"}}
    return {"chart": "alloy", "version": "1.0.0", "namespace": "shop", "values": secret, **made}


def message(
    token: str, name: str, props: dict[str, Any], parent: str = "", metadata: Sequence[str] = ()
) -> Any:
    """A resource as the engine tells it, with its parent and what its `metadata` depends on."""
    properties = struct_pb2.Struct()
    properties.update(props)
    under = f"{parent.split('::')[2]}$" if parent else ""
    return proto.AnalyzerResource(
        type=token,
        urn=f"urn:pulumi:dev::p::{under}{token}::{name}",
        name=name,
        properties=properties,
        parent=parent,
        options=proto.AnalyzerResourceOptions(parent=parent),
        propertyDependencies={"metadata": proto.AnalyzerPropertyDependencies(urns=metadata)}
        if metadata
        else {},
    )


NAMESPACE = message("kubernetes:core/v1:Namespace", "n", {"apiVersion": "v1", "kind": "Namespace"})
AGENT = message("kubernetes:apps/v1:DaemonSet", "a", daemon_set("shop"))
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}
STACK = [
    message("shared-observability:tenant:TenantStack", "shop", {}),
    NAMESPACE,
    AGENT,
    message("kubernetes:apps/v1:DaemonSet", "unknown", daemon_set(UNKNOWN_STRING_VALUE)),
    message("kubernetes:apps/v1:DaemonSet", "depends", daemon_set("default"), metadata=[NAMESPACE.urn]),
    message("kubernetes:apps/v1:DaemonSet", "elsewhere", daemon_set("default"), metadata=["urn:elsewhere"]),
    message("kubernetes:core/v1:ConfigMap", "child", CONFIG, parent=f"{TENANT}::shop"),
    message("kubernetes:core/v1:ConfigMap", "orphan", CONFIG, parent=f"{TENANT}::gone"),
    message("kubernetes:helm.sh/v4:Chart", "empty", {}, parent=f"{TENANT}::shop"),
    message("kubernetes:helm.sh/v4:Chart", "full", {}, parent=f"{TENANT}::shop"),
    message("kubernetes:helm.sh/v3:Release", "closed", release()),
    message("kubernetes:helm.sh/v3:Release", "open", release()),
    message("aws:eks/addon:Addon", "addon", {"addonName": UNKNOWN_STRING_VALUE}, parent=f"{TENANT}::shop"),
]
MADE = {"resourceNames": {"DaemonSet.apps/apps/v1": ["shop/alloy"]}}
READ = message("kubernetes:core/v1:Service", "read", {"kind": "Service"}, parent=STACK[9].urn)


def outputs() -> Any:
    """The whole stack: a release tells now what it has made, and there is a resource that was only read."""
    opened = message("kubernetes:helm.sh/v3:Release", "open", release(**MADE))
    return proto.AnalyzeStackRequest(resources=[*STACK[:-2], opened, STACK[-1], READ])


def inputs(of: Any) -> Any:
    return proto.AnalyzeRequest(
        type=of.type, urn=of.urn, name=of.name, properties=of.properties, options=of.options
    )


def operation(*, preview: bool = True) -> Operation:
    return Operation(preview=preview, declared_tenants={"shop": Tenant()})


def served(sdk: Any, told: Operation) -> Any:
    return sdk(NAME, "0.0.1", policies(told), EnforcementLevel.ADVISORY)


@pytest.mark.parametrize("preview", [True, False])
def test_the_sdk_alone_would_answer_the_same(preview: bool) -> None:
    told = operation(preview=preview)
    answers = []
    for servicer in (served(SDK, operation(preview=preview)), served(listening(SDK, told), told)):
        resources = [servicer.Analyze(inputs(each), None) for each in STACK]
        answers.append([*resources, servicer.AnalyzeStack(outputs(), None)])
    alone, ours = answers
    assert ours == alone
    said = {found.policyName for answer in alone for found in answer.diagnostics}
    assert said >= {"tenant-daemonset", "tenant-host-access", "tenant-default-namespace", "undecided"}
    empty = [found.urn for found in alone[-1].diagnostics if "has registered no objects" in found.message]
    assert empty == [STACK[8].urn]
    assert any("has made 1 DaemonSets" in found.message for found in alone[-1].diagnostics)


def test_a_resource_is_converted_once_for_all_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[str] = []
    convert = json_format.MessageToDict

    def counting(value: Any) -> Any:
        converted.extend(key for key in value if key in ("kind", "chart"))
        return convert(value)

    monkeypatch.setattr(json_format, "MessageToDict", counting)
    told = operation()
    servicer = served(listening(SDK, told), told)
    for each in STACK:
        servicer.Analyze(inputs(each), None)
    assert len(converted) == sum("kind" in each.properties or "chart" in each.properties for each in STACK)
    converted.clear()
    servicer.AnalyzeStack(outputs(), None)
    assert sorted(converted) == ["chart", "chart", "kind"]  # what Helm has made, and what was only read


def test_the_pack_is_served_by_a_servicer_that_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, calls.SERVICER, SDK)
    assert listen(Operation())
    assert issubclass(policy._PolicyAnalyzerServicer, SDK)
    assert policy._PolicyAnalyzerServicer is not SDK


@pytest.mark.parametrize("method", sorted(set(vars(listening(SDK, Operation()))) - {"__module__", "__doc__"}))
def test_every_method_that_listens_is_one_of_this_sdk(method: str) -> None:
    """One that the SDK renames would be a method of ours that nobody calls."""
    assert method in vars(SDK)


def test_an_sdk_that_cannot_be_listened_to_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "SERVICER", "NoSuchServicer")
    assert listen(Operation()) is False


def test_no_policy_changes_a_resource_whatever_its_level() -> None:
    """So the SDK may be asked for remediations without the resource."""
    pack = policies(Operation())
    assert not any(each.has_remediation() for each in pack if isinstance(each, ResourceValidationPolicy))
    servicer = served(listening(SDK, Operation()), Operation())
    configure = proto.ConfigureAnalyzerRequest()
    for each in pack:
        configure.policyConfig[each.name].enforcementLevel = proto.REMEDIATE
    servicer.Configure(configure, None)
    answer = servicer.Remediate(inputs(AGENT), None)
    assert not answer.remediations
    assert {each.policy_name for each in answer.not_applicable} >= {rule.name for rule in RULES}
