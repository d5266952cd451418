"""Which passphrase an environment has, and that the public one deploys nothing to a real cluster."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from commands import aftermath, cli, engine, real_target, repair
from commands.environments import ROOT, CommandError, stack_file, stack_settings
from commands.passphrase import PUBLIC, PUBLIC_PASSPHRASE, PUBLIC_SALTS, VARIABLES, passphrase, uses_public
from components.settings.model import Settings
from tests.support.environments import INCIDENT, changed, parsed

SHIPPED = ("dev", "sim", "eks")
OWN: dict[str, object] = {"encryptionsalt": "v1:own"}
KMS: dict[str, object] = {"secretsprovider": "awskms://alias/observability"}


# --- which ---


def test_the_public_salts_are_those_of_the_stack_files_in_this_repository() -> None:
    files = ROOT.glob("Pulumi.*.yaml")
    assert {yaml.safe_load(file.read_text())["encryptionsalt"] for file in files} == PUBLIC_SALTS


@pytest.mark.parametrize("variables", [{}, dict.fromkeys(VARIABLES, "another project's")])
def test_a_public_file_is_opened_by_the_public_passphrase_whatever_the_shell_holds_and_it_is_called(
    variables: dict[str, str],
) -> None:
    for name in SHIPPED:
        assert passphrase("copy", stack_settings(stack_file(name)), "file://", variables) == PUBLIC


@pytest.mark.parametrize("variable", VARIABLES)
def test_for_any_other_file_a_given_passphrase_is_taken_even_an_empty_one(variable: str) -> None:
    for name in ("dev", "prod"):
        assert passphrase(name, OWN, "file://", {variable: "", "HOME": "/root"}) == {variable: ""}


@pytest.mark.parametrize("name", ["dev", "prod"])
@pytest.mark.parametrize(
    ("settings", "backend"),
    [
        (OWN, "s3://bucket"),
        (OWN, "https://api.pulumi.com"),
        ({"secretsprovider": "passphrase"}, "s3://bucket"),
        ({}, "s3://bucket"),
    ],
)
def test_no_other_file_gets_the_public_passphrase(
    name: str, settings: dict[str, object], backend: str
) -> None:
    with pytest.raises(CommandError, match="PULUMI_CONFIG_PASSPHRASE_FILE"):
        passphrase(name, settings, backend, {})


@pytest.mark.parametrize(("settings", "backend"), [(KMS, "s3://bucket"), ({}, "https://api.pulumi.com")])
def test_secrets_of_a_key_service_need_no_passphrase(settings: dict[str, object], backend: str) -> None:
    assert passphrase("prod", settings, backend, {}) == {}


def test_the_public_passphrase_is_known_however_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(f"{PUBLIC_PASSPHRASE}\n")
    variable, file_variable = VARIABLES
    assert uses_public({}, {variable: PUBLIC_PASSPHRASE})
    assert uses_public({}, {file_variable: str(tmp_path / "file")})
    assert uses_public({"encryptionsalt": min(PUBLIC_SALTS)}, {})
    assert not uses_public(OWN, {variable: "own"})
    assert not uses_public(OWN, {file_variable: str(tmp_path / "absent")})
    assert not uses_public(KMS, {variable: PUBLIC_PASSPHRASE})


# --- what it may deploy ---

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: here, cluster: {server: "%s"}}]
users: [{name: me, user: {token: t}}]
contexts: [{name: here, context: {cluster: here, user: me}}]
"""
EKS = {"kind": "eks", "region": "eu-central-1", "account": "111122223333", "existing": "prod"}
Given = Callable[[object], None]


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Given:
    """Says what the target of the environment `dev` is: a kind, or the address of an API server."""

    def give(value: object) -> None:
        path = tmp_path / "kubeconfig"
        if isinstance(value, str):
            path.write_text(KUBECONFIG % value)
            value = {"kind": "kubeconfig", "path": str(path), "context": "here"}
        settings = parsed(changed(INCIDENT, ("cluster.target", value)))
        monkeypatch.setattr(real_target, "settings_of", lambda _: settings)
        monkeypatch.setattr(aftermath, "settings_of", lambda _: settings)

    return give


REAL = ["https://10.0.0.1:6443", "https://ABC.gr7.eu-central-1.eks.amazonaws.com", "https://127.example.com"]
LOCAL = ["https://127.0.0.1:6443", "https://[::1]:6443", "https://localhost:6443"]


@pytest.mark.parametrize("value", [*REAL, EKS])
def test_a_real_cluster_gets_nothing_that_everybody_can_decrypt(value: object, target: Given) -> None:
    target(value)
    with pytest.raises(CommandError) as refused:
        real_target.refuse_public("dev", {})
    said = str(refused.value)
    assert str(value) in said or "a cluster on EKS" in said
    assert "change-secrets-provider passphrase" in said
    assert "config set --secret gatewayKey" in said


@pytest.mark.parametrize(
    "value",
    [
        *LOCAL,
        {"kind": "render", "directory": "rendered"},
        {"kind": "kubeconfig", "path": "/nowhere", "context": "c"},
    ],
)
def test_rendered_files_and_clusters_on_this_machine_are_free(value: object, target: Given) -> None:
    target(value)
    real_target.refuse_public("dev", {})


def test_an_environment_with_a_secret_of_its_own_is_free(
    target: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    target(REAL[0])
    monkeypatch.setattr(real_target, "stack_settings", lambda _: OWN)
    real_target.refuse_public("dev", {VARIABLES[0]: "own"})
    with pytest.raises(CommandError):
        real_target.refuse_public("dev", {VARIABLES[0]: PUBLIC_PASSPHRASE})


def test_wrong_settings_are_left_to_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: str) -> Settings | None:
        return None

    monkeypatch.setattr(real_target, "settings_of", none)
    real_target.refuse_public("dev", {})


@pytest.mark.parametrize("command", ["up", "destroy", "refresh", "repair"])
def test_every_command_that_deploys_asks_first(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise CommandError("public")

    for module in (engine, repair):
        monkeypatch.setattr(module, "refuse_public", refuse)
    monkeypatch.setattr(engine, "run_pulumi", lambda *_, **__: pytest.fail("the engine was asked"))
    with pytest.raises(CommandError, match="public"):
        repair.repair("sim") if command == "repair" else engine.run(command, "sim")


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["up", "--yes"], True),
        (["config", "set", "--secret", "gatewayKey"], True),
        (["config", "get", "gatewayKey"], False),
        (["stack", "change-secrets-provider", "passphrase"], False),
        (["stack", "export"], False),
    ],
)
def test_the_engines_own_command_line_asks_where_it_deploys_or_encrypts(
    words: list[str], asked: bool
) -> None:
    assert cli.changes(words) == asked


@pytest.mark.parametrize(("word", "status"), [("up", 2), ("export", 0)])
def test_what_it_would_deploy_is_refused_before_the_engine_is_asked(
    word: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise CommandError("public")

    def run(*_: object, **__: object) -> "subprocess.CompletedProcess[str]":
        assert status == 0, "the engine was asked"
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr(cli, "refuse_public", refuse)
    monkeypatch.setattr(cli, "run_pulumi", run)
    assert cli.main(["--env", "sim", "--", word]) == status
    assert ("public" in capsys.readouterr().err) == (status == 2)
