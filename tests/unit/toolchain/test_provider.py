"""The Kubernetes provider is a plugin of this project and never a file on PATH."""

from pathlib import Path

import pytest

from components import versions
from toolchain import golang, release
from toolchain.provider import NAME, Provider

PLUGIN = Path("plugins") / f"resource-kubernetes-v{versions.KUBERNETES_PROVIDER}" / NAME


@pytest.fixture
def provider(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """A provider whose engine only copies what it is told to install."""
    plugin = folder / "pulumi" / PLUGIN
    pulumi = folder / "bin" / "pulumi"
    pulumi.write_text(
        f"""#!/bin/sh
echo "$@" >> {folder / "asked"}
mkdir -p {plugin.parent}
case "$*" in *--file*) cp "$7" {plugin};; *) echo downloaded > {plugin};; esac
"""
    )
    pulumi.chmod(0o755)
    monkeypatch.setattr(release, "unreachable", lambda url: f"cannot download {url}")
    return Provider(versions.KUBERNETES_PROVIDER)


def _put_by_hand(folder: Path, version: str) -> None:
    content = f"dep\t{golang.PROVIDER_MODULE}\t{version}\th1:abc=\n"
    (folder / "bin" / NAME).write_text(content)


def test_one_in_the_tools_folder_is_installed_and_taken_off_path(folder: Path, provider: Provider) -> None:
    _put_by_hand(folder, golang.required("kubernetes-provider", golang.PROVIDER_MODULE))
    assert not provider.ready()
    assert provider.requires() == []
    provider.obtain()
    assert provider.ready()
    assert golang.PROVIDER_MODULE in (folder / "pulumi" / PLUGIN).read_text()
    assert not (folder / "bin" / NAME).exists()


def test_one_that_comes_back_into_the_tools_folder_is_taken_off_again(
    folder: Path, provider: Provider
) -> None:
    for _ in range(2):
        _put_by_hand(folder, golang.required("kubernetes-provider", golang.PROVIDER_MODULE))
        assert not provider.ready()
        provider.obtain()
    assert not (folder / "bin" / NAME).exists()


def test_another_version_in_the_tools_folder_is_not_installed(
    folder: Path, provider: Provider, built: list[str]
) -> None:
    _put_by_hand(folder, "v4.0.0-20250101000000-000000000000")
    assert provider.requires() == ["go"]
    provider.obtain()
    assert built == [f"{NAME} {versions.KUBERNETES_PROVIDER}"]
    assert (folder / "pulumi" / PLUGIN).read_text() == "built from kubernetes-provider"
    assert not (folder / "bin" / NAME).exists()


def test_the_released_plugin_is_downloaded_by_the_engine(
    folder: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch, built: list[str]
) -> None:
    monkeypatch.setattr(release, "unreachable", lambda _: None)
    assert provider.requires() == []
    provider.obtain()
    assert (folder / "pulumi" / PLUGIN).read_text() == "downloaded\n"
    assert (
        f"kubernetes v{versions.KUBERNETES_PROVIDER} --server https://get.pulumi.com"
        in (folder / "asked").read_text()
    )
    assert built == []
