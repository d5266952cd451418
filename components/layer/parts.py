"""Which pods the layer consists of: decided here once, for what is deployed, budgeted and looked for. Pure."""

from components import names
from components.settings.model import Settings


def node_agents(settings: Settings) -> tuple[str, ...]:
    """DaemonSets, by name. The exporter's only reader is Prometheus, so without it there is none."""
    layer = settings.layer
    exporter = layer.host_metrics == "node-exporter" and layer.metrics != "off"
    return (*([names.ALLOY] if layer.logs != "off" else []), *([names.NODE_EXPORTER] if exporter else []))


def all_apps(settings: Settings) -> tuple[str, ...]:
    """Names of all workloads of the layer."""
    return (*node_agents(settings), *deployments(settings))


def deployments(settings: Settings) -> tuple[str, ...]:
    """Deployments of one replica each, by name."""
    metrics = (names.PROMETHEUS, names.KUBE_STATE_METRICS) if settings.layer.metrics != "off" else ()
    return (*metrics, *([names.LOKI] if settings.layer.logs != "off" else []))
