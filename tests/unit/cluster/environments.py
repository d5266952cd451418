"""Environments whose pods fit or do not, as plain data, and random ones."""

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from components.cluster.pod_budget import AgentsPerNode, LayerPods, PodBudget, budget
from components.settings.model import Settings
from tests.support.environments import INCIDENT, changed, parsed

AGENTS = AgentsPerNode(pods=2, host_network=1)
LAYER = (LayerPods("prometheus", 1), LayerPods("loki", 1), LayerPods("kube-state-metrics", 1))
TYPES = ("t3.small", "t3.medium", "t3.large", "m4.large", "m5.xlarge", "m5.4xlarge", "m7g.medium")
# Each example parses and solves several environments, 5 ms each: the test's own time, not a slow generator's.
FEW = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TAINT = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}


def environment(groups: dict[str, Any], tenants: dict[str, Any], **layer: Any) -> dict[str, Any]:
    """An environment with exactly these groups and tenants."""
    raw = changed(INCIDENT, ("cluster.nodeGroups", groups), ("tenants", tenants))
    raw["layer"] = {"protection": "off"} | layer
    return raw


def solved(raw: dict[str, Any], agents: AgentsPerNode = AGENTS) -> PodBudget:
    """The budget of an environment given as plain data."""
    return budget(parsed(raw), agents, LAYER)


def settings_of(raw: dict[str, Any]) -> Settings:
    """The settings of an environment given as plain data."""
    return parsed(raw)


@st.composite
def node_groups(draw: st.DrawFn, *, taints: bool = True) -> dict[str, Any]:
    """A group of any kind, fixed or scaled, with one or two types or a stated maxPods."""
    low = draw(st.integers(0, 3))
    group: dict[str, Any] = {
        "kind": draw(st.sampled_from(["managed", "nodePool", "autoMode"])),
        "instanceTypes": draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True)),
        "nodes": draw(st.sampled_from([low + 1, {"min": low, "max": low + 2}])),
        "customNetworking": draw(st.booleans()),
    }
    if draw(st.booleans()):
        group["podAddresses"] = draw(st.sampled_from(["secondary", "prefix"]))
    if draw(st.integers(0, 4)) == 0:
        group["maxPods"] = draw(st.integers(1, 120))
    if taints and draw(st.integers(0, 3)) == 0:
        group["taints"] = [TAINT]
    return group


@st.composite
def environments(draw: st.DrawFn) -> dict[str, Any]:
    """Up to four groups, the first without taints, and up to five tenants with any `runsOn`."""
    names = ["web", "workers", "batch", "spot"][: draw(st.integers(1, 4))]
    groups = {name: draw(node_groups(taints=name != "web")) for name in names}
    runs_on = st.lists(st.sampled_from(names), unique=True)
    tenants: dict[str, Any] = {}
    for name in ["shop", "billing", "search", "mail", "wiki"][: draw(st.integers(0, 5))]:
        pods = draw(st.integers(3, 120))
        split = draw(st.integers(0, 3)) == 0
        spaces = {f"{name}-a": {"pods": pods}, f"{name}-b": {"pods": draw(st.integers(3, 60))}}
        tenants[name] = ({"namespaces": spaces} if split else {"pods": pods}) | {"runsOn": draw(runs_on)}
    return environment(groups, tenants, runsOn=draw(runs_on))
