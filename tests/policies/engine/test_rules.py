"""Every rule through the real engine: what fails, passes and cannot be decided; at preview, up and on a state."""

import json
from pathlib import Path
from typing import Any

import pytest

from policies.config import UNDECIDED
from tests.policies.engine.conftest import STACK, Engine
from tests.policies.engine.objects import FAILING, PASSING, ROOMY, RULES_THAT_FAIL, TIGHT, UNDECIDABLE


def settings(engine: Engine, groups: dict[str, Any]) -> tuple[str, str]:
    path = engine.folder / "settings.json"
    path.write_text(json.dumps({"pack-settings": {"nodeGroups": groups}}))
    return ("--policy-pack-config", str(path))


def test_what_fails_is_refused_at_preview_by_every_rule(engine: Engine) -> None:
    engine.objects(FAILING)
    run = engine.preview(*settings(engine, TIGHT))
    assert run.status != 0
    assert {report.policy for report in run.reports} == RULES_THAT_FAIL, run.output


def test_up_makes_no_object_that_is_refused(engine: Engine) -> None:
    """Which object is refused first is chance; the engine stops there."""
    engine.objects(FAILING)
    run = engine.up(*settings(engine, TIGHT))
    assert run.status != 0
    refused = [report.on.rpartition(": ")[2] for report in run.reports if report.level == "mandatory"]
    rendered = {path.stem for path in engine.folder.glob("rendered/1-manifest/*")}
    assert refused
    assert not [name for name in refused if any(made.endswith(f"-{name.lstrip('-')}") for made in rendered)]


def test_what_passes_passes_everywhere(engine: Engine) -> None:
    engine.objects(PASSING)
    for run in (engine.preview(*settings(engine, ROOMY)), engine.up(*settings(engine, ROOMY))):
        assert run.status == 0, run.output
        assert run.reports == []


def test_what_cannot_be_decided_at_preview_is_said_and_decided_at_up(engine: Engine) -> None:
    engine.objects(UNDECIDABLE)
    run = engine.preview(*settings(engine, TIGHT))
    assert run.status == 0, run.output
    said = {report.message.partition(" ")[0] for report in run.of(UNDECIDED)}
    assert said == RULES_THAT_FAIL, run.output
    assert {report.policy for report in run.reports} == {UNDECIDED}
    assert {report.level for report in run.reports} == {"advisory"}
    run = engine.up(*settings(engine, ROOMY))
    assert run.status == 0, run.output
    assert run.reports == [], run.output


@pytest.mark.parametrize(
    ("text", "groups", "expected"),
    [(FAILING, TIGHT, RULES_THAT_FAIL), (PASSING, ROOMY, set())],
    ids=["fails", "passes"],
)
def test_a_state_is_judged_like_a_program(
    text: str, groups: dict[str, Any], expected: set[str], engine: Engine
) -> None:
    run = engine.analyze(engine.state_of(text), *settings(engine, groups))
    assert {report.policy for report in run.reports} == expected, run.output
    assert run.status == (1 if expected else 0)


def test_a_targeted_run_leaves_what_fails_alone(engine: Engine) -> None:
    """What fails is in the state already, the program has been mended, and only something else is updated."""
    engine.objects(FAILING)
    assert engine.up(pack=False).status == 0
    engine.objects(PASSING)
    other = (
        "urn:pulumi:dev::shared-observability::kubernetes:monitoring.coreos.com/v1:ServiceMonitor::agents-app"
    )
    run = engine.up("--target", other, *settings(engine, ROOMY))
    assert run.status == 0, run.output
    assert [report for report in run.reports if report.level == "mandatory"] == []


RELEASE = {
    "urn": "urn:pulumi:dev::shared-observability::kubernetes:helm.sh/v3:Release::promtail",
    "type": "kubernetes:helm.sh/v3:Release",
    "custom": True,
    "id": "shop/promtail",
    "inputs": {"chart": "promtail", "namespace": "shop"},
}


