"""The tools by the part of the project that needs them."""

from __future__ import annotations

from typing import Any

from toolchain.tools import Binary, Script, Tool

SDK = "github.com/pulumi/pulumi/sdk/v3"
CLI = "github.com/pulumi/pulumi/pkg/v3"
KWOK = "sigs.k8s.io/kwok"
PROMETHEUS = "github.com/prometheus/prometheus"
LABEL_PROXY = "github.com/prometheus-community/prom-label-proxy"
ACTIONLINT = "github.com/rhysd/actionlint"


def pulumi(version: str) -> Tool:
    """Returns the engine with its Python language host, which Pulumi's release brings along."""
    # The host of toolchain/src/pulumi is used where only Go modules can be had: Pulumi's own is not published as one.
    return Tool(
        name="pulumi",
        version=version,
        source="pulumi",
        binaries=(
            Binary("pulumi", f"{CLI}/cmd/pulumi", CLI, 230, f"{SDK}/go/common/version.Version=v{version}"),
            Binary("pulumi-language-python", "./cmd/pulumi-language-python", SDK, 15),
        ),
        scripts=(Script("pulumi-language-python-exec", SDK, "python/cmd/pulumi-language-python-exec"),),
        version_command=("version",),
        released=True,
    )


def cluster_tools(pinned: dict[str, Any]) -> list[Tool]:
    """Returns the simulated cluster: a real control plane and what plays its kubelets."""
    kubedev = Binary("kubedev", "./cmd/kubedev", "k8s.io/kubernetes", 300)
    kwok = Binary("kwok", f"{KWOK}/cmd/kwok", KWOK, 60)
    return [
        Tool("kubedev", pinned["KUBERNETES"], "simulator", (kubedev,)),
        Tool("kwok", pinned["KWOK"], "kwok", (kwok,), version_command=("--version",)),
    ]


def service_tools(pinned: dict[str, Any]) -> list[Tool]:
    """Returns the servers and parsers that read the rendered configurations, and what reads the workflows."""
    version = pinned["PROMETHEUS"]
    variable = f"github.com/prometheus/common/version.Version={version}"
    servers = (
        Binary("prometheus", f"{PROMETHEUS}/cmd/prometheus", PROMETHEUS, 270, variable),
        Binary("promtool", f"{PROMETHEUS}/cmd/promtool", PROMETHEUS, 30, variable),
    )
    syntax = Binary("alloy-syntax", ".", "github.com/grafana/alloy/syntax", 5)
    label_proxy = Binary("prom-label-proxy", LABEL_PROXY, LABEL_PROXY, 25)
    actionlint = Binary("actionlint", f"{ACTIONLINT}/cmd/actionlint", ACTIONLINT, 10)
    return [
        Tool("actionlint", pinned["ACTIONLINT"], "actionlint", (actionlint,), version_command=("-version",)),
        Tool("prom-label-proxy", pinned["PROM_LABEL_PROXY"], "label-proxy", (label_proxy,)),
        Tool("prometheus", version, "prometheus", servers, version_command=("--version",)),
        Tool("alloy-syntax", pinned["ALLOY_SYNTAX"], "alloy-syntax", (syntax,)),
    ]
