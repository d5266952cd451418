"""A tenant's own Grafana: one pod in its home namespace, which shows its data and can show nobody else's."""

import pulumi
from pulumi_kubernetes.networking import v1 as networking

from components import names
from components.context import Context
from components.grafana import config, sources
from components.grafana.config import Access
from components.grafana.server import Grafana, Instance
from components.layer import credentials
from components.settings.dashboards import Dashboards
from components.settings.model import Settings
from components.tenant import signals

# The Ingress' controller is not ours, and a load balancer takes minutes: a deployment does not wait for it.
NOT_AWAITED = {"pulumi.com/skipAwait": "true"}


def access_of(settings: Settings, tenant_name: str) -> Access:
    """How people come to a tenant's Grafana."""
    stated = settings.tenants[tenant_name].dashboards
    return Access(stated if isinstance(stated, Dashboards) else Dashboards(), settings.layer.oauth)


def variables_of(settings: Settings, tenant_name: str) -> dict[str, str]:
    """Secret environment variables of a tenant's Grafana; all but the identity provider's derive from the key."""
    key, generation = settings.gateway_key.get_secret_value(), settings.tenants[tenant_name].token_generation
    client = access_of(settings, tenant_name).client
    return {
        sources.TOKEN_VARIABLE: signals.read_token(settings, tenant_name),
        config.ADMIN_PASSWORD: credentials.token(key, tenant_name, "grafana-admin", generation),
        config.SECRET_KEY: credentials.token(key, tenant_name, "grafana-secret-key", generation),
        **({config.CLIENT_SECRET: settings.oauth[client.client_id].get_secret_value()} if client else {}),
    }


class TenantGrafana(Grafana):
    """The server with the tenant's data sources, and an Ingress where the settings name a host."""

    def __init__(
        self,
        name: str,
        *,
        tenant_name: str,
        context: Context,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares the server.

        Args:
            name: the namespace.
            tenant_name: whose Grafana it is.
            context: of the environment.
            opts: options of this component.
        """
        settings, tenant = context.settings, context.settings.tenants[tenant_name]
        access = access_of(settings, tenant_name)
        instance = Instance(
            app=names.TENANT_GRAFANA,
            namespace=name,
            runs_on=tenant.runs_on,
            texts=config.files(signals.sources_of(tenant), signals.scrape_interval(settings), access),
            variables=variables_of(settings, tenant_name),
        )
        super().__init__(f"{name}-grafana", instance, context=context, opts=opts)
        if access.reached.host:
            self._declare_ingress(name, access.reached)

    def _declare_ingress(self, namespace: str, reached: Dashboards) -> None:
        app, host, context = names.TENANT_GRAFANA, reached.host or "", self._context
        annotations = {**reached.annotations, **({} if context.renders else NOT_AWAITED)}
        tls = networking.IngressTLSArgs(hosts=[host], secret_name=reached.tls_secret)
        networking.Ingress(
            f"{namespace}-grafana",
            metadata=context.owner.metadata(app, namespace, app=app, annotations=annotations or None),
            spec=networking.IngressSpecArgs(
                ingress_class_name=reached.ingress_class,
                tls=[tls] if reached.tls_secret else None,
                rules=[networking.IngressRuleArgs(host=host, http=_everything())],
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[self.service]),
        )


def _everything() -> networking.HTTPIngressRuleValueArgs:
    """All paths of the host lead to Grafana."""
    port = networking.ServiceBackendPortArgs(number=config.PORT)
    service = networking.IngressServiceBackendArgs(name=names.TENANT_GRAFANA, port=port)
    backend = networking.IngressBackendArgs(service=service)
    return networking.HTTPIngressRuleValueArgs(
        paths=[networking.HTTPIngressPathArgs(path="/", path_type="Prefix", backend=backend)]
    )
