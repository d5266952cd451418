"""The pod budget of an environment: which pods there are, shown at every preview, refused where they do not fit."""

from typing import Any

import pulumi

from components import names
from components.cluster.pod_budget import AgentsPerNode, LayerPods, PodBudget, budget
from components.cluster.pod_budget_output import as_output
from components.cluster.pod_budget_table import refusal, table
from components.cluster.pod_remedies import remedies
from components.settings.load import ALREADY_SHOWN
from components.settings.model import Settings


def agents_per_node(settings: Settings) -> AgentsPerNode:
    """Node agents that the layer puts on each declared node; none of them surges."""
    exporter = settings.layer.host_metrics == "node-exporter" and settings.layer.metrics != "off"
    alloy = settings.layer.logs != "off"
    return AgentsPerNode(pods=exporter + alloy, host_network=int(exporter))


def layer_pods(settings: Settings) -> list[LayerPods]:
    """The layer's other pods, one replica each; a rollout replaces them one for one."""
    metrics = [names.PROMETHEUS, names.KUBE_STATE_METRICS] if settings.layer.metrics != "off" else []
    logs = [names.LOKI] if settings.layer.logs != "off" else []
    return [LayerPods(name, 1) for name in (*metrics, *logs)]


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
