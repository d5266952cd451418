"""A program that registers what a stack has, and nothing else: same types, names and properties, and no component.

`write` makes a project of it from an exported stack; the engine runs `__main__.py`, which is `PROGRAM` below. It is
written as anybody would write it by hand: by the SDK's classes, with one provider.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commands.environments import ROOT

KUBERNETES = "kubernetes:"
PROGRAM = '''\
"""Every object of a list, registered."""

import importlib
import json
import re
from pathlib import Path

import pulumi
import pulumi_kubernetes

HERE = Path(__file__).parent
SPECIAL = ("apiVersion", "kind", "status")


def snake(name):
    return re.sub("(?<!^)([A-Z])", r"_\\\\1", name).lower()


provider = pulumi_kubernetes.Provider("bare", render_yaml_to_directory=str(HERE / "rendered"))
for made in json.loads((HERE / "objects.json").read_text()):
    _, module, kind = made["type"].split(":")
    group, version = module.split("/")
    found = getattr(importlib.import_module("pulumi_kubernetes." + group.split(".")[0] + "." + version), kind)
    properties = {snake(key): value for key, value in made["inputs"].items() if key not in SPECIAL}
    for key in ("data", "string_data"):
        if kind == "Secret" and key in properties:
            properties[key] = pulumi.Output.secret(properties[key])
    found(made["name"], opts=pulumi.ResourceOptions(provider=provider), **properties)
'''


def write(folder: Path, state: Mapping[str, Any]) -> int:
    """Writes the project; how many objects it has.

    Args:
        folder: of the project, which exists.
        state: `pulumi stack export --show-secrets` of the stack to be equal to.
    """
    objects = [
        {
            "type": _type(resource),
            "name": resource["urn"].rpartition("::")[2],
            "inputs": _plain(resource["inputs"]),
        }
        for resource in state["deployment"]["resources"]
        if resource["type"].startswith(KUBERNETES)
    ]
    (folder / "Pulumi.yaml").write_text(
        json.dumps(
            {
                "name": "bare",
                "runtime": {"name": "python", "options": {"virtualenv": str(ROOT / ".venv")}},
            }
        )
    )
    (folder / "__main__.py").write_text(PROGRAM.replace("\\\\1", "\\1"))
    (folder / "objects.json").write_text(json.dumps(objects))
    return len(objects)


def _type(resource: Mapping[str, Any]) -> str:
    return str(resource["type"])


def _plain(value: Any) -> Any:
    """Inputs without the engine's own marks: a secret is its plaintext."""
    if isinstance(value, dict):
        if "plaintext" in value:
            return json.loads(value["plaintext"])
        return {key: _plain(item) for key, item in value.items() if not key.startswith("__")}
    return [_plain(item) for item in value] if isinstance(value, list) else value
