"""What has to be on the machine before set-up can do its work, and the command that installs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from toolchain import golang
from toolchain.project import versions
from toolchain.python_environment import python311
from toolchain.release import system

# Debian 12's kubectl (1.20) and Go (1.19) are too old, so those two come from their makers.
APT = {"python3.11": "python3.11 python3.11-venv", "openssl": "openssl", "nginx": "nginx-light"}
BREW = {
    "python3.11": "python@3.11",
    "openssl": "openssl",
    "nginx": "nginx",
    "go": "go",
    "kubectl": "kubernetes-cli",
}
SYSTEM_FOLDERS = "/usr/sbin:/sbin"  # where servers lie, and what a user's PATH may leave out
FETCHES_TOOLCHAINS = [1, 21]  # from here on Go gets the version that a go.mod asks for by itself


def _numbers(version: str) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", version)]


def _go_problem() -> str | None:
    needed = golang.go_version_needed()
    if not shutil.which("go"):
        return f"Go {needed}, to build what cannot be downloaded"
    told = subprocess.run(["go", "version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"go(\d+\.\d+(?:\.\d+)?)", told)
    version = _numbers(found[1]) if found else []
    asked = subprocess.run(
        ["go", "env", "GOTOOLCHAIN"], capture_output=True, text=True, check=False
    ).stdout.strip()
    enough = version >= _numbers(needed) or (version >= FETCHES_TOOLCHAINS and asked != "local")
    return None if enough else f"Go {needed} (found {found[1] if found else 'none'}, GOTOOLCHAIN={asked})"


def _problem(name: str) -> str | None:
    if name == "go":
        return _go_problem()
    if name == "python3.11":
        return None if python311() else "Python 3.11 with its venv module"
    return None if shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_FOLDERS}") else name


def _remedy(name: str) -> str:
    """Returns the command that installs a prerequisite on this system."""
    kernel, machine = system()
    sudo = "" if os.geteuid() == 0 else "sudo "
    if name in APT and shutil.which("apt-get"):
        return f"{sudo}apt-get update && {sudo}apt-get install -y {APT[name]}"
    if name in BREW and shutil.which("brew"):
        return f"brew install {BREW[name]}"
    if name == "go":
        archive = f"go{golang.go_version_needed()}.{kernel}-{machine}.tar.gz"
        unpack = f"{sudo}tar -C /usr/local -xz && export PATH=/usr/local/go/bin:$PATH"
        return f"curl -fsSL https://go.dev/dl/{archive} | {unpack}"
    if name == "kubectl":
        address = f"https://dl.k8s.io/release/v{versions()['KUBERNETES']}/bin/{kernel}/{machine}/kubectl"
        return f"{sudo}curl -fsSLo /usr/local/bin/kubectl {address} && {sudo}chmod 755 /usr/local/bin/kubectl"
    return f"install your system's package of {name}"


def missing(names: list[str]) -> list[str]:
    """Returns a line for each prerequisite that is not there: what, and how to install it."""
    problems = {name: _problem(name) for name in dict.fromkeys(names)}
    return [f"{problem}: {_remedy(name)}" for name, problem in problems.items() if problem]
