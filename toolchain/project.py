"""Where things are, which versions are pinned, and what is already in place."""

from __future__ import annotations

import hashlib
import json
import runpy
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "toolchain" / "src"
TOOLCHAIN = ROOT / ".toolchain"
BIN = TOOLCHAIN / "bin"
PULUMI_HOME = TOOLCHAIN / "pulumi"
STAMPS = TOOLCHAIN / "stamps.json"


class SetupError(Exception):
    """Something the user has to know, told in full by its text."""


def say(text: str) -> None:
    """Prints a line at once: set-up runs for minutes and is read while it runs."""
    print(text, flush=True)


def versions() -> dict[str, Any]:
    """Returns the constants of components/versions.py, read without importing the project or its packages."""
    return runpy.run_path(str(ROOT / "components" / "versions.py"))


def digest(*parts: Path | str) -> str:
    """Returns one digest over texts, files and whole folders."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            total.update(part.encode())
            continue
        for file in sorted(p for p in part.rglob("*") if p.is_file()) if part.is_dir() else [part]:
            total.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


def fingerprint(files: list[Path]) -> list[list[int]] | None:
    """Returns size and time of each file, following links, or None when one is missing."""
    try:
        return [[f.stat().st_size, f.stat().st_mtime_ns] for f in files]
    except FileNotFoundError:
        return None


def _stamps() -> dict[str, Any]:
    try:
        stamps = json.loads(STAMPS.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return stamps if isinstance(stamps, dict) else {}


def stamped(name: str) -> dict[str, Any]:
    """Returns what `stamp` last wrote about this name; empty if nothing."""
    entry = _stamps().get(name)
    return entry if isinstance(entry, dict) else {}


def stamp(name: str, wanted: str, files: list[Path]) -> None:
    """Remembers that these files are what was wanted."""
    entry = {"wanted": wanted, "files": fingerprint(files)}
    STAMPS.parent.mkdir(parents=True, exist_ok=True)
    replacement = STAMPS.with_suffix(".new")
    replacement.write_text(json.dumps({**_stamps(), name: entry}, indent=1))
    replacement.replace(STAMPS)
