"""The layer's two namespaces, and the PriorityClass of the node agents."""

from collections.abc import Mapping

import pulumi
from pulumi_kubernetes.core.v1 import Namespace
from pulumi_kubernetes.scheduling.v1 import PriorityClass

from components.context import Context
from components.layer.admission import exemptions
from components.names import (
    AGENTS_PRIORITY,
    AGENTS_PRIORITY_CLASS,
    AGENTS_PRIORITY_CLASS_WAITING,
    LAYER_NAMESPACE,
    NODES_NAMESPACE,
)
from components.settings.admission import stated


def pod_security_labels(level: str) -> dict[str, str]:
    """Labels that enforce a Pod Security level and say at `kubectl apply` what a workload would break."""
    return {f"pod-security.kubernetes.io/{mode}": level for mode in ("enforce", "warn", "audit")}


class LayerNamespaces(pulumi.ComponentResource):
    """`observability` (restricted) and `observability-nodes` (privileged: node agents read logs by hostPath)."""

    layer: Namespace
    """Stores and their helpers."""

    nodes: Namespace
    """The node agents and nothing else."""

    def __init__(self, name: str, context: Context, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("shared-observability:layer:LayerNamespaces", name, None, opts)
        self._context = context
        passed = exemptions(stated(context.settings.layer.admission))
        self.layer = self._namespace(LAYER_NAMESPACE, "restricted", passed)
        self.nodes = self._namespace(NODES_NAMESPACE, "privileged")
        self.register_outputs({})

    def _namespace(self, name: str, level: str, annotations: Mapping[str, str] | None = None) -> Namespace:
        return Namespace(
            name,
            metadata=self._context.owner.metadata(
                name, labels=pod_security_labels(level), annotations=annotations or None
            ),
            opts=pulumi.ResourceOptions(parent=self, protect=self._context.settings.layer.protection),
        )


def priority_class_name(context: Context) -> str:
    """Policy and value of a PriorityClass cannot change, so each policy has a name of its own."""
    return AGENTS_PRIORITY_CLASS if context.settings.layer.agents.preempt else AGENTS_PRIORITY_CLASS_WAITING


class AgentsPriority(pulumi.ComponentResource):
    """Priority of the node agents: above every class that a tenant may use, below `system-cluster-critical`."""

    def __init__(self, name: str, context: Context, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("shared-observability:layer:AgentsPriority", name, None, opts)
        preempt = context.settings.layer.agents.preempt
        class_name = priority_class_name(context)
        PriorityClass(
            class_name,
            metadata=context.owner.metadata(class_name),
            value=AGENTS_PRIORITY,
            global_default=False,
            preemption_policy="PreemptLowerPriority" if preempt else "Never",
            description="Node agents of shared-observability: a node without them is silent.",
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})
