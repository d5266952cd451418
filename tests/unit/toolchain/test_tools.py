"""When a tool counts as being in place, and which way to it is taken."""

from pathlib import Path

import pytest

from components import versions
from toolchain import catalogue, tools
from toolchain.tools import Binary, Tool


def _binary(module: str, version: str) -> bytes:
    """Return bytes as Go's linker leaves them: the versions of all modules, in tabs."""
    return b"\x7fELF\0\0dep\t%s\t%s\th1:abc=\nbuild\t-trimpath=true\n" % (module.encode(), version.encode())


def _tool(**changes: object) -> Tool:
    binary = Binary("kwok", f"{catalogue.KWOK}/cmd/kwok", catalogue.KWOK, 60)
    return Tool("kwok", versions.KWOK, "kwok", (binary,), **changes)  # type: ignore[arg-type]


def _script(file: Path, text: str) -> None:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def test_a_pinned_binary_that_was_put_there_by_hand_is_taken_over(folder: Path) -> None:
    (folder / "bin" / "kwok").write_bytes(_binary(catalogue.KWOK, f"v{versions.KWOK}"))
    assert _tool().ready()


def test_a_binary_of_another_version_is_not(folder: Path) -> None:
    (folder / "bin" / "kwok").write_bytes(_binary(catalogue.KWOK, "v0.7.9"))
    assert not _tool().ready()
    # Not even one whose version only begins alike.
    (folder / "bin" / "kwok").write_bytes(_binary(catalogue.KWOK, f"v{versions.KWOK}9"))
    assert not _tool().ready()


def test_a_tool_is_made_anew_when_its_sources_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "bin" / "kwok").write_bytes(_binary(catalogue.KWOK, f"v{versions.KWOK}"))
    assert _tool().ready()
    monkeypatch.setattr(tools, "digest", lambda *_: "other sources")
    assert not _tool().ready()


def test_the_pinned_version_on_path_is_used(folder: Path) -> None:
    _script(folder / "path" / "kwok", f"echo kwok version v{versions.KWOK}")
    tool = _tool(version_command=("--version",))
    assert tool.requires() == []
    tool.obtain()
    assert (folder / "bin" / "kwok").resolve() == (folder / "path" / "kwok").resolve()
    assert tool.ready()


def test_another_version_on_path_is_not_used(folder: Path, built: list[str]) -> None:
    _script(folder / "path" / "kwok", "echo kwok version v0.1.2")
    tool = _tool(version_command=("--version",))
    assert tool.requires() == ["go"]
    tool.obtain()
    assert built == [f"kwok {versions.KWOK}"]
