"""One tenant: its namespaces, its own pods and what it reads with. No DaemonSet, cluster-wide right or hostPath."""

from collections.abc import Iterator, Mapping

import pulumi

from components.context import Context
from components.layer.versioned_config import VersionedConfig
from components.settings.tenant import pods_by_namespace
from components.tenant import registration, signals
from components.tenant.collector import Collector
from components.tenant.grafana import TenantGrafana
from components.tenant.namespace import TenantNamespace


class TenantStack(pulumi.ComponentResource):
    """One app team's slice of the cluster."""

    config_history: dict[str, list[dict[str, str]]]
    """Configurations of its own pods, to keep declared in the next deployment."""

    def __init__(
        self,
        name: str,
        *,
        context: Context,
        pod_security: Mapping[str, str],
        gateway: pulumi.Resource | None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares the tenant's namespaces and what is in them.

        Args:
            name: of the tenant.
            context: of the environment, with the tenant's settings.
            pod_security: level to enforce, by namespace; absent where the namespace keeps its own.
            gateway: what it reads and pushes through, which knows a new token before the tenant has it: a collector
                drops what is answered with 401. None where there is nothing to read.
            opts: options of this component.
        """
        super().__init__("shared-observability:tenant:TenantStack", name, None, opts)
        self._name, self._context, self._tenant = name, context, context.settings.tenants[name]
        self._gateway = [gateway] if gateway else []
        options = pulumi.ResourceOptions(parent=self)
        labelled = {
            namespace: TenantNamespace(
                namespace,
                self._tenant,
                tenant_name=name,
                pods=pods,
                level=pod_security.get(namespace),
                context=context,
                opts=options,
            )
            for namespace, pods in pods_by_namespace(name, self._tenant).items()
        }
        configs = [*self._collectors(labelled), *self._readers(labelled)]
        self.config_history = {config.key: config.history for config in configs}
        self.register_outputs({})

    def _collectors(self, labelled: Mapping[str, TenantNamespace]) -> Iterator[VersionedConfig]:
        """One for each namespace whose logs are read from the API server."""
        if self._tenant.logs != "api":
            return
        for namespace, ready in labelled.items():
            yield Collector(
                namespace,
                self._tenant,
                tenant_name=self._name,
                context=self._context,
                opts=pulumi.ResourceOptions(parent=self, depends_on=self._needs(ready)),
            ).config

    def _readers(self, labelled: Mapping[str, TenantNamespace]) -> Iterator[VersionedConfig]:
        """What any Grafana needs, and a Grafana unless the team has one elsewhere; in the home namespace."""
        found = signals.sources_of(self._tenant)
        if not found:
            return
        settings, home = self._context.settings, signals.home_namespace(self._name, self._tenant)
        texts = registration.values(
            found,
            tenant=self._name,
            token=signals.read_token(settings, self._name),
            scrape_interval=signals.scrape_interval(settings),
        )
        needs = self._needs(labelled[home])
        registration.declare_registration(home, texts, context=self._context, parent=self, depends_on=needs)
        if self._tenant.dashboards is not False:
            options = pulumi.ResourceOptions(parent=self, depends_on=needs)
            yield TenantGrafana(home, tenant_name=self._name, context=self._context, opts=options).config

    def _needs(self, namespace: TenantNamespace) -> list[pulumi.Resource]:
        return [namespace, *self._gateway]
