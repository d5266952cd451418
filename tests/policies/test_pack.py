"""The rules as Pulumi's policies: what the engine tells, what is remembered, how the pack starts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import struct_pb2
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, StackValidationPolicy, policy

from policies.calls import listening
from policies.config import PACK_SETTINGS, UNDECIDED, ConfigError
from policies.manifest import Origin
from policies.operation import Operation, hear, node_groups, tenants
from policies.pack import NAME, policies
from policies.rules import RULES

ROOT = Path(__file__).parents[2]
CLUSTER = {
    "name": "dev",
    "target": {"kind": "render"},
    "nodeGroups": {"web": {"instanceTypes": ["t3.large"], "nodes": 5.0}},
}
TENANTS = {
    "shop": {"pods": 120},
    "search": {"namespaces": {"search-api": {"pods": 70}, "search-index": {"pods": 40}}},
}
AGENT = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "a", "namespace": "search-index"},
    "spec": {"template": {"spec": {"nodeSelector": {"pool": "a"}}}},
}


def request(**changes: Any) -> Any:
    config = {
        "shared-observability:cluster": json.dumps(CLUSTER),
        "shared-observability:tenants": json.dumps(TENANTS),
    }
    config["shared-observability:gatewayKey"] = "hunter2"
    return proto.AnalyzerStackConfigureRequest(**{"dry_run": True, "config": config, "tags": {}, **changes})


def test_the_engine_tells_preview_groups_and_tenants() -> None:
    operation = Operation()
    hear(operation, request(tags={"shared-observability:tenant": "shop"}))
    assert operation.origin is Origin.PREVIEW
    assert operation.declared_groups["web"].instance_types == ("t3.large",)
    assert operation.declared_tenants["shop"].namespaces == ("shop",)
    assert operation.declared_tenants["search"].namespaces == ("search-api", "search-index")
    assert operation.stack_tenant == "shop"
    updated = Operation(preview=True)
    hear(updated, request(dry_run=False))
    assert updated.origin is Origin.UPDATE


def test_nothing_else_of_the_configuration_is_kept() -> None:
    operation = Operation()
    hear(operation, request())
    assert "hunter2" not in repr(operation)


def test_another_program_declares_nothing() -> None:
    operation = Operation()
    hear(operation, proto.AnalyzerStackConfigureRequest(config={"other:cluster": "{}"}))
    assert (operation.declared_groups, operation.declared_tenants) == ({}, {})
    assert node_groups("") == {}
    assert tenants("not json") == {}


def test_wrong_node_groups_are_said_without_their_values() -> None:
    with pytest.raises(ConfigError, match=r"shared-observability:cluster\.nodeGroups\.web\.nodes") as error:
        node_groups(json.dumps({"nodeGroups": {"web": {"nodes": "hunter2"}}}))
    assert "hunter2" not in str(error.value)


def started(operation: Operation) -> Any:
    servicer = listening(policy._PolicyAnalyzerServicer, operation)
    return servicer(NAME, "0.0.1", policies(operation), EnforcementLevel.ADVISORY)


def analyze(
    servicer: Any, props: dict[str, Any], urn: str = "urn:pulumi:d::p::t::a", type_: str = ""
) -> list[Any]:
    message = struct_pb2.Struct()
    message.update(props)
    token = type_ or f"kubernetes:{props.get('apiVersion', '')}:{props.get('kind', '')}"
    answer = servicer.Analyze(proto.AnalyzeRequest(type=token, properties=message, urn=urn, name="a"), None)
    return list(answer.diagnostics)


def test_what_the_engine_tells_reaches_the_rules() -> None:
    servicer = started(Operation())
    servicer.ConfigureStack(request(), None)
    assert [found.policyName for found in analyze(servicer, AGENT)] == ["tenant-daemonset", "agent-priority"]


def test_settings_come_first_and_what_cannot_be_decided_last() -> None:
    pack = policies(Operation())
    resource = [each.name for each in pack if isinstance(each, ResourceValidationPolicy)]
    stack = [each.name for each in pack if isinstance(each, StackValidationPolicy)]
    assert resource == [PACK_SETTINGS, *(rule.name for rule in RULES), UNDECIDED]
    assert stack == [*(rule.name for rule in RULES if rule.needs_all), PACK_SETTINGS, UNDECIDED]


def test_levels_and_severities_are_those_of_the_rules() -> None:
    for each in policies(Operation()):
        found = [rule for rule in RULES if rule.name == each.name]
        if found:
            assert str(getattr(each.enforcement_level, "value", "")) == found[0].level
            assert str(getattr(each.severity, "value", "")) == found[0].severity
            assert each.remediation_steps == found[0].remediation


def test_the_same_resource_is_judged_anew_when_it_comes_again() -> None:
    servicer = started(Operation())
    good = {
        **AGENT,
        "spec": {"template": {"spec": {"nodeSelector": {"pool": "a"}, "priorityClassName": "p"}}},
    }
    bad = {**AGENT, "spec": {"template": {"spec": {"priorityClassName": "p"}}}}
    assert analyze(servicer, good) == []
    assert [found.policyName for found in analyze(servicer, bad)] == ["daemonset-placement"]


def test_a_violation_is_said_every_time_the_engine_asks_and_once_for_the_whole_stack() -> None:
    servicer = started(Operation())
    bad = {**AGENT, "metadata": {"name": "a", "namespace": "default"}}
    names = []
    for _ in range(2):
        names.append([found.policyName for found in analyze(servicer, bad, TENANTS_AGENT)])
    assert names[0] == names[1] == ["tenant-daemonset", "tenant-default-namespace", "agent-priority"]
    answer = servicer.AnalyzeStack(stack_of((TENANTS_AGENT, bad, [])), None)
    assert [found.policyName for found in answer.diagnostics] == [UNDECIDED]


TENANTS_AGENT = "urn:pulumi:dev::p::shared-observability:tenant:TenantStack$kubernetes:apps/v1:DaemonSet::a"


def test_an_update_in_the_same_process_starts_anew() -> None:
    operation = Operation()
    servicer = started(operation)
    bad = {**AGENT, "spec": {"template": {"spec": {}}}}
    for dry_run in (True, False):
        servicer.ConfigureStack(request(dry_run=dry_run), None)
        assert "daemonset-placement" in {found.policyName for found in analyze(servicer, bad)}
        assert operation.preview is dry_run


def test_a_resource_without_inputs_is_not_accused() -> None:
    servicer = started(Operation())
    assert analyze(servicer, {}, type_="kubernetes:apps/v1:DaemonSet") == []
    assert analyze(servicer, {"apiVersion": "apps/v1"}, type_="kubernetes:apps/v1:DaemonSet") == []


def test_wrong_settings_stop_the_operation() -> None:
    servicer = started(Operation())
    configure = proto.ConfigureAnalyzerRequest()
    configure.policyConfig[PACK_SETTINGS].properties.update({"exemptions": [{"rule": "x"}]})
    servicer.Configure(configure, None)
    with pytest.raises(ConfigError, match=r"pack-settings\.exemptions\.0\.kind"):
        analyze(servicer, AGENT)


def stack_of(*resources: tuple[str, dict[str, Any], list[str]]) -> Any:
    """AnalyzeStack's request: URN, outputs and what `metadata` depends on."""
    found = []
    for urn, props, depends in resources:
        message = struct_pb2.Struct()
        message.update(props)
        dependencies = {"metadata": proto.AnalyzerPropertyDependencies(urns=depends)} if depends else {}
        token = f"kubernetes:{props['apiVersion']}:{props['kind']}"
        found.append(
            proto.AnalyzerResource(
                type=token, properties=message, urn=urn, name="a", propertyDependencies=dependencies
            )
        )
    return proto.AnalyzeStackRequest(resources=found)


OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}
URN = "urn:pulumi:dev::p::shared-observability:tenant:TenantStack$kubernetes:core/v1:ConfigMap::a"


@pytest.mark.parametrize(
    ("depends", "policy_name"),
    [(["urn:pulumi:dev::p::kubernetes:core/v1:Namespace::n"], UNDECIDED), ([], "tenant-default-namespace")],
)
def test_at_preview_a_default_that_depends_on_something_is_not_accused(
    depends: list[str], policy_name: str
) -> None:
    servicer = started(Operation(preview=True))
    assert analyze(servicer, OBJECT, URN, "kubernetes:core/v1:ConfigMap") == []
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    request = stack_of(
        (URN, OBJECT, depends), ("urn:pulumi:dev::p::kubernetes:core/v1:Namespace::n", namespace, [])
    )
    (found,) = servicer.AnalyzeStack(request, None).diagnostics
    assert found.policyName == policy_name
    assert found.urn == URN


@pytest.mark.parametrize("depends", [["urn:n"], []])
def test_at_preview_a_default_that_depends_on_something_could_be_a_tenants(depends: list[str]) -> None:
    servicer = started(Operation(preview=True, declared_tenants=tenants(json.dumps(TENANTS))))
    agent = {**AGENT, "metadata": {"name": "a", "namespace": "default"}}
    found = analyze(servicer, agent, "urn:a")
    assert [each.policyName for each in found] == ["agent-priority"]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    answer = servicer.AnalyzeStack(stack_of(("urn:a", agent, depends), ("urn:n", namespace, [])), None)
    said = [each.message for each in answer.diagnostics if "tenant-daemonset" in each.message]
    assert len(said) == len(depends)


def test_at_up_default_is_a_violation_before_the_object_is_made() -> None:
    (found,) = analyze(started(Operation()), OBJECT, URN, "kubernetes:core/v1:ConfigMap")
    assert found.policyName == "tenant-default-namespace"


def test_a_resource_that_is_only_read_explains_others_and_is_not_judged() -> None:
    servicer = started(Operation())
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "b"},
        "subjects": [{"kind": "Group", "name": "system:authenticated"}],
        "roleRef": {"kind": "ClusterRole", "name": "elsewhere"},
    }
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "elsewhere"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}],
    }
    assert analyze(servicer, binding, "urn:b") == []
    read: tuple[str, dict[str, Any], list[str]] = (
        "urn:read",
        {**AGENT, "spec": {"template": {"spec": {}}}},
        [],
    )
    answer = servicer.AnalyzeStack(stack_of(("urn:b", binding, []), ("urn:r", role, []), read), None)
    assert [
        (found.policyName, found.urn) for found in answer.diagnostics if found.policyName != UNDECIDED
    ] == [("tenant-cluster-pod-list", "urn:b")]


def test_the_pack_announces_its_port_at_once_in_a_clean_environment() -> None:
    """`PolicyPack` does not flush: without `-u` and PYTHONUNBUFFERED a preview would wait for ever."""
    command = [sys.executable, "-m", "pulumi.policy", "127.0.0.1:1", str(ROOT / "policies")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=ROOT, env={"PATH": "/usr/bin:/bin"}
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().strip().isdigit()
        finally:
            process.kill()


def test_importing_the_rules_imports_no_sdk() -> None:
    """Rules are pure: `python -m policies.check` needs neither the engine's SDK nor a provider's."""
    names = "{'pulumi', 'pulumi_policy', 'grpc'}"
    code = f"import sys, policies.check; print(sorted({{m.split('.')[0] for m in sys.modules}} & {names}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
