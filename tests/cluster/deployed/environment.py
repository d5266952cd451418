"""The environment of this folder as plain data: what `sim` ships, and one of everything that it does not have."""

from components.settings.model import Settings
from simulator import nodes
from simulator.api import Object
from tests.support.deployment import shipped
from tests.support.environments import KEY, changed, parsed

# What the EBS driver's nodes carry until its own pod runs on them.
STARTUP_TAINT = {"key": "ebs.csi.aws.com/agent-not-ready", "effect": "NoExecute"}
SMALL_PODS = 6
GROUPS: dict[str, Object] = {
    "spot": {"kind": "nodePool", "instanceTypes": ["m5.large"], "nodes": {"min": 1, "max": 5}},
    "general-purpose": {"kind": "autoMode", "instanceTypes": ["c6a.large"], "nodes": 1},
    "starting": {"instanceTypes": ["m5.large"], "nodes": 1, "startupTaints": [STARTUP_TAINT]},
    # Few slots, so that a test can fill a node.
    "small": {
        "kind": "other",
        "selector": {"key": "example.com/size", "values": ["small"]},
        "maxPods": SMALL_PODS,
        "systemPods": 0,
        "nodes": {"min": 1, "max": 3},
    },
}
ALLOWED_CLASS, OTHER_CLASS = "team-high", "team-other"
OWN_PODS = 2  # its Grafana and its collector
EDGE: Object = {"pods": 6, "logs": "api", "priorityClasses": [ALLOWED_CLASS]}


def raw() -> Object:
    """All of it; the cluster's target is the one that `sim` ships."""
    groups = [(f"cluster.nodeGroups.{name}", group) for name, group in GROUPS.items()]
    return changed(shipped(), *groups, ("layer.protection", True), ("tenants.edge", EDGE))


def settings() -> Settings:
    """The same, validated."""
    return parsed({**raw(), "gatewayKey": KEY}, "sim")


def declared_nodes() -> list[Object]:
    """The nodes that agents belong on; the one of group `starting` still carries its startup taint."""
    cluster = settings().cluster
    starting = nodes.of_group("starting", cluster.node_groups["starting"], 0, starting=True)
    others = [node for node in nodes.of_cluster(cluster) if node["metadata"]["name"] != "starting-0"]
    return [*others, starting]


def other_nodes() -> list[Object]:
    """Nodes without agents: Fargate, Windows with the label of a declared group, and a group that nobody declared."""
    web = settings().cluster.node_groups["web"]
    return [nodes.fargate(), nodes.windows("windows-0", "web", web), nodes.undeclared()]


def priority_class(name: str, value: int) -> Object:
    """A PriorityClass of the cluster's administrators."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }
