"""One stack's life, run once: what it printed and rendered after each step, for many tests to look at."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from commands.engine import PULUMI
from components.cluster import node_groups
from components.cluster.live import CLUSTER_SCOPED
from tests.support.engine import Change, Done, Manifest, Stack, config_maps, named
from tests.unit.components.environments import EXISTING

# The first test that wants the journey waits for all of it: 30 s alone, several times that beside other work.
JOURNEY_SECONDS = 600
# Whatever of it the engine or the provider would take over: each is known to break a render, or to change it.
AMBIENT = {
    "KUBECONFIG": "/nowhere/kubeconfig",
    "PULUMI_K8S_CLIENT_QPS": "1",
    "PULUMI_K8S_DELETE_UNREACHABLE": "true",
    "PULUMI_K8S_ENABLE_PATCH_FORCE": "true",
    "PULUMI_K8S_ENABLE_SERVER_SIDE_APPLY": "false",
    "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE": "true",
    "PULUMI_K8S_SUPPRESS_DEPRECATION_WARNINGS": "true",
}
FIRST, SECOND, THIRD = "dev", "second", "third"
STEPS: dict[str, tuple[Change, ...]] = {
    "deployed": (),
    "unchanged": (),
    "quagga added": (("tenants.quagga", {"pods": 20}),),
    "billing removed": (("tenants.billing", None),),
    "search renamed, one of its namespaces moved": (
        ("tenants.search", None),
        ("tenants.find", {"namespaces": {"search-api": {"pods": 70}}}),
        (
            "tenants.reports",
            {"namespaces": {"reports": {"pods": 60}, "search-index": {"pods": 40}}, "logs": False},
        ),
    ),
    "configuration b": (("cluster.name", SECOND), ("layer.hostMetrics", EXISTING)),
    "back to a": (("cluster.name", FIRST), ("layer.hostMetrics", None)),
    "configuration c": (("cluster.name", THIRD),),
    "logs off": (("layer.logs", "off"), ("tenants.reports.logs", None)),
}


@dataclass(frozen=True)
class Step:
    """What one step left."""

    output: str
    files: dict[str, str]
    manifests: dict[str, Manifest]
    resources: list[dict[str, Any]]

    @property
    def live(self) -> dict[str, Manifest]:
        """The objects without the configurations that are kept for a rollback and that no pod mounts."""
        workloads = [m for m in self.manifests.values() if m["kind"] in ("Deployment", "DaemonSet")]
        mounted = {(m["metadata"]["namespace"], name) for m in workloads for name in config_maps(m)}

        def is_live(manifest: Manifest) -> bool:
            where = (manifest["metadata"].get("namespace"), manifest["metadata"]["name"])
            return manifest["kind"] != "ConfigMap" or where in mounted

        return {name: manifest for name, manifest in self.manifests.items() if is_live(manifest)}


@dataclass(frozen=True)
class Journey:
    """The life of one stack: its preview, its steps, an attempt to apply it to a cluster, and its end."""

    stack: Stack
    preview: str
    rendered_by_preview: bool
    steps: dict[str, Step]
    switched: tuple[Done, dict[str, str]]
    destroyed: Step

    def __getitem__(self, step: str) -> Step:
        """One step."""
        return self.steps[step]


@pytest.fixture(scope="session")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Journey:
    """Preview, the steps, destroy."""
    stack = Stack(tmp_path_factory.mktemp("journey"))
    preview = stack.run("preview")
    assert preview.status == 0, preview.output
    rendered = stack.rendered.exists()
    steps = {}
    for name, changes in STEPS.items():
        stack.change(*changes)
        done = stack.run("up", **(AMBIENT if name == "unchanged" else {}))
        assert done.status == 0, f"{name}: up fails:\n{done.output}"
        steps[name] = _step(stack, done.output)
    switched = _switched_to_a_cluster(stack)
    destroyed = stack.run("destroy")
    assert destroyed.status == 0, destroyed.output
    return Journey(stack, preview.output, rendered, steps, switched, _step(stack, destroyed.output))


def _step(stack: Stack, output: str) -> Step:
    return Step(output, stack.files(), named(stack.manifests()), stack.resources())


def _switched_to_a_cluster(stack: Stack) -> tuple[Done, dict[str, str]]:
    """What the engine says to another kind of target, and the files afterwards; the settings are as before then."""
    before = stack.settings
    stack.change(on_cluster(kubeconfig(stack.folder, "https://127.0.0.1:9")))
    done = stack.run("up", PATH=stand_in_for_kubectl(stack, "https://127.0.0.1:9"))
    stack.settings = before
    return done, stack.files()


def stand_in_for_kubectl(stack: Stack, server: str) -> str:
    """A PATH whose kubectl answers like a cluster with the tenants' namespaces and nothing of ours, at an address."""
    tenants = stack.settings["tenants"].items()
    namespaces = [n for name, tenant in tenants for n in tenant.get("namespaces", [name])]
    items = [{"metadata": {"name": name, "uid": name}} for name in ("kube-system", *namespaces)]
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    nodes = [
        {
            "metadata": {
                "name": group,
                "labels": {"kubernetes.io/os": "linux", node_groups.LABELS["managed"]: group},
            }
        }
        for group in stack.settings["cluster"]["nodeGroups"]
    ]
    classes = [{"kind": "StorageClass", "metadata": {"name": "gp3", "annotations": default}}]
    program = stack.folder / "bin" / "kubectl"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        f"if 'config' in sys.argv:\n    sys.exit(print({server!r}))\n"
        f"answers = {{'namespaces': {items!r}, 'nodes': {nodes!r}, {CLUSTER_SCOPED!r}: {classes!r}}}\n"
        "asked = dict(zip(sys.argv, sys.argv[1:])).get('get')\n"
        "print(json.dumps({'items': answers.get(asked, [])}))\n"
    )
    program.chmod(0o755)
    return os.pathsep.join([str(program.parent), str(PULUMI.parent), os.environ["PATH"]])


def kubeconfig(folder: Path, server: str) -> Path:
    """A kubeconfig that names a server."""
    named = {"name": "there"}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{**named, "cluster": {"server": server}}],
        "contexts": [{**named, "context": {"cluster": "there", "user": "there"}}],
        "users": [{**named, "user": {"token": "token-of-the-kubeconfig"}}],
    }
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(content))
    return file


def on_cluster(path: Path) -> Change:
    """A target that is a cluster."""
    return "cluster.target", {"kind": "kubeconfig", "path": str(path), "context": "there"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for a stack of the test's own."""
    return tmp_path / "stack"
