"""The Kubernetes provider, installed as a plugin of this project's own PULUMI_HOME."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from toolchain import golang, release
from toolchain.progress import clock
from toolchain.project import (
    BIN,
    PULUMI_HOME,
    SOURCES,
    TOOLCHAIN,
    SetupError,
    digest,
    fingerprint,
    say,
    stamp,
    stamped,
)
from toolchain.tools import names_module

NAME = "pulumi-resource-kubernetes"
BUILD_SECONDS = 480
VERSION_VARIABLE = f"{golang.PROVIDER_MODULE}/pkg/version.Version"


@dataclass(frozen=True)
class Provider:
    """One step of the set-up: the provider, by the first way that works."""

    version: str

    @property
    def title(self) -> str:
        """What the set-up calls it."""
        return f"{NAME} {self.version}"

    @property
    def estimate(self) -> str:
        """How long it usually takes."""
        return f"about {clock(BUILD_SECONDS)} if it has to be built"

    @property
    def plugin(self) -> Path:
        """Where the engine looks for the provider."""
        return PULUMI_HOME / "plugins" / f"resource-kubernetes-v{self.version}" / NAME

    def ready(self) -> bool:
        """Tells whether the plugin is in place and no second provider lies on PATH, where the engine warns of it."""
        found = fingerprint([self.plugin])
        known = stamped(NAME)
        made = found is not None and known.get("files") == found and known.get("wanted") == self._wanted()
        return made and not (BIN / NAME).exists()

    def requires(self) -> list[str]:
        """Names what has to be installed first."""
        if self._given() or release.unreachable(release.plugin_url(self.version)) is None:
            return []
        return ["go"]

    def obtain(self) -> None:
        """Installs the plugin."""
        if given := self._given():
            self._install_file(given)
        elif not self._download():
            built = TOOLCHAIN / "providers" / NAME
            variable = f"{VERSION_VARIABLE}=v{self.version}"
            golang.build(
                self.title, "kubernetes-provider", ".", built, usually=BUILD_SECONDS, variable=variable
            )
            self._install_file(built)
        (BIN / NAME).unlink(missing_ok=True)
        stamp(NAME, self._wanted(), [self.plugin])

    def _wanted(self) -> str:
        return digest(self.version, SOURCES / "kubernetes-provider")

    def _given(self) -> Path | None:
        """Returns the provider that was put into .toolchain/bin by hand, if it is the pinned one."""
        given = BIN / NAME
        right = given.exists() and names_module(given, "kubernetes-provider", golang.PROVIDER_MODULE)
        return given if right else None

    def _install_file(self, file: Path) -> None:
        self._pulumi("--file", str(file), "--reinstall")
        file.unlink()  # the plugin is a copy of it

    def _download(self) -> bool:
        problem = release.unreachable(release.plugin_url(self.version))
        if problem is None:
            try:
                self._pulumi("--server", f"{release.HOST}/plugins")
            except SetupError as failed:
                problem = str(failed)
            else:
                return True
        say(f"{self.title}: {problem}; building it from Go modules instead")
        return False

    def _pulumi(self, *options: str) -> None:
        command = [
            str(BIN / "pulumi"),
            "plugin",
            "install",
            "resource",
            "kubernetes",
            f"v{self.version}",
            *options,
        ]
        settings = {
            "PULUMI_HOME": str(PULUMI_HOME),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PATH": os.pathsep.join([str(BIN), os.environ.get("PATH", "")]),
        }
        try:
            done = subprocess.run(
                command,
                env={**os.environ, **settings},
                capture_output=True,
                text=True,
                timeout=release.LONGEST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SetupError(f"`pulumi plugin install` gave up after {release.LONGEST_SECONDS} s") from None
        if done.returncode:
            raise SetupError(f"`pulumi plugin install` failed: {(done.stderr or done.stdout).strip()}")
