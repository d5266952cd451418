"""The layer, composed from its parts: each is there only if its signal is on."""

import pulumi

from components import names
from components.context import Context
from components.layer import parts
from components.layer.admission import AdmissionGuards
from components.layer.gateway import Gateway
from components.layer.host_metrics import NodeExporter
from components.layer.kube_state_metrics import KubeStateMetrics
from components.layer.log_store import LokiStore
from components.layer.metrics_store import PrometheusStore
from components.layer.namespaces import AgentsPriority, LayerNamespaces
from components.layer.network_policies import NetworkPolicies
from components.layer.node_agents import NodeAgents
from components.layer.platform_grafana import PlatformGrafana
from components.layer.versioned_config import VersionedConfig
from components.settings.admission import stated


class SharedLayer(pulumi.ComponentResource):
    """What runs once per cluster: node agents in one namespace, stores in the other."""

    config_history: dict[str, list[dict[str, str]]]
    """Configurations to keep declared in the next deployment, by name."""

    gateway: pulumi.Resource | None
    """What tenants read through; a credential of theirs is known here before they have it."""

    def __init__(self, name: str, context: Context, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("shared-observability:layer:SharedLayer", name, None, opts)
        self._context = context
        self._namespaces = LayerNamespaces(
            f"{name}-namespaces", context, opts=pulumi.ResourceOptions(parent=self)
        )
        self._priority = AgentsPriority(f"{name}-priority", context, opts=pulumi.ResourceOptions(parent=self))
        NetworkPolicies(
            f"{name}-network-policies",
            context,
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[self._namespaces.layer, self._namespaces.nodes]
            ),
        )
        self._declare_guards(name)
        metrics, logs = self._declare_metrics(name), self._declare_logs(name)
        stores: list[pulumi.Resource] = [store for store in (metrics, logs) if store is not None]
        configs = [
            *([metrics.config] if metrics else []),
            *(logs.configs if logs else []),
            *self._declare_agents(name, stores),
            *self._declare_gateway(name, stores),
            *self._declare_dashboards(),
        ]
        self.config_history = {config.key: config.history for config in configs}
        self.register_outputs({})

    def _declare_guards(self, name: str) -> None:
        guards = stated(self._context.settings.layer.admission)
        if guards:
            options = pulumi.ResourceOptions(parent=self)
            AdmissionGuards(f"{name}-guards", self._context, guards, opts=options)

    def _declare_agents(self, name: str, stores: list[pulumi.Resource]) -> list[VersionedConfig]:
        agents = parts.node_agents(self._context.settings)
        options = pulumi.ResourceOptions(parent=self, depends_on=[self._namespaces.nodes, self._priority])
        if names.NODE_EXPORTER in agents:
            NodeExporter(f"{name}-node-exporter", self._context, opts=options)
        if names.ALLOY not in agents:
            return []
        return [NodeAgents(f"{name}-node-agents", self._context, stores=stores, opts=options).config]

    def _declare_metrics(self, name: str) -> PrometheusStore | None:
        store = self._context.settings.layer.metrics
        if store == "off":
            return None
        options = pulumi.ResourceOptions(parent=self, depends_on=[self._namespaces.layer])
        KubeStateMetrics(f"{name}-kube-state-metrics", self._context, opts=options)
        return PrometheusStore(f"{name}-metrics-store", self._context, store, opts=options)

    def _declare_logs(self, name: str) -> LokiStore | None:
        store = self._context.settings.layer.logs
        if store == "off":
            return None
        options = pulumi.ResourceOptions(parent=self, depends_on=[self._namespaces.layer])
        return LokiStore(f"{name}-log-store", self._context, store, opts=options)

    def _declare_gateway(self, name: str, stores: list[pulumi.Resource]) -> list[VersionedConfig]:
        self.gateway = None
        if names.GATEWAY not in parts.deployments(self._context.settings):
            return []
        options = pulumi.ResourceOptions(parent=self, depends_on=[self._namespaces.layer])
        gateway = Gateway(f"{name}-gateway", self._context, stores=stores, opts=options)
        self.gateway = gateway.deployment
        return [gateway.config]

    def _declare_dashboards(self) -> list[VersionedConfig]:
        if self.gateway is None or not self._context.settings.layer.dashboards:
            return []
        options = pulumi.ResourceOptions(parent=self, depends_on=[self._namespaces.layer, self.gateway])
        return [PlatformGrafana(self._context, opts=options).config]
