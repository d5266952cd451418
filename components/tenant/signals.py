"""What a tenant reads, and where in its namespaces that is arranged. Pure."""

from components import names
from components.grafana import sources
from components.grafana.sources import Source
from components.layer import credentials
from components.settings.model import MetricsStore, Settings
from components.settings.tenant import Tenant, namespaces_of


def home_namespace(name: str, tenant: Tenant) -> str:
    """Where its Grafana and its token to read with are: as stated, or the first of its namespaces by name."""
    return tenant.home_namespace or min(namespaces_of(name, tenant))


def sources_of(tenant: Tenant) -> list[Source]:
    """A data source for each of its signals."""
    return sources.of_signals(metrics=tenant.metrics, logs=tenant.logs != "off")


def own_workloads(settings: Settings) -> list[tuple[str, str]]:
    """(namespace, name) of each Deployment that tenant stacks run: collectors, and Grafanas."""
    found: list[tuple[str, str]] = []
    for name, tenant in settings.tenants.items():
        if tenant.logs == "api":
            found += [(namespace, names.COLLECTOR) for namespace in namespaces_of(name, tenant)]
        if tenant.dashboards is not False and sources_of(tenant):
            found.append((home_namespace(name, tenant), names.TENANT_GRAFANA))
    return found


def read_token(settings: Settings, name: str) -> str:
    """What shows the gateway who reads: secret."""
    key, generation = settings.gateway_key.get_secret_value(), settings.tenants[name].token_generation
    return credentials.token(key, name, "read", generation)


def scrape_interval(settings: Settings) -> str:
    """Time between two samples; of no meaning without metrics."""
    metrics = settings.layer.metrics
    return metrics.scrape_interval if isinstance(metrics, MetricsStore) else MetricsStore().scrape_interval
