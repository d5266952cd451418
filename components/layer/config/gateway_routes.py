"""What may be asked of the gateway; every other path is 403."""

from dataclasses import dataclass

from components import versions
from components.layer.config.loki_sidecar import ALLOWED

_METRICS = "/api/v1"
_QUERIES = "query|query_range|query_exemplars"
_LISTS = "series|labels|rules|alerts"


@dataclass(frozen=True)
class Route:
    """A path, or a pattern with named groups, and the path that it is built anew from."""

    location: str
    upstream: str
    promql: bool = False


# Grafana calls these with GET (its data sources are told to). Not among them: federate, which is for other servers.
METRIC_ROUTES = (
    Route(f"~ ^{_METRICS}/(?<api>{_QUERIES})$", f"{_METRICS}/$api$is_args$args", promql=True),
    Route(f"~ ^{_METRICS}/(?<api>{_LISTS})$", f"{_METRICS}/$api$is_args$args"),
    Route(
        f"~ ^{_METRICS}/label/(?<name>[A-Za-z_][A-Za-z0-9_]*)/values$",
        f"{_METRICS}/label/$name/values$is_args$args",
    ),
)
# What the sidecar lets the gateway do, less the live tail (docs/adr/0012-no-live-tail.md).
LOG_ROUTES = tuple(route for route in ALLOWED if "gateway" in route.roles and not route.websocket)
# Asked by Grafana at each start of a query editor. prom-label-proxy has neither, and metadata is not per tenant.
FIXED = {
    f"{_METRICS}/metadata": '{"status":"success","data":{}}',
    f"{_METRICS}/status/buildinfo": f'{{"status":"success","data":{{"version":"{versions.PROMETHEUS}"}}}}',
}
