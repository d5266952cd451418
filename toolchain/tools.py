"""Tools built from Go modules, or taken from PATH or Pulumi's release where those have the pinned version."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolchain import golang, release
from toolchain.progress import clock
from toolchain.project import BIN, SOURCES, SetupError, digest, fingerprint, say, stamp, stamped

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Binary:
    """A file in .toolchain/bin and the Go package it is built from."""

    name: str
    package: str
    module: str  # its pinned version stands in the binary's build information
    usually: float  # seconds to build on two idle cores, with an empty build cache
    variable: str = ""  # linker setting that carries the version


@dataclass(frozen=True)
class Script:
    """A file in .toolchain/bin that is copied from a Go module."""

    name: str
    module: str
    path: str


@dataclass(frozen=True)
class Tool:
    """One step of the set-up: files that are obtained together, by the first way that works."""

    name: str
    version: str
    source: str  # folder under toolchain/src
    binaries: tuple[Binary, ...]
    scripts: tuple[Script, ...] = ()
    version_command: tuple[str, ...] = ()  # how one on PATH tells its version; without it PATH is not asked
    released: bool = False  # is in Pulumi's official release

    @property
    def title(self) -> str:
        """What the set-up calls it."""
        return f"{self.name} {self.version}"

    @property
    def estimate(self) -> str:
        """How long it usually takes."""
        return f"about {clock(sum(b.usually for b in self.binaries))} if it has to be built"

    def ready(self) -> bool:
        """Tells whether it is in place; one that was put there by hand is taken over if its version is right."""
        found = fingerprint(self._paths())
        if found is None:
            return False
        known = stamped(self.name)
        if known.get("files") == found:
            return bool(known.get("wanted") == self._wanted())
        if not all(names_module(BIN / b.name, self.source, b.module) for b in self.binaries):
            return False
        stamp(self.name, self._wanted(), self._paths())
        return True

    def requires(self) -> list[str]:
        """Names what has to be installed first."""
        if self._on_path() or (self.released and release.unreachable(release.cli_url(self.version)) is None):
            return []
        return ["go"]

    def obtain(self) -> None:
        """Puts the tool into .toolchain/bin."""
        BIN.mkdir(parents=True, exist_ok=True)
        if not (self._link_from_path() or (self.released and self._download())):
            self._build()
        stamp(self.name, self._wanted(), self._paths())

    def _paths(self) -> list[Path]:
        return [BIN / n for n in (*(b.name for b in self.binaries), *(s.name for s in self.scripts))]

    def _wanted(self) -> str:
        return digest(self.version, SOURCES / self.source)

    def _on_path(self) -> dict[Path, str]:
        """Maps each file to the one on PATH; empty unless all are there in the pinned version."""
        if not self.version_command:
            return {}
        folders = [f for f in os.get_exec_path() if os.path.realpath(f) != os.path.realpath(BIN)]
        found = {p: shutil.which(p.name, path=os.pathsep.join(folders)) for p in self._paths()}
        complete = {p: f for p, f in found.items() if f}
        if len(complete) < len(found):
            return {}
        command = [complete[BIN / self.binaries[0].name], *self.version_command]
        try:
            told = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return {}
        return complete if self.version in told.stdout + told.stderr else {}

    def _link_from_path(self) -> bool:
        found = self._on_path()
        for link, target in found.items():
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            say(f"{self.title}: using {target}, found on PATH")
        return bool(found)

    def _download(self) -> bool:
        try:
            release.download_cli(self.version, [p.name for p in self._paths()])
        except SetupError as problem:
            say(f"{self.title}: {problem}; building it from Go modules instead")
            return False
        return True

    def _build(self) -> None:
        for binary in self.binaries:
            (BIN / binary.name).unlink(missing_ok=True)
            golang.build(
                f"{binary.name} {self.version}",
                self.source,
                binary.package,
                BIN / binary.name,
                usually=binary.usually,
                variable=binary.variable,
            )
        for script in self.scripts:
            target = BIN / script.name
            target.unlink(missing_ok=True)
            shutil.copyfile(golang.module_folder(self.source, script.module) / script.path, target)
            target.chmod(0o755)


def names_module(file: Path, source: str, module: str) -> bool:
    """Tells whether a binary was built from the pinned version of a module: Go writes the versions into it."""
    expected = f"{module}\t{golang.required(source, module)}\t".encode()
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(expected) >= 0
