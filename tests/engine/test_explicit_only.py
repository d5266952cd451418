"""Objects without a stated provider or name are refused by the project's own Pulumi.yaml, not by anybody's care."""

from pathlib import Path

import pytest
import yaml

from commands.environments import ROOT
from tests.support.engine import Stack

PROGRAM = """\
import pulumi
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider("target", kubeconfig="", render_yaml_to_directory="rendered")
kubernetes.core.v1.ConfigMap("forgetful", data={{"a": "b"}}, {arguments})
"""
WITH_NAME = 'metadata={"name": "stated"}'
WITH_PROVIDER = "opts=pulumi.ResourceOptions(provider=provider)"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """A stack whose state is used; its program is another one's."""
    return Stack(tmp_path_factory.mktemp("explicit"))


def project(folder: Path, arguments: str) -> Path:
    """This project's Pulumi.yaml with a program of one object."""
    description = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    description["runtime"]["options"]["virtualenv"] = str(ROOT / ".venv")
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(description))
    (folder / "__main__.py").write_text(PROGRAM.format(arguments=arguments))
    return folder


@pytest.mark.parametrize(
    ("arguments", "refused_with"),
    [
        (WITH_NAME, "Default provider for 'kubernetes' disabled"),
        (WITH_PROVIDER, "autonaming is disabled"),
        (f"{WITH_NAME}, {WITH_PROVIDER}", None),
    ],
)
def test_an_object_needs_a_stated_provider_and_a_stated_name(
    arguments: str, refused_with: str | None, stack: Stack, tmp_path: Path
) -> None:
    folder = project(tmp_path, arguments)
    file = ROOT / "Pulumi.dev.yaml"
    done = stack.pulumi("-C", str(folder), "preview", "--stack", "dev", "--config-file", str(file))
    if refused_with is None:
        assert done.status == 0, done.output
    else:
        assert done.status != 0
        assert refused_with in done.output
