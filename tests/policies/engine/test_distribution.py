"""Another repository uses the pack: from the release's archive, by the composite action, and as a pre-commit hook.

Each has packages of its own, by hash, from what this project ships, and nothing of this project's environment.
"""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

from commands.release.__main__ import build, committed
from tests.policies.engine.conftest import ROOT, STACK, Engine

# Packages are downloaded or taken from pip's cache: 10 s of processor time for the pack's.
pytestmark = pytest.mark.timeout(600)
PLACED = """
k8s.core.v1.Namespace("agents", metadata={"name": "agents"}, opts=here)
k8s.apps.v1.DaemonSet("agent", metadata={"name": "agent", "namespace": "agents"}, spec={
    "selector": {"matchLabels": {"app": "agent"}},
    "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {
        "nodeSelector": {"team": "data"}, "containers": [{"name": "a", "image": "agent:1"}]}},
}, opts=here)
"""
EVERYWHERE = PLACED.replace('"nodeSelector": {"team": "data"}, ', "")
MANIFEST = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: agents}
spec: {template: {spec: {containers: [{name: agent, image: agent:1}]}}}
"""
GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: agents}\n"


def run(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command with nothing of this process's environment but where packages come from."""
    passed = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("PIP_") or name.endswith("_proxy")
    }
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**passed, "PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"], **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def environment(folder: Path, requirements: Path) -> Path:
    """A new environment with exactly these packages; its folder of programs."""
    made = run(Path(sys.executable).resolve(), "-m", "venv", folder, cwd=folder.parent)
    assert made.returncode == 0, made.stderr
    options = ("-q", "--disable-pip-version-check", "--require-hashes", "-r", requirements)
    filled = run(folder / "bin" / "pip", "install", *options, cwd=folder.parent)
    assert filled.returncode == 0, filled.stderr
    return folder / "bin"


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive's folder, unpacked and with its own environment, as its README says."""
    folder = tmp_path_factory.mktemp("archive")
    files, time = committed()
    built = build(files, time)
    (name,) = (name for name in built if "policies" in name)
    (folder / name).write_bytes(built[name])
    with tarfile.open(folder / name) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / name.removesuffix(".tar.gz")
    environment(unpacked / "venv", unpacked / "requirements.txt")
    return unpacked


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the project's wheel and the checker's packages: what a hook gets."""
    folder = tmp_path_factory.mktemp("hook")
    wheel = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist", cwd=ROOT)
    assert wheel.returncode == 0, wheel.stderr
    programs = environment(folder / "venv", ROOT / "distribution" / "check" / "requirements.txt")
    (built,) = (folder / "dist").glob("*.whl")
    done = run(programs / "pip", "install", "-q", "--no-deps", "--no-index", built, cwd=folder)
    assert done.returncode == 0, done.stderr
    whole = run(programs / "pip", "check", cwd=folder)
    assert whole.returncode == 0, whole.stdout
    return programs


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The temporary folder of one runner, on which the action may run twice."""
    return tmp_path_factory.mktemp("runner")


def test_a_foreign_program_is_refused_by_the_archives_pack_and_passes_once_it_is_mended(
    engine: Engine, pack: Path
) -> None:
    assert f"{ROOT}" not in str(pack)
    engine.program(EVERYWHERE)
    refused = engine.call("preview", *STACK, "--policy-pack", str(pack))
    assert refused.status != 0
    assert [(found.level, found.policy) for found in refused.reports if found.level == "mandatory"] == [
        ("mandatory", "daemonset-placement")
    ]
    assert str(pack) in refused.output
    engine.program(PLACED)
    passed = engine.call("preview", *STACK, "--policy-pack", str(pack))
    assert passed.status == 0, passed.output
    assert [found.policy for found in passed.reports if found.level == "mandatory"] == []


def test_the_archives_own_code_runs_and_none_of_this_repository(pack: Path) -> None:
    shown = "import policies.check, components; print(policies.__file__, components.__file__)"
    done = run(pack / "venv" / "bin" / "python", "-c", shown, cwd=pack)
    assert done.returncode == 0, done.stderr
    assert all(path.startswith(str(pack)) for path in done.stdout.split())


@pytest.mark.parametrize(("manifest", "status"), [(MANIFEST, 1), (GOOD, 0)], ids=["bad", "good"])
def test_the_hooks_command_judges_the_folders_that_its_arguments_name(
    manifest: str, status: int, checker: Path, tmp_path: Path
) -> None:
    """As pre-commit runs it: the entry from the hook's environment; the repository has a `policies` of its own."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["language"] == "python"
    assert not hook["pass_filenames"]
    for name in ("policies", "components"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong package')\n")
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "a.yaml").write_text(manifest)
    done = run(hook["entry"], "manifests", cwd=tmp_path, PATH=f"{checker}:/usr/bin:/bin")
    assert done.returncode == status, done.stdout + done.stderr
    assert ("daemonset-placement" in done.stdout) == (status == 1)


@pytest.mark.parametrize(("manifest", "status"), [(MANIFEST, 1), (GOOD, 0)], ids=["bad", "good"])
def test_the_actions_step_judges_and_gives_its_status(
    manifest: str, status: int, runner: Path, tmp_path: Path
) -> None:
    action = ROOT / ".github" / "actions" / "policies-check"
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "__init__.py").write_text("raise SystemExit('the wrong package')\n")
    (tmp_path / "a.yaml").write_text(manifest)
    (tmp_path / "b.yaml").write_text(GOOD)
    done = run(
        action / "check",
        cwd=tmp_path,
        GITHUB_ACTION_PATH=str(action),
        GITHUB_OUTPUT=str(tmp_path / "outputs"),
        RUNNER_TEMP=str(runner),
        PYTHON=str(Path(sys.executable).resolve()),
        PATHS="a.yaml\nb.yaml",
        TENANTS="agents shop",
        FORMAT="json",
        OUTPUT="found.json",
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert (tmp_path / "outputs").read_text() == f"status={status}\n"
    found = {entry["rule"] for entry in yaml.safe_load((tmp_path / "found.json").read_text())}
    assert ("tenant-daemonset" in found) == (status == 1)
