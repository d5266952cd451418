"""Pulumi's official downloads, where they can be reached."""

from __future__ import annotations

import functools
import platform
import shutil
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from toolchain.progress import EVERY_SECONDS, clock
from toolchain.project import BIN, TOOLCHAIN, SetupError, say

HOST = "https://get.pulumi.com/releases"
# A machine without internet must find out fast: seconds until a connection, or the next piece of a file, has failed.
CONNECT_SECONDS = 5
STALLED_SECONDS = 20
LONGEST_SECONDS = 600
CHUNK = 1 << 20


def system() -> tuple[str, str]:
    """Returns the kernel and the processor as downloads name them: `linux`, `amd64`."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return platform.system().lower(), machine


def cli_url(version: str) -> str:
    """Returns the address of the CLI and its language hosts for this machine."""
    kernel, machine = system()
    return f"{HOST}/sdk/pulumi-v{version}-{kernel}-{'x64' if machine == 'amd64' else machine}.tar.gz"


def plugin_url(version: str) -> str:
    """Returns the address of the Kubernetes provider for this machine."""
    return f"{HOST}/plugins/pulumi-resource-kubernetes-v{version}-{'-'.join(system())}.tar.gz"


@functools.cache
def unreachable(url: str) -> str | None:
    """Returns why an address cannot be had, in one line, or None when it can."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=CONNECT_SECONDS):
            return None
    except (OSError, ValueError) as problem:  # URLError, timeouts and refused connections are OSErrors
        return f"cannot download {url} ({getattr(problem, 'reason', problem)})"


def fetch(title: str, url: str, target: Path) -> None:
    """Downloads a file, saying how far it is."""
    problem = unreachable(url)
    if problem:
        raise SetupError(problem)
    started = told = time.monotonic()
    try:
        with urllib.request.urlopen(url, timeout=STALLED_SECONDS) as answer, target.open("wb") as file:
            size = int(answer.headers.get("Content-Length") or 0)
            while chunk := answer.read(CHUNK):
                file.write(chunk)
                now = time.monotonic()
                if now - started > LONGEST_SECONDS:
                    raise SetupError(f"gave up {url} after {clock(now - started)}")
                if now - told > EVERY_SECONDS:
                    told = now
                    say(f"  {title}: {file.tell() >> 20} of {size >> 20} MB after {clock(now - started)}")
            if size and file.tell() != size:
                raise SetupError(f"got only {file.tell()} of {size} bytes of {url}")
    except OSError as failed:
        raise SetupError(f"cannot download {url} ({failed})") from None


def download_cli(version: str, names: list[str]) -> None:
    """Puts the files of these names of the CLI's release into .toolchain/bin."""
    TOOLCHAIN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TOOLCHAIN) as folder:
        archive = Path(folder) / "pulumi.tar.gz"
        fetch(f"pulumi {version}", cli_url(version), archive)
        with tarfile.open(archive) as opened:
            members = {Path(m.name).name: m for m in opened.getmembers() if m.isfile()}
            absent = [name for name in names if name not in members]
            if absent:
                raise SetupError(f"the release of pulumi {version} holds no {', '.join(absent)}")
            for name in names:
                unpacked = Path(folder) / name
                content = opened.extractfile(members[name])
                with unpacked.open("wb") as file:
                    shutil.copyfileobj(content, file)  # type: ignore[arg-type]
                unpacked.chmod(0o755)
                unpacked.replace(BIN / name)
