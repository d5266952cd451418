"""Builds tools from published Go modules, pinned by the go.mod and go.sum files under toolchain/src."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from toolchain.progress import run
from toolchain.project import SOURCES, TOOLCHAIN, SetupError

PROVIDER_MODULE = "github.com/pulumi/pulumi-kubernetes/provider/v4"


def _environment() -> dict[str, str]:
    # A static binary (no C compiler needed), the same wherever it is built.
    return {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false -trimpath", "GOWORK": "off"}


def _work_folder(source: str) -> Path:
    """Copies the module out of the checkout: a build may add generated files, and a checkout may be read-only."""
    folder = TOOLCHAIN / "build" / source
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCES / source, folder)
    return folder


def required(source: str, module: str) -> str:
    """Returns the version of a module that the source's go.mod pins."""
    text = (SOURCES / source / "go.mod").read_text()
    found = re.search(rf"^(?:require\s+|\s+){re.escape(module)} (\S+)", text, re.MULTILINE)
    if not found:
        raise SetupError(f"toolchain/src/{source}/go.mod does not require {module}")
    return found[1]


def go_version_needed() -> str:
    """Returns the newest Go version that any of the go.mod files asks for."""
    asked = [re.search(r"^go (\S+)$", f.read_text(), re.MULTILINE) for f in SOURCES.glob("*/go.mod")]
    return max((m[1] for m in asked if m), key=lambda v: [int(n) for n in v.split(".")])


def module_folder(source: str, module: str) -> Path:
    """Returns where Go's module cache keeps a pinned module, downloading it when it does not yet."""
    command = ["go", "mod", "download", "-json", module]
    done = subprocess.run(
        command, cwd=SOURCES / source, env=_environment(), capture_output=True, text=True, check=False
    )
    try:
        return Path(json.loads(done.stdout)["Dir"])
    except (ValueError, KeyError):
        raise SetupError(f"`{' '.join(command)}` failed:\n{done.stdout}{done.stderr}") from None


def build(title: str, source: str, package: str, target: Path, *, usually: float, variable: str = "") -> None:
    """Builds one package of a source folder; `variable` is a linker setting such as `path.Version=v1`."""
    folder = _work_folder(source)
    if source == "kubernetes-provider":
        _write_embedded_files(folder, variable.rpartition("=v")[2])
    link = "-s -w" + (f" -X {variable}" if variable else "")
    unfinished = target.with_name(f".{target.name}.unfinished")
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    # -v prints one line for each package that is compiled.
    command = ["go", "build", "-v", "-ldflags", link, "-o", str(unfinished), package]
    run(title, command, usually=usually, cwd=folder, env=_environment(), doing=_count)
    unfinished.replace(target)
    shutil.rmtree(folder)


def _count(output: list[str]) -> str:
    """Says how many modules `go build -v` downloaded and how many packages it compiled."""
    downloaded = sum(line.startswith("go: downloading") for line in output)
    return f"{downloaded} modules downloaded, {len(output) - downloaded} packages compiled"


def _write_embedded_files(folder: Path, version: str) -> None:
    """Writes the two files that the provider embeds; its module carries them without a version."""
    carried = module_folder("kubernetes-provider", PROVIDER_MODULE) / "cmd" / "pulumi-resource-kubernetes"
    schema = json.loads((carried / "schema.json").read_text())
    (folder / "schema-embed.json").write_text(json.dumps({**schema, "version": version}))
    mapping = json.loads((carried / "terraform-mapping.json").read_text())
    (folder / "terraform-mapping-embed.json").write_text(json.dumps(mapping))
