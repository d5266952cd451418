"""The pod budget of an environment: which pods there are, shown at every preview, refused where they do not fit."""

from typing import Any

import pulumi

from components import names
from components.cluster.pod_budget import AgentsPerNode, LayerPods, PodBudget, budget
from components.cluster.pod_budget_output import as_output
from components.cluster.pod_budget_table import refusal, table
from components.cluster.pod_remedies import remedies
from components.layer import parts
from components.settings.load import ALREADY_SHOWN
from components.settings.model import Settings


def agents_per_node(settings: Settings) -> AgentsPerNode:
    """Node agents that the layer puts on each declared node; none of them surges."""
    agents = parts.node_agents(settings)
    return AgentsPerNode(pods=len(agents), host_network=int(names.NODE_EXPORTER in agents))


def layer_pods(settings: Settings) -> list[LayerPods]:
    """The layer's other pods, at their most: while the gateway is rolled out it has one more."""
    return [LayerPods(name, parts.pods_at_most(name, settings)) for name in parts.deployments(settings)]


def pod_budget(settings: Settings) -> PodBudget:
    """The budget of an environment."""
    return budget(settings, agents_per_node(settings), layer_pods(settings))


def show_or_exit(settings: Settings) -> dict[str, Any]:
    """Shows the table, and gives the output `podBudget`.

    Raises:
        SystemExit: with status 32 if the pods do not fit, after showing what is too small and what would help.
    """
    found = pod_budget(settings)
    pulumi.log.info(table(found))
    if not found.fits:
        pulumi.log.error(refusal(found, remedies(settings, agents_per_node(settings), layer_pods(settings))))
        raise SystemExit(ALREADY_SHOWN)
    return as_output(found)
