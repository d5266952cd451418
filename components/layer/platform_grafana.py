"""The platform's own Grafana, if it wants one: the whole cluster's metrics, and every tenant's lines by name."""

import pulumi

from components import names
from components.context import Context
from components.grafana import config, sources
from components.grafana.config import Access
from components.grafana.server import Grafana, Instance
from components.grafana.sources import LOGS, METRICS, Source
from components.layer import credentials
from components.settings.model import MetricsStore, Settings


def sources_of(settings: Settings) -> list[Source]:
    """The platform's own, and the lines of each tenant that has some: the token names whose it reads.

    So a new tenant rolls this one Grafana, beside the gateway.
    """
    layer = settings.layer
    tenants = [name for name, tenant in sorted(settings.tenants.items()) if tenant.logs != "off"]
    return [
        *([METRICS] if layer.metrics != "off" else []),
        *([LOGS] if layer.logs != "off" else []),
        *(Source(f"Logs of {name}", sources.uid(f"logs-{name}"), "loki", tenant=name) for name in tenants),
    ]


def variables_of(settings: Settings) -> dict[str, str]:
    """Its secret environment variables."""
    key = settings.gateway_key.get_secret_value()
    return {
        sources.TOKEN_VARIABLE: credentials.platform_token(key),
        config.ADMIN_PASSWORD: credentials.layer_token(key, "grafana-admin"),
        config.SECRET_KEY: credentials.layer_token(key, "grafana-secret-key"),
    }


class PlatformGrafana(Grafana):
    """The server in the layer's namespace. Nobody but its Service reaches it: people come by `kubectl port-forward`."""

    def __init__(self, context: Context, *, opts: pulumi.ResourceOptions | None = None) -> None:
        settings, metrics = context.settings, context.settings.layer.metrics
        interval = (
            metrics.scrape_interval if isinstance(metrics, MetricsStore) else MetricsStore().scrape_interval
        )
        instance = Instance(
            app=names.GRAFANA,
            namespace=names.LAYER_NAMESPACE,
            runs_on=settings.layer.runs_on,
            texts=config.files(sources_of(settings), interval, Access()),
            variables=variables_of(settings),
            lists_tenants=True,
        )
        super().__init__(names.GRAFANA, instance, context=context, opts=opts)
