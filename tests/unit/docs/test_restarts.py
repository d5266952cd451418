"""The table in docs/architecture.md: which pods are replaced by which change, asked of the program."""

import re
from typing import Any

import pytest

from commands.docs import DOCS
from tests.support.environments import changed
from tests.unit.components.environments import KUBECONFIG, Environment, Raw, dev, environment

Change = tuple[str, Any]
# One tenant has a collector, which no other row of the settings as shipped has.
BASE = changed(dev(), ("cluster.target", KUBECONFIG), ("tenants.fargate", {"pods": 5, "logs": "api"}))
GPU = {"instanceTypes": ["g5.xlarge"], "nodes": 1}
# By the first cell of a row: the changes that it speaks of, each by itself.
CHANGES: dict[str, list[Change]] = {
    "a tenant is added, removed, renamed, or gets another namespace": [
        ("tenants.quagga", {"pods": 5}),
        ("tenants.shop", None),
        ("tenants.search.namespaces", {"search-api": {"pods": 5}, "search-web": {"pods": 5}}),
    ],
    "`tenants.<tenant>.pods`": [("tenants.shop.pods", 121)],
    "`tenants.<tenant>.limits`, `tenants.<tenant>.retention`": [
        ("tenants.shop.limits", {"logRateMB": 8}),
        ("tenants.shop.retention", "3d"),
    ],
    "`tenants.<tenant>.logs`, `tenants.<tenant>.metrics`": [
        ("tenants.shop.logs", "off"),
        ("tenants.shop.metrics", False),
    ],
    "`tenants.<tenant>.runsOn`": [("tenants.fargate.runsOn", ["web"])],
    "`tenants.<tenant>.tokenGeneration`": [
        ("tenants.shop.tokenGeneration", 2),
        ("tenants.fargate.tokenGeneration", 2),
    ],
    "`tenants.<tenant>.podSecurity`, `tenants.<tenant>.priorityClasses`, `tenants.<tenant>.labels`": [
        ("tenants.shop.podSecurity", "baseline"),
        ("tenants.shop.priorityClasses", ["team.high"]),
        ("tenants.shop.labels", {"example.com/cost-centre": "42"}),
    ],
    "`tenants.<tenant>.dashboards`": [("tenants.shop.dashboards", {"host": "shop.example.com"})],
    "`layer.metrics.retention`, `layer.metrics.samplesPerTarget`": [
        ("layer.metrics.retention", "20d"),
        ("layer.metrics.samplesPerTarget", 30_000),
    ],
    "`layer.metrics.scrapeInterval`": [("layer.metrics.scrapeInterval", "30s")],
    "`layer.gateway`": [("layer.gateway", {"replicas": 1, "requestsPerSecond": 9})],
    "`layer.dashboards`, `cluster.networkPolicies`": [
        ("layer.dashboards", True),
        ("cluster.networkPolicies", "enforced"),
    ],
    "`layer.metrics.storage`": [("layer.metrics.storage", "60Gi")],
    "`layer.logs.retention`": [("layer.logs.retention", "8d")],
    "`layer.logs.store.size`": [("layer.logs.store", {"kind": "filesystem", "size": "60Gi"})],
    "`layer.hostMetrics`": [("layer.hostMetrics", "none")],
    "`layer.hostMetrics: alloy`": [("layer.hostMetrics", "alloy")],
    "`layer.runsOn`": [("layer.runsOn", ["web"])],
    "`layer.agents.preempt`": [("layer.agents", {"preempt": False})],
    "`layer.agents.maxUnavailable`": [("layer.agents", {"maxUnavailable": 3})],
    "`layer.imageRegistry`": [("layer.imageRegistry", "registry.example.com/mirror")],
    "`layer.protection`": [("layer.protection", True)],
    "`cluster.name`": [("cluster.name", "other")],
    "`cluster.nodeGroups.<group>.nodes`, `cluster.nodeGroups.<group>.instanceTypes`": [
        ("cluster.nodeGroups.web.nodes", 6),
        ("cluster.nodeGroups.web.instanceTypes", ["m5.large"]),
    ],
    "a node group without taints is added or removed": [("cluster.nodeGroups.gpu", GPU)],
    "a node group with taints is added or removed": [
        ("cluster.nodeGroups.gpu", {**GPU, "taints": [{"key": "gpu", "effect": "NoSchedule"}]}),
        ("cluster.nodeGroups.batch", None),
    ],
    "`cluster.nodeGroups.<group>.taints`": [
        ("cluster.nodeGroups.batch.taints", [{"key": "other", "effect": "NoSchedule"}])
    ],
    "`cluster.nodeGroups.<group>.startupTaints`, `cluster.nodeGroups.<group>.selector`": [
        (
            "cluster.nodeGroups.web.startupTaints",
            [{"key": "node.cilium.io/agent-not-ready", "effect": "NoExecute"}],
        ),
        (
            "cluster.nodeGroups.batch.selector",
            {"key": "eks.amazonaws.com/nodegroup", "values": ["batch-2026"]},
        ),
    ],
    "`gatewayKey`": [("gatewayKey", "another-key-of-at-least-32-bytes!")],
}


def table() -> dict[str, str]:
    """What rolls, by change, as the page says it."""
    section = (DOCS / "architecture.md").read_text(encoding="utf-8").partition("## What restarts")[2]
    rows = re.findall(r"^\| (.+?) \| (.*?) \| .*\|$", section.partition("\n## ")[0], re.MULTILINE)
    return {change: rolls for change, rolls in rows if change not in ("change", "---")}


def rolled(before: Environment, after: Environment) -> set[str]:
    """Names of the workloads whose pods are replaced."""
    templates, there = (
        {(o.namespace, o.name): o.inputs["spec"]["template"] for o in found.of("DaemonSet", "Deployment")}
        for found in (before, after)
    )
    return {key[1] for key, template in templates.items() if key in there and there[key] != template}


def test_the_table_speaks_of_these_changes() -> None:
    assert set(table()) == set(CHANGES)


@pytest.mark.parametrize("row", CHANGES)
def test_what_the_table_says_rolls(row: str) -> None:
    said = set(table()[row].split(", ")) - {"nothing"}
    raw: Raw = BASE
    for change in CHANGES[row]:
        assert rolled(environment(raw), environment(changed(raw, change))) == said, change
