"""An environment is a stack file; a name without one is told what there is."""

from pathlib import Path

import pytest

from commands.environments import CommandError, stack_file, stack_settings


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


@pytest.mark.parametrize("text", ["a: [", "- a list", "", "\tx"])
def test_a_stack_file_that_is_no_mapping_is_left_to_the_engine(text: str, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_text(text)
    assert stack_settings(tmp_path / "Pulumi.dev.yaml") == {}
