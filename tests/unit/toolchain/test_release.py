"""Pulumi's release is taken where it can be had, and what cannot be had costs a line and no wait."""

import http.server
import io
import os
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from typing_extensions import override

from components import versions
from toolchain import catalogue, golang, release


@pytest.fixture
def host(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A download host on loopback that serves a folder."""
    served = folder / "served"
    (served / "sdk").mkdir(parents=True)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(served))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(release, "HOST", f"http://127.0.0.1:{server.server_address[1]}")
        yield served
        server.shutdown()


def _publish(served: Path, names: list[str]) -> None:
    url = release.cli_url(versions.PULUMI_CLI)
    with tarfile.open(served / "sdk" / url.rpartition("/")[2], "w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(f"pulumi/{name}")
            content = f"#!/bin/sh\necho v{versions.PULUMI_CLI}\n".encode()
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_the_engine_is_taken_from_pulumis_release_with_its_language_host(folder: Path, host: Path) -> None:
    names = ["pulumi", "pulumi-language-python", "pulumi-language-python-exec"]
    _publish(host, [*names, "pulumi-language-go"])
    tool = catalogue.pulumi(versions.PULUMI_CLI)
    assert tool.requires() == []
    tool.obtain()
    assert sorted(p.name for p in (folder / "bin").iterdir()) == names
    assert all(os.access(folder / "bin" / n, os.X_OK) for n in names)
    assert tool.ready()


@pytest.mark.parametrize("published", [[], ["pulumi"]], ids=["no release", "a release without the host"])
def test_a_failed_download_is_told_in_one_line_and_the_engine_is_built(
    published: list[str],
    folder: Path,
    host: Path,
    built: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if published:
        _publish(host, published)
    carried = folder / "python" / "cmd" / "pulumi-language-python-exec"
    carried.parent.mkdir(parents=True)
    carried.write_text("executor")
    monkeypatch.setattr(golang, "module_folder", lambda *_: folder)
    catalogue.pulumi(versions.PULUMI_CLI).obtain()
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 1
    assert told[0].endswith("building it from Go modules instead")
    assert built == [f"pulumi {versions.PULUMI_CLI}", f"pulumi-language-python {versions.PULUMI_CLI}"]


def test_a_host_that_cannot_be_reached_is_an_answer_and_not_an_exception() -> None:
    assert "cannot download" in (release.unreachable("http://127.0.0.1:9/none") or "")
