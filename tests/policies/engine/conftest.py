"""The real engine with the pack, in a clean environment: `env -i`, so that no variable of ours hides a fault."""

import json
import os
import re
import shutil
import subprocess
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
TOOLS = ROOT / ".toolchain" / "bin"
PLUGINS = ROOT / ".toolchain" / "pulumi" / "plugins"
PACK = ROOT / "policies"
SECONDS = 100
STACK = ("--stack", "dev")
HEAD = """\
import pulumi
import pulumi_kubernetes as k8s

target = k8s.Provider("target", render_yaml_to_directory="rendered", kubeconfig="")
here = pulumi.ResourceOptions(provider=target)
"""
OBJECTS = """
import json, pathlib, yaml

# A namespace has no status before it is made: what follows from it is unknown at preview.
probe = k8s.core.v1.Namespace("probe", metadata={"name": "probe"}, opts=here)

def value(raw):
    if isinstance(raw, str) and raw.startswith("<unknown>:"):
        return probe.status.apply(lambda _: yaml.safe_load(raw.removeprefix("<unknown>:")))
    if isinstance(raw, list):
        return [value(each) for each in raw]
    return {key: value(each) for key, each in raw.items()} if isinstance(raw, dict) else raw

for raw in json.loads(pathlib.Path("objects.json").read_text()):
    name = f"{raw['metadata'].get('namespace', '')}-{raw['metadata']['name']}"
    version = raw["apiVersion"] if "/" in raw["apiVersion"] else f"core/{raw['apiVersion']}"
    pulumi.CustomResource(f"kubernetes:{version}:{raw['kind']}", name, value(raw), here)
"""
REPORTED = re.compile(
    r"^ +- \[(?P<level>advisory|mandatory)\] +(?:\[severity: \w+\] +)?(?P<policy>[\w-]+) +\((?P<on>.*)\)$"
)


@dataclass(frozen=True)
class Report:
    """One line under `Policies:` with its message."""

    level: str
    policy: str
    on: str
    message: str


@dataclass(frozen=True)
class Run:
    """What one command of the CLI did."""

    status: int
    output: str

    @property
    def reports(self) -> list[Report]:
        """What the pack reported."""
        lines = self.output.splitlines()
        found = []
        for number, line in enumerate(lines):
            if match := REPORTED.match(line):
                found.append(Report(match["level"], match["policy"], match["on"], lines[number + 2].strip()))
        return found

    def of(self, policy: str) -> list[Report]:
        """What one policy reported."""
        return [report for report in self.reports if report.policy == policy]


class Engine:
    """A throw-away project with a file backend."""

    def __init__(
        self,
        folder: Path,
        template: Path | None = None,
        *,
        passphrase: str = "public",
        seconds: int = SECONDS,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.folder, self.passphrase, self.seconds = folder, passphrase, seconds
        self.variables = dict(variables or {})
        if template:
            shutil.copytree(template, folder, symlinks=True, dirs_exist_ok=True)
            return
        home = folder / "home"
        (home / ".pulumi").mkdir(parents=True)
        (home / ".pulumi" / "plugins").symlink_to(PLUGINS)
        (folder / "state").mkdir()
        project = {
            "name": "shared-observability",
            "runtime": {"name": "python", "options": {"virtualenv": str(ROOT / ".venv")}},
        }
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
        self.program("")
        self.call("stack", "select", "--create", "dev")

    def program(self, body: str) -> None:
        """Replaces the program; it can use `k8s`, `pulumi` and `here`, options with a provider that renders."""
        (self.folder / "__main__.py").write_text(HEAD + textwrap.dedent(body))

    def objects(self, text: str) -> None:
        """Replaces the program by one that registers the objects of a YAML text, each by its token.

        A text `<unknown>:VALUE` becomes a value that is known only at the update.
        """
        (self.folder / "objects.json").write_text(json.dumps(list(yaml.safe_load_all(text))))
        self.program(OBJECTS)

    def settings(self, raw: dict[str, Any]) -> None:
        """Replaces the stack's configuration."""
        (self.folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": raw}))

    def call(self, *arguments: str, stdin: str | None = None, cwd: Path | None = None) -> Run:
        """Runs the CLI with nothing but HOME and PATH and what it needs itself."""
        home = self.folder / "home"
        environment = {
            "HOME": str(home),
            "PATH": f"{TOOLS}:/usr/bin:/bin",
            "PULUMI_HOME": str(home / ".pulumi"),
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": self.passphrase,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            **self.variables,
        }
        done = subprocess.run(
            ["pulumi", "--non-interactive", "--color=never", *arguments],
            cwd=cwd or self.folder,
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=self.seconds,
            check=False,
        )
        return Run(done.returncode, done.stdout + done.stderr)

    def preview(self, *arguments: str, pack: bool = True) -> Run:
        """`pulumi preview` with the pack."""
        return self.call("preview", *STACK, *self._pack(pack), *arguments)

    def up(self, *arguments: str, pack: bool = True) -> Run:
        """`pulumi up` with the pack, without its own preview."""
        return self.call("up", *STACK, "--yes", "--skip-preview", *self._pack(pack), *arguments)

    def analyze(self, state: Path, *arguments: str, cwd: Path | None = None) -> Run:
        """`pulumi policy analyze` of an exported state."""
        return self.call("policy", "analyze", *self._pack(True), "--file", str(state), *arguments, cwd=cwd)

    def state_of(self, text: str) -> Path:
        """An exported state with the objects of a YAML text."""
        found = []
        for raw in yaml.safe_load_all(text):
            kind = f"kubernetes:{raw['apiVersion']}:{raw['kind']}"
            name = f"{raw['metadata'].get('namespace', '')}-{raw['metadata']['name']}"
            urn = f"urn:pulumi:dev::shared-observability::{kind}::{name}"
            found.append(
                {"urn": urn, "type": kind, "custom": True, "id": name, "inputs": raw, "outputs": raw}
            )
        return self.state(found)

    def state(self, resources: Sequence[dict[str, Any]]) -> Path:
        """Writes an exported state with these resources."""
        path = self.folder / "exported.json"
        stack = {"urn": "urn:pulumi:dev::shared-observability::pulumi:pulumi:Stack::shared-observability-dev"}
        root = {**stack, "type": "pulumi:pulumi:Stack", "custom": False}
        deployment = {"manifest": {"time": "2026-01-01T00:00:00Z", "magic": "", "version": ""}}
        raw = {"version": 3, "deployment": {**deployment, "resources": [root, *resources]}}
        path.write_text(json.dumps(raw))
        return path

    @staticmethod
    def _pack(wanted: bool) -> tuple[str, ...]:
        return ("--policy-pack", str(PACK)) if wanted else ()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose stack exists: to make one takes a second."""
    if not os.access(TOOLS / "pulumi", os.X_OK):
        pytest.fail("the engine is missing: make setup")
    return Engine(tmp_path_factory.mktemp("engine")).folder


@pytest.fixture
def engine(tmp_path: Path, template: Path) -> Engine:
    return Engine(tmp_path / "project", template)
