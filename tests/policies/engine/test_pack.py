"""The pack on the real engine: its words at preview, a targeted run, and the analysis of a state."""

from pathlib import Path

from tests.policies.engine.conftest import Engine

BAD = """
k8s.apps.v1.DaemonSet("agent", metadata={"name": "agent", "namespace": "agents"}, spec={
    "selector": {"matchLabels": {"app": "agent"}},
    "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {
        "nodeSelector": {"kubernetes.io/os": "linux"}, "containers": [{"name": "a", "image": "agent:1"}]}},
}, opts=here)
"""
AGENT = "urn:pulumi:dev::shared-observability::kubernetes:apps/v1:DaemonSet::agent"


def test_preview_refuses_and_says_what_where_and_how_to_mend_it(engine: Engine) -> None:
    engine.program(BAD)
    run = engine.preview()
    assert run.status != 0
    (report,) = run.of("daemonset-placement")
    assert report.level == "mandatory"
    assert report.on == "kubernetes:apps/v1:DaemonSet: agent"
    assert "DaemonSet agents/agent, spec.template.spec.nodeSelector: it runs on every node" in report.message
    assert "Add required node affinity" in report.message


def test_a_targeted_run_accuses_no_resource_that_it_does_not_create(engine: Engine) -> None:
    other = """
k8s.core.v1.ConfigMap("other", metadata={"name": "other", "namespace": "agents"}, data={"a": "b"}, opts=here)
"""
    engine.program(BAD + other)
    run = engine.preview("--target", AGENT.replace("apps/v1:DaemonSet::agent", "core/v1:ConfigMap::other"))
    assert run.status == 0, run.output
    assert run.of("daemonset-placement") == []


def test_a_state_can_be_analysed_from_any_folder(engine: Engine, tmp_path: Path) -> None:
    inputs = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "agents"},
        "spec": {"template": {"spec": {}}},
    }
    agent = {"urn": AGENT, "type": "kubernetes:apps/v1:DaemonSet", "custom": True, "inputs": inputs}
    state = engine.state([{**agent, "id": "agents/agent", "outputs": inputs}])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run = engine.analyze(state, cwd=elsewhere)
    assert run.status != 0
    assert [report.on for report in run.of("daemonset-placement")] == ["kubernetes:apps/v1:DaemonSet: agent"]
