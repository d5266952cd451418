"""A .toolchain of the test's own."""

import os
from pathlib import Path

import pytest

from toolchain import golang, project, provider, release, tools


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A .toolchain of the test's own, with nothing on PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "path").mkdir()
    for module in (project, tools, release, provider):
        monkeypatch.setattr(module, "BIN", tmp_path / "bin", raising=False)
        monkeypatch.setattr(module, "TOOLCHAIN", tmp_path, raising=False)
    monkeypatch.setattr(project, "STAMPS", tmp_path / "stamps.json")
    monkeypatch.setattr(provider, "PULUMI_HOME", tmp_path / "pulumi")
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "path"), "/usr/bin", "/bin"]))
    return tmp_path


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The titles of what was built from Go modules, by a stand-in that only writes the file."""
    titles: list[str] = []

    def build(title: str, source: str, package: str, target: Path, **_: object) -> None:
        titles.append(title)
        target.parent.mkdir(exist_ok=True)
        target.write_text(f"built from {source}")

    monkeypatch.setattr(golang, "build", build)
    return titles
