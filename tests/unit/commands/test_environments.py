"""An environment is a stack file; a name without one is told what there is."""

from pathlib import Path
from types import ModuleType

import pytest

from commands import aftermath, budget, cli, drift, engine, real_target, render, repair, stack, why
from commands.environments import CommandError, stack_file, stack_settings
from components.settings.mistakes import SettingsError
from components.settings.stack_file import read_settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("Pulumi.yaml", "Pulumi.dev.yaml", "Pulumi.eu-prod.yaml"):
        (tmp_path / name).write_text("config: {}\n")
    return tmp_path


def test_an_environment_is_its_stack_file(root: Path) -> None:
    assert stack_file("eu-prod", root) == root / "Pulumi.eu-prod.yaml"


def test_an_unknown_environment_is_told_which_there_are_in_one_line(root: Path) -> None:
    with pytest.raises(CommandError) as refused:
        stack_file("staging", root)
    assert str(refused.value) == (
        "no environment 'staging' (a file Pulumi.staging.yaml); there are: dev, eu-prod"
    )


def test_a_misspelt_environment_is_told_the_closest(root: Path) -> None:
    with pytest.raises(CommandError, match=r"did you mean ENV=eu-prod\?"):
        stack_file("eu_prod", root)


@pytest.mark.parametrize(
    "name", ["", ".", "../dev", "dev.yaml", "-dev", "dev/../dev", "dev\n", "--help", "x" * 200]
)
def test_a_name_that_is_no_stacks_name_is_refused(name: str, root: Path) -> None:
    (root / "Pulumi.-dev.yaml").write_text("config: {}\n")
    with pytest.raises(CommandError, match="no environment"):
        stack_file(name, root)


def test_a_project_without_environments_says_so(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="there are none yet"):
        stack_file("dev", tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("config:\n  a: [\n", "Pulumi.dev.yaml:3: is not YAML: expected the node content"),
        ("config:\n\tx: 1\n", r"Pulumi.dev.yaml:2: is not YAML: found character '\t'"),
        ("config:\n  a: *hidden-value\n", "Pulumi.dev.yaml:2: is not YAML"),
        ("config:\n  ? [a]\n  : b\n", "Pulumi.dev.yaml:2: is not YAML"),
        ("config:\n  a: !other x\n", "Pulumi.dev.yaml:2: is not YAML"),
        ("a: \x07\n", "Pulumi.dev.yaml: is not YAML"),
        ("- a list", "Pulumi.dev.yaml: is a list, not a mapping"),
        ("text", "Pulumi.dev.yaml: is a text, not a mapping"),
        ("7", "Pulumi.dev.yaml: is a single value, not a mapping"),
        ("config: [a]", "config: is a list, not a mapping"),
        (b"\xff\xfe", "cannot be read: it is no text in UTF-8"),
        (None, "cannot be read: Is a directory"),
    ],
)
def test_what_is_no_stack_file_is_said_with_its_line(
    text: str | bytes | None, told: str, tmp_path: Path
) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    if text is None:
        file.mkdir()
    else:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CommandError) as refused:
        stack_settings(file)
    assert told in str(refused.value)
    assert "make preview ENV=dev" in str(refused.value)
    with pytest.raises(SettingsError) as wrong:
        read_settings(file, "shared-observability", "dev")
    assert str(wrong.value) == str(refused.value)


@pytest.mark.parametrize("text", ["", "config:", "config: {}", "{}"])
def test_an_empty_stack_file_is_one(text: str, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_text(text)
    assert not stack_settings(tmp_path / "Pulumi.dev.yaml").get("config")


def test_dates_and_numbers_as_keys_are_mistakes_of_settings_and_no_tracebacks(tmp_path: Path) -> None:
    """The engine hands them over as texts."""
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(
        "config:\n  1: x\n  shared-observability:layer: {retention: 2026-01-01, 2026-01-01: !!binary eA==}\n"
    )
    with pytest.raises(SettingsError) as wrong:
        read_settings(file, "shared-observability", "dev")
    assert "layer.retention: is not a setting" in str(wrong.value)
    assert "layer.2026-01-01: is not a setting" in str(wrong.value)


@pytest.mark.parametrize("command", [engine, why, drift, repair, budget, cli, render])
def test_every_command_says_it_and_ends_with_2(
    command: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text("config:\n\tx: 1\n")
    for module in (aftermath, budget, engine, render, repair, stack, why, real_target):
        if hasattr(module, "stack_file"):
            monkeypatch.setattr(module, "stack_file", lambda _: file)
    options = {engine: ["up"], render: ["--out", str(tmp_path / "out"), "--stand-in-secrets"]}
    last = ["--", "stack"] if command is cli else []
    assert command.main([*options.get(command, []), "--env", "dev", *last]) == 2
    assert "Pulumi.dev.yaml:2: is not YAML" in capsys.readouterr().err
