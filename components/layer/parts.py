"""Which pods the layer consists of: decided here once, for what is deployed, budgeted and looked for. Pure."""

from components import names
from components.settings.model import Settings


def node_agents(settings: Settings) -> tuple[str, ...]:
    """DaemonSets, by name. The exporter's only reader is Prometheus, so without it there is none."""
    layer = settings.layer
    alloy = layer.logs != "off" or alloy_measures_nodes(settings)
    exporter = layer.host_metrics == "node-exporter" and layer.metrics != "off"
    return (*([names.ALLOY] if alloy else []), *([names.NODE_EXPORTER] if exporter else []))


def alloy_measures_nodes(settings: Settings) -> bool:
    """Whether Alloy stands in for node-exporter: one agent on each node instead of two."""
    return settings.layer.host_metrics == "alloy" and settings.layer.metrics != "off"


def all_apps(settings: Settings) -> tuple[str, ...]:
    """Names of all workloads of the layer."""
    return (*node_agents(settings), *deployments(settings))


def deployments(settings: Settings) -> tuple[str, ...]:
    """Deployments, by name. The gateway is there as soon as there is something to read; the Grafana is optional."""
    metrics = (names.PROMETHEUS, names.KUBE_STATE_METRICS) if settings.layer.metrics != "off" else ()
    logs = (names.LOKI,) if settings.layer.logs != "off" else ()
    readers = (names.GATEWAY, *([names.GRAFANA] if settings.layer.dashboards else []))
    return (*metrics, *logs, *(readers if metrics or logs else ()))


def pods_at_most(app: str, settings: Settings) -> int:
    """Pods of a Deployment while it is rolled out: only the gateway has several, and one more meanwhile."""
    return settings.layer.gateway.replicas + 1 if app == names.GATEWAY else 1
