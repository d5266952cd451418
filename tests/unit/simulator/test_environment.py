"""The simulator reads what the program reads, and touches no kubeconfig and no state that may be a real cluster's."""

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml

from components.settings.mistakes import SettingsError
from simulator import environment, lifecycle, teams
from simulator.__main__ import main
from simulator.tools import PROJECT, SimulatorError

Capsys = pytest.CaptureFixture[str]
STACKS = Path(".pulumi/stacks/shared-observability")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the environment `sim` and nothing else."""
    monkeypatch.delenv("PULUMI_BACKEND_URL", raising=False)
    for name in ("Pulumi.yaml", "Pulumi.sim.yaml"):
        shutil.copy(PROJECT / name, tmp_path)
    return tmp_path


def aim(project: Path, path: object) -> environment.Environment:
    """The environment with another `target.path`."""
    file = project / "Pulumi.sim.yaml"
    file.write_text(file.read_text().replace(".simulator/sim/kubeconfig", str(path)))
    return environment.read("sim", project)


def deploy(backend: Path, *stacks: str) -> None:
    """Files as the engine leaves them for stacks in a folder backend."""
    for stack in stacks:
        for path in (
            STACKS / f"{stack}.json",
            STACKS / f"{stack}.json.bak",
            STACKS / f"{stack}.json.attrs",
            Path(f".pulumi/history/shared-observability/{stack}/{stack}-1.history.json"),
            Path(f".pulumi/backups/shared-observability/{stack}/{stack}.1.json"),
        ):
            (backend / path).parent.mkdir(parents=True, exist_ok=True)
            (backend / path).write_text("{}")


def lock(backend: Path, pid: int) -> None:
    path = backend / ".pulumi/locks/organization/shared-observability/sim/1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"pid": pid}))


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_dev_and_sim_differ_in_name_target_and_key_only() -> None:
    dev, sim = (environment.read(name).settings.model_dump() for name in ("dev", "sim"))
    for settings in (dev, sim):
        del settings["cluster"]["name"], settings["cluster"]["target"], settings["gateway_key"]
    assert dev == sim


def test_the_five_tenants_have_the_incidents_pods_and_the_first_commented_alternative_does_not_fit() -> None:
    settings = environment.read("dev").settings
    peak = {
        name: tenant.pods or sum(part.pods or 0 for part in tenant.namespaces.values())
        for name, tenant in settings.tenants.items()
    }
    assert len(peak) == 5
    assert sum(peak.values()) == 460
    slots = 5 * (35 - 5 - 2) + 9 * (58 - 5 - 2)
    assert sum(peak.values()) + 20 <= slots
    assert sum(peak.values()) - peak["shop"] + 700 > slots
    assert "# pods: 700" in (PROJECT / "Pulumi.dev.yaml").read_text()


def test_the_settings_are_judged_as_the_program_judges_them(project: Path) -> None:
    file = project / "Pulumi.sim.yaml"
    file.write_text(file.read_text().replace("pods: 120", "pods: many"))
    with pytest.raises(SettingsError, match=r"tenants\.shop\.pods"):
        environment.read("sim", project)


def test_an_environment_that_does_not_exist_is_told_with_those_that_do(project: Path) -> None:
    with pytest.raises(SimulatorError, match=r"no Pulumi\.prod\.yaml; environments: sim"):
        environment.read("prod", project)


def test_a_rendering_environment_is_refused_with_the_line_to_write(project: Path, capsys: Capsys) -> None:
    file = project / "Pulumi.sim.yaml"
    target = "{kind: kubeconfig, path: .simulator/sim/kubeconfig, context: sim}"
    file.write_text(file.read_text().replace(target, "{kind: render, directory: out}"))
    assert main(["start", "--project", str(project)]) == 1
    assert f"target: {target}" in capsys.readouterr().err


def test_a_foreign_kubeconfig_is_never_written_over(project: Path) -> None:
    real = project / "kubeconfig"
    for text in ("users: [{name: admin}]", "not: a kubeconfig", "", "\0"):
        real.write_text(text)
        with pytest.raises(SimulatorError, match="not the simulator's"):
            aim(project, real).check()


def test_a_kubeconfig_that_the_simulator_wrote_elsewhere_may_be_written_again(project: Path) -> None:
    ours = project / "kubeconfig"
    ours.write_text("users: [{name: simulator, user: {token: x}}]")
    deploy(project / ".pulumi/state", "sim")
    aim(project, ours).check()


def test_state_that_may_be_a_real_clusters_is_left_alone(project: Path) -> None:
    deploy(project / ".pulumi/state", "sim")
    with pytest.raises(SimulatorError, match="may be a real cluster's"):
        aim(project, "lost/kubeconfig").check()


def test_only_this_stacks_state_is_emptied(project: Path, capsys: Capsys) -> None:
    backend = project / ".pulumi/state"
    deploy(backend, "sim", "simulation", "dev")
    (backend / ".pulumi/meta.yaml").write_text("version: 1")
    lifecycle._empty_stack_state(environment.read("sim", project))
    left = files(backend)
    assert not [name for name in left if name.startswith("sim.") or name.startswith("sim-")]
    assert len([name for name in left if name.startswith("dev")]) == 5
    assert len([name for name in left if name.startswith("simulation")]) == 5
    assert "meta.yaml" in left
    assert "Emptied the state of stack sim" in capsys.readouterr().out


def test_a_state_that_an_engine_uses_is_not_emptied_and_a_dead_engines_lock_goes(project: Path) -> None:
    backend = project / ".pulumi/state"
    deploy(backend, "sim")
    state = environment.read("sim", project).stack_state
    assert state
    lock(backend, os.getpid())
    with pytest.raises(SimulatorError, match=rf"in use by pulumi \(pid {os.getpid()}\)"):
        state.remove()
    assert "sim.json" in files(backend)
    shutil.rmtree(backend / ".pulumi/locks")
    lock(backend, 2**22 + 1)  # above every pid
    assert state.remove()
    assert files(backend) == []


def test_a_backend_that_is_no_folder_is_left_alone_with_the_command_to_run(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys
) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://states")
    lifecycle._empty_stack_state(environment.read("sim", project))
    assert "pulumi stack rm --force --preserve-config sim" in capsys.readouterr().out


def test_adopted_namespaces_are_made_and_created_ones_are_not(project: Path) -> None:
    file = project / "Pulumi.sim.yaml"
    file.write_text(file.read_text().replace("pods: 60", "pods: 60\n      namespace: create"))
    settings = environment.read("sim", project).settings
    assert sorted(teams.namespaces(settings)) == ["billing", "mobile", "search-api", "search-index", "shop"]


def test_stopping_what_does_not_run_says_so_and_needs_no_settings(project: Path, capsys: Capsys) -> None:
    (project / "Pulumi.sim.yaml").write_text(yaml.safe_dump({"config": {"broken": True}}))
    assert main(["stop", "--project", str(project)]) == 0
    assert capsys.readouterr().out == "No simulator of sim was running.\n"
