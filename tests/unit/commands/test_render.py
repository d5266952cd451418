"""Renders: the stack file that they run on, and the folder that they fill."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from commands.environments import CommandError
from commands.render import MARK, install, refuse_foreign, with_render_target

DIRECTORY = Path("/tmp/new/rendered")
RENDER = {"kind": "render", "directory": str(DIRECTORY)}
STACK_FILE = """\
encryptionsalt: v1:abc=
config:
  shared-observability:cluster:
    name:   prod        # aligned
    target:
      kind: kubeconfig
      path: &path ~/.kube/prod   # theirs
      context: prod
    nodeGroups:
      web: {instanceTypes: [t3.large], nodes: 5, note: *path}
  shared-observability:layer:
    version: 1.10
    text: "1.10"
    mode: 0123
    answer: yes
    day: 2026-01-01
    long: one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
  shared-observability:gatewayKey:
    secure: v1:xyz=
"""


def _scalars(text: str) -> dict[str, str]:
    """Return every scalar as it is written, by its key."""
    written: dict[str, str] = {}

    def walk(node: yaml.Node | None) -> None:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if isinstance(value, yaml.ScalarNode):
                    written[key.value] = f"{value.style or ''}{value.value}"
                walk(value)

    walk(yaml.compose(text))
    return written


def test_only_the_target_is_replaced() -> None:
    before: dict[str, Any] = yaml.safe_load(STACK_FILE)
    after = yaml.safe_load(with_render_target(STACK_FILE, DIRECTORY))
    assert after["config"]["shared-observability:cluster"].pop("target") == RENDER
    before["config"]["shared-observability:cluster"].pop("target")
    assert after == before


def test_every_other_value_stays_as_it_is_written() -> None:
    kept = ("version", "text", "mode", "answer", "day", "long", "secure", "encryptionsalt")
    before, after = _scalars(STACK_FILE), _scalars(with_render_target(STACK_FILE, DIRECTORY))
    assert {k: after[k] for k in kept} == {k: before[k] for k in kept}


def test_the_short_key_of_the_projects_own_settings_is_known() -> None:
    text = "config:\n  cluster: {name: dev, target: {kind: render, directory: x}}\n"
    assert yaml.safe_load(with_render_target(text, DIRECTORY))["config"]["cluster"]["target"] == RENDER


@pytest.mark.parametrize("text", ["config: {}", "", "config: {cluster: text}", "- list"])
def test_a_stack_file_without_a_cluster_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="no mapping 'shared-observability:cluster'"):
        with_render_target(text, DIRECTORY)


@pytest.fixture
def rendered(tmp_path: Path) -> Path:
    """What the provider writes: two folders, private files."""
    folder = tmp_path / "rendered"
    for name, kind in {
        "0-crd/apiextensions.k8s.io_v1-customresourcedefinition-default-x.yaml": "CustomResourceDefinition",
        "1-manifest/apps_v1-daemonset-nodes-alloy.yaml": "DaemonSet",
        "1-manifest/v1-configmap-nodes-alloy.yaml": "ConfigMap",
        "1-manifest/v1-namespace-default-nodes.yaml": "Namespace",
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"apiVersion: v1\nkind: {kind}\n")
        file.chmod(0o600)
    return folder


def test_files_lie_flat_in_an_order_that_can_be_applied(rendered: Path, tmp_path: Path) -> None:
    out = tmp_path / "a" / "out"
    kinds = install(rendered, out)
    assert [yaml.safe_load(f.read_text())["kind"] for f in sorted(out.iterdir())] == [
        "CustomResourceDefinition",
        "Namespace",
        "DaemonSet",
        "ConfigMap",
    ]
    assert kinds.total() == 4
    assert all(f.suffix == ".yaml" for f in out.iterdir())


def test_files_of_an_earlier_render_do_not_survive(rendered: Path, tmp_path: Path) -> None:
    install(rendered, tmp_path / "out")
    (rendered / "1-manifest" / "v1-configmap-nodes-alloy.yaml").unlink()
    install(rendered, tmp_path / "out")
    assert sorted(f.name for f in (tmp_path / "out").glob("*configmap*")) == []
    assert len(list((tmp_path / "out").iterdir())) == 3


@pytest.mark.parametrize("name", ["values.yaml", "README.md", ".gitkeep", "folder", "link.yaml"])
def test_a_folder_with_anything_of_others_is_refused_and_untouched(
    name: str, rendered: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    install(rendered, out)
    foreign = out / name
    if name == "folder":
        foreign.mkdir()
    elif name == "link.yaml":
        foreign.symlink_to(next(out.iterdir()))
    else:
        foreign.write_text("theirs\n")
    before = sorted(out.iterdir())
    with pytest.raises(CommandError, match=name):
        refuse_foreign(out)
    with pytest.raises(CommandError, match=name):
        install(rendered, out)
    assert sorted(out.iterdir()) == before


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text(MARK)
    with pytest.raises(CommandError, match="is not a folder"):
        refuse_foreign(tmp_path / "out")


def test_two_objects_of_one_file_name_are_refused(rendered: Path, tmp_path: Path) -> None:
    (rendered / "0-crd" / "v1-configmap-nodes-alloy.yaml").write_text("kind: ConfigMap\n")
    with pytest.raises(CommandError, match=r"2-v1-configmap-nodes-alloy\.yaml"):
        install(rendered, tmp_path / "out")
    assert not (tmp_path / "out").exists()
