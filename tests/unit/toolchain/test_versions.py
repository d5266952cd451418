"""Every version is stated once; what must repeat it says the same."""

import re
import tomllib

import pytest

from components import versions
from toolchain import catalogue, golang, project
from toolchain.project import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def stated() -> list[str]:
    """Every package that pyproject.toml asks for, with its bounds."""
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    named = [*PYPROJECT["project"]["dependencies"], *(one for extra in extras for one in extra)]
    return [one for one in named if not one.startswith("shared-observability[")]


@pytest.mark.parametrize(
    ("source", "module", "version"),
    [
        ("pulumi", catalogue.CLI, f"v{versions.PULUMI_CLI}"),
        ("pulumi", catalogue.SDK, f"v{versions.PULUMI_CLI}"),
        ("simulator", "k8s.io/kubernetes", f"v{versions.KUBERNETES}"),
        ("simulator", "go.etcd.io/etcd/server/v3", f"v{versions.ETCD}"),
        ("kwok", catalogue.KWOK, f"v{versions.KWOK}"),
        ("alloy-syntax", "github.com/grafana/alloy/syntax", f"v{versions.ALLOY_SYNTAX}"),
        ("actionlint", catalogue.ACTIONLINT, f"v{versions.ACTIONLINT}"),
    ],
)
def test_go_modules_are_pinned_to_the_stated_versions(source: str, module: str, version: str) -> None:
    assert golang.required(source, module) == version


def test_the_prometheus_module_is_the_one_of_the_stated_release() -> None:
    major, minor, patch = versions.PROMETHEUS.split(".")
    # Prometheus 3.16.0 is published as the Go module v0.316.0.
    assert golang.required("prometheus", catalogue.PROMETHEUS) == f"v0.{major}{int(minor):02}.{patch}"


def test_the_provider_module_is_said_to_be_the_stated_release() -> None:
    text = (project.SOURCES / "kubernetes-provider" / "go.mod").read_text()
    assert f"// Release {versions.KUBERNETES_PROVIDER}:" in text


def test_the_python_packages_are_pinned_to_the_stated_versions() -> None:
    dependencies = {d.partition("==")[0]: d.partition("==")[2] for d in stated()}
    assert dependencies["pulumi"] == versions.PULUMI_SDK
    assert dependencies["pulumi-kubernetes"] == versions.KUBERNETES_PROVIDER
    assert dependencies["pulumi-policy"] == versions.PULUMI_POLICY


def test_every_locked_package_has_a_hash_and_no_download_address() -> None:
    text = (ROOT / "requirements.txt").read_text()
    packages = re.split(r"\n(?=\S)", re.sub(r"(?m)^\s*#.*\n?", "", text).strip())
    assert len(packages) > 20
    assert [p.split()[0] for p in packages if "--hash=sha256:" not in p] == []
    assert "://" not in text
    assert not re.search(r"--(extra-)?index-url|--find-links|--trusted-host", text)


def test_the_lock_file_holds_every_stated_dependency() -> None:
    locked = dict(re.findall(r"(?m)^([a-z0-9._-]+)==(\S+)", (ROOT / "requirements.txt").read_text()))
    for requirement in stated():
        name, exact, version = requirement.partition("==")
        name = re.split(r"[<>=\[]", name)[0].lower()
        assert name in locked, f"run `make lock`: {requirement} is missing"
        assert not exact or locked[name] == version, (
            f"run `make lock`: {requirement} is locked at {locked[name]}"
        )
