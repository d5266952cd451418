"""The real program, rendered by the real engine: what `make up` does with a render target, on a test's settings.

Each stack has a folder of its own for its state, its stack file and its manifests. It is called `dev`, whose passphrase
is public and whose encrypted key is taken over from Pulumi.dev.yaml. The policy pack is left out: it has its own tests.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from commands.engine import engine_environment, run_pulumi
from tests.support import stack_files
from tests.support.environments import PROJECT, changed

STACK = "dev"
STACK_FILE = f"Pulumi.{STACK}.yaml"
# The preview before a deployment is left out, as it takes as long again.
OPTIONS = {"preview": (), "up": ("--yes", "--skip-preview"), "destroy": ("--yes", "--skip-preview")}
Change = tuple[str, Any]
Manifest = dict[str, Any]


def shipped() -> dict[str, Any]:
    """The settings of `dev` as plain data, without the secret."""
    return stack_files.shipped(STACK)


@dataclass(frozen=True)
class Done:
    """One run of the engine: its exit status, and all that it printed."""

    status: int
    output: str


@dataclass
class Stack:
    """One environment that is rendered, with a state of its own.

    Attributes:
        folder: for everything of it.
        settings: `cluster`, `layer` and `tenants`, as written in the stack file; the target is a folder of its own.
        said: what the engine printed so far, all runs.
    """

    folder: Path
    settings: dict[str, Any] = field(default_factory=shipped)
    said: str = ""

    def __post_init__(self) -> None:
        self.change(("cluster.target", {"kind": "render", "directory": str(self.rendered)}))
        done = self.pulumi("stack", "init", STACK, "--no-select")
        assert done.status == 0, done.output

    @property
    def rendered(self) -> Path:
        """Where the manifests go."""
        return self.folder / "rendered"

    @property
    def state(self) -> Path:
        """The file backend."""
        return self.folder / "state"

    def change(self, *changes: Change) -> None:
        """Sets values at dotted paths for all that follows; None removes one."""
        self.settings = changed(self.settings, *changes)

    def up(self, *changes: Change) -> str:
        """Renders, with settings changed for good; what the engine said."""
        self.change(*changes)
        done = self.run("up")
        assert done.status == 0, f"up fails:\n{done.output}"
        return done.output

    def run(self, command: str, *options: str, key: Any = None, **variables: str) -> Done:
        """One command of the engine on this stack.

        Args:
            command: one of `OPTIONS`.
            options: further ones.
            key: what stands for the gateway key in the stack file instead of the encrypted one.
            variables: of the environment, on top of what `make` gives.
        """
        file = self.folder / STACK_FILE
        file.write_text(stack_files.stack_file_text(STACK, self.settings, key=key))
        arguments = (command, "--stack", STACK, "--config-file", str(file), *OPTIONS[command], *options)
        return self.pulumi(*arguments, **variables)

    def pulumi(self, *arguments: str, **variables: str) -> Done:
        """The CLI as `make` runs it, with this stack's backend."""
        with engine_environment(STACK, backend=f"file://{self.state}") as environment:
            done = run_pulumi(arguments, {**environment, **variables}, capture=True)
        self.said += done.stdout
        return Done(done.returncode, done.stdout)

    def outputs(self) -> dict[str, Any]:
        """What the stack exports."""
        done = self.pulumi("stack", "output", "--json", "--show-secrets", "--stack", STACK)
        assert done.status == 0, done.output
        return dict(json.loads(done.output))

    def resources(self) -> list[dict[str, Any]]:
        """Everything in the state, as the engine wrote it."""
        file = self.state / ".pulumi" / "stacks" / PROJECT / f"{STACK}.json"
        return list(json.loads(file.read_text())["checkpoint"]["latest"].get("resources") or [])

    def files(self) -> dict[str, str]:
        """The rendered files by name."""
        return {file.name: file.read_text() for file in sorted(self.rendered.rglob("*.yaml"))}

    def manifests(self) -> list[Manifest]:
        """The rendered objects."""
        return [yaml.safe_load(text) for text in self.files().values()]


def named(manifests: Iterable[Manifest]) -> dict[str, Manifest]:
    """Manifests by `Kind namespace/name`, or `Kind name` of what is cluster-scoped."""
    found: dict[str, Manifest] = {}
    for manifest in manifests:
        metadata = manifest["metadata"]
        where = f"{metadata['namespace']}/" if "namespace" in metadata else ""
        name = f"{manifest['kind']} {where}{metadata['name']}"
        assert name not in found, f"{name} is rendered twice"
        found[name] = manifest
    return found


def config_maps(manifest: Manifest) -> list[str]:
    """Names of the ConfigMaps that a workload mounts."""
    volumes = manifest["spec"]["template"]["spec"].get("volumes", [])
    sources = [
        source for volume in volumes for source in (volume, *volume.get("projected", {}).get("sources", []))
    ]
    return [source["configMap"]["name"] for source in sources if "configMap" in source]
