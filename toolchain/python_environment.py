"""The project's Python packages in .venv, and the project itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from toolchain.progress import run
from toolchain.project import ROOT, digest, say

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "shared-observability.json"
REQUIREMENTS = ROOT / "requirements.txt"
PROJECT = ROOT / "pyproject.toml"


def python311() -> str | None:
    """Returns a Python 3.11 that can make virtual environments, or None."""
    # A name on PATH is no proof: version managers put stand-ins there that only print an error.
    question = "import sys, ensurepip, venv; print(sys.version_info[:2] == (3, 11))"
    for name in ("python3.11", "python3", "python"):
        found = shutil.which(name)
        if found and Path(found).parent != PYTHON.parent:
            told = subprocess.run([found, "-c", question], capture_output=True, text=True, check=False)
            if told.stdout.strip() == "True":
                return found
    return None


@dataclass(frozen=True)
class PythonEnvironment:
    """One step of the set-up: packages by hash from requirements.txt, then the project, editable."""

    title: str = "Python packages"
    estimate: str = "about 45 s"

    def ready(self) -> bool:
        """Tells whether the packages are those of the lock file and the project is installed."""
        return PYTHON.exists() and self._installed() == self._wanted()

    def requires(self) -> list[str]:
        """Names what has to be installed first."""
        return ["python3.11"]

    def obtain(self) -> None:
        """Installs what changed."""
        installed, wanted = self._installed(), self._wanted()
        if not PYTHON.exists():
            say(f"{self.title}: making .venv")
            subprocess.run([python311() or "python3.11", "-m", "venv", "--clear", str(VENV)], check=True)
            installed = {}
        if installed.get("packages") != wanted["packages"]:
            # Each package by its hash and no other: nothing is resolved here. Byte-compiling takes half of the time
            # and saves it again at each start (1.4 s of every run of the program).
            self._pip("packages by hash", 45, "--require-hashes", "--no-deps", "-r", str(REQUIREMENTS))
        # Hash checking refuses editable installs, so the project comes by itself, built by what was just installed.
        self._pip("this project", 2, "--no-deps", "--no-build-isolation", "-e", str(ROOT))
        STAMP.write_text(json.dumps(wanted))

    def _wanted(self) -> dict[str, str]:
        return {"packages": digest(REQUIREMENTS), "project": digest(PROJECT), "root": str(ROOT)}

    def _installed(self) -> dict[str, str]:
        try:
            return dict(json.loads(STAMP.read_text()))
        except (FileNotFoundError, ValueError):
            return {}

    def _pip(self, title: str, usually: float, *options: str) -> None:
        command = [str(PYTHON), "-m", "pip", "install", "--progress-bar", "off", "--no-input", *options]
        env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        run(title, command, usually=usually, cwd=ROOT, env=env, doing=_last_line)


def _last_line(output: list[str]) -> str:
    return output[-1].strip() if output else "starting"