@pytest.mark.parametrize(
    ("kinds", "policy"), [({"DaemonSet.apps/apps/v1": ["promtail"]}, "tenant-daemonset"), (None, UNDECIDED)]
)
def test_a_helm_release_is_opaque_until_its_outputs_tell(
    kinds: dict[str, list[str]] | None, policy: str, engine: Engine
) -> None:
    outputs: dict[str, Any] = {"chart": "promtail", **({"resourceNames": kinds} if kinds else {})}
    path = engine.folder / "settings.json"
    path.write_text(json.dumps({"pack-settings": {"tenants": {"shop": {}}}}))
    run = engine.analyze(engine.state([{**RELEASE, "outputs": outputs}]), "--policy-pack-config", str(path))
    assert [report.policy for report in run.reports] == [policy], run.output


DEFAULT = """
namespace = probe.status.apply(lambda _: "shop") if LATE else "default"
class Tenant(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("shared-observability:tenant:TenantStack", name)
        k8s.core.v1.ConfigMap("late", metadata={"name": "late", "namespace": namespace}, data={"a": "b"},
                              opts=pulumi.ResourceOptions(parent=self, provider=target))
Tenant("shop")
"""
PROBE = 'probe = k8s.core.v1.Namespace("probe", metadata={"name": "probe"}, opts=here)\n'


@pytest.mark.parametrize("late", [True, False])
def test_default_at_preview_is_accused_only_where_it_was_written_down(late: bool, engine: Engine) -> None:
    engine.program(f"LATE = {late}\n{PROBE}{DEFAULT}")
    run = engine.preview()
    if late:
        assert run.status == 0, run.output
        assert all(report.policy == UNDECIDED for report in run.reports)
        assert engine.up().status == 0
    else:
        assert run.status != 0
        assert [report.policy for report in run.reports] == ["tenant-default-namespace"]


def test_levels_settings_and_exemptions_come_from_the_engines_file(engine: Engine, tmp_path: Path) -> None:
    engine.objects(FAILING)
    exemption = {"rule": "daemonset-placement", "kind": "DaemonSet", "namespace": "shop", "name": "alloy"}
    exemption |= {"reason": "this cluster has one group only", "expiry": "2999-12-31"}
    path = tmp_path / "pack.json"
    path.write_text(
        json.dumps({"all": "advisory", "pod-slots": "disabled", "pack-settings": {"exemptions": [exemption]}})
    )
    run = engine.preview("--policy-pack-config", str(path))
    assert run.status == 0, run.output
    assert {report.level for report in run.reports} == {"advisory"}
    reported = {report.policy for report in run.reports}
    assert reported == RULES_THAT_FAIL - {"daemonset-placement", "pod-slots"}


def test_wrong_settings_stop_the_preview_with_the_reason(engine: Engine, tmp_path: Path) -> None:
    engine.objects(PASSING)
    path = tmp_path / "pack.json"
    path.write_text(json.dumps({"pack-settings": {"stackTenant": 3}}))
    run = engine.preview("--policy-pack-config", str(path))
    assert run.status != 0
    assert "stackTenant" in run.output


def test_the_programs_own_settings_and_the_stacks_tag_reach_the_pack(engine: Engine) -> None:
    engine.objects(FAILING.replace("shared-observability/tenant: shop, ", ""))
    engine.settings(
        {
            "shared-observability:cluster": {"name": "dev", "nodeGroups": TIGHT},
            "shared-observability:tenants": {"shop": {"pods": 10}},
        }
    )
    run = engine.preview()
    assert {"pod-slots", "tenant-daemonset"} <= {report.policy for report in run.reports}, run.output
    engine.settings({})
    engine.objects(PASSING)
    assert engine.call("stack", "tag", "set", *STACK, "shared-observability:tenant", "shop").status == 0
    run = engine.preview()
    assert [report.on for report in run.of("tenant-daemonset")] == [
        "kubernetes:apps/v1:DaemonSet: observability-nodes-alloy"
    ]
