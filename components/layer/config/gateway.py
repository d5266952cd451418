"""The gateway's pod, as far as it is plain: what it mounts, passes, listens on and waits for. Text: gateway_text.py.

    tenant ──Bearer token──▶ nginx ──▶ Loki's sidecar                        (X-Scope-OrgID, the layer's token)
                               └─────▶ prom-label-proxy ──▶ Prometheus       (namespaces, the layer's password)

prom-label-proxy passes the Authorization header on (net/http/httputil, ReverseProxy), so nginx alone holds the layer's
credentials: in files of the Secret, in no argument and in no ConfigMap.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from components import names, versions
from components.layer.config import gateway_tokens, nginx
from components.settings.model import Gateway

# What the pod mounts. All Secrets go into one folder (a projected volume); nginx writes to the run folder only.
CONFIG_FOLDER = "/etc/gateway"
CONFIG_FILE = "nginx.conf"
TENANTS_FOLDER = "/etc/gateway-tenants"
SECRET_FOLDER = "/etc/gateway-secret"  # noqa: S105 - a folder's name
RUN_FOLDER = "/run/nginx"

PORT = names.GATEWAY_PORT
# Open to the kubelet alone, which no NetworkPolicy keeps out: no tenant's business, and nothing but health is there.
HEALTH_PORT = 8081
LISTENERS = {"http": PORT, "health": HEALTH_PORT}
COMMAND = nginx.command(f"{CONFIG_FOLDER}/{CONFIG_FILE}", RUN_FOLDER, LISTENERS)
ALIVE_PATH = "/alive"  # nginx answers
READY_PATH = "/ready"  # prom-label-proxy answers too, where there is one
LABEL_PROXY_PORT = 9091  # on 127.0.0.1

# nginx writes a push to the run folder before it sends it on, and so does Loki's sidecar: a volume that is full ends
# the pod for all tenants. A batch of Alloy's is 1 MiB before compression, and it sends them one after another. So a
# tenant has 16 MiB in a pod at most, and the volume holds 16 tenants at their worst. Answers are not written.
LARGEST_PUSH = "4m"
PUSHES_AT_ONCE = 4
RUN_VOLUME_SIZE = "256Mi"

# One tenant's reads of metrics at once, at all pods together: half of what Prometheus evaluates at a time
# (`prometheus.QUERIES_AT_ONCE`), so that no tenant keeps the others waiting.
METRIC_READS_AT_ONCE = 20

# --- prom-label-proxy -------------------------------------------------------------------------------------------------

NAMESPACE_LABEL = "namespace"
NAMESPACE_HEADER = "X-Tenant-Namespace"  # once for each namespace; nginx alone writes it
PROMETHEUS_ADDRESS = f"{names.PROMETHEUS}.{names.LAYER_NAMESPACE}.svc:{names.PROMETHEUS_PORT}"
LOKI_ADDRESS = f"{names.LOKI}.{names.LAYER_NAMESPACE}.svc:{names.LOKI_PORT}"
# The upstream must have no path: with one, rules and alerts come back unfiltered (the response filter looks up the
# exact outgoing path). Nothing experimental: `info()` reads target_info without the matcher. No internal address: its
# metrics and profiles would be open to the pod's network.
LABEL_PROXY_ARGUMENTS = (
    f"-label={NAMESPACE_LABEL}",
    f"-header-name={NAMESPACE_HEADER}",
    "-enable-label-apis",
    # A query for another's namespace is an error, not the own data under the other's name.
    "-error-on-replace",
    f"-upstream=http://{PROMETHEUS_ADDRESS}",
    f"-insecure-listen-address=127.0.0.1:{LABEL_PROXY_PORT}",
)

# --- how a pod ends ---------------------------------------------------------------------------------------------------

# First the pod leaves the Service while nginx still takes connections (a `sleep` lifecycle action: no shell needed),
# then nginx gets SIGQUIT, which is its image's stop signal, and finishes what it has. prom-label-proxy cuts its
# requests off at SIGTERM, so it has to end after nginx: an init container with `restartPolicy: Always`, which the
# kubelet ends last. Rolled with one pod more and none less (docs/adr/0012-no-live-tail.md has what was measured).
PRE_STOP_SECONDS = 5
LONGEST_REQUEST_SECONDS = 65  # Loki's query_timeout is 60
SHUTDOWN_SECONDS = LONGEST_REQUEST_SECONDS + 5
TERMINATION_GRACE_SECONDS = PRE_STOP_SECONDS + SHUTDOWN_SECONDS + 10
MAX_SURGE, MAX_UNAVAILABLE = 1, 0

# From 1.27.4 on nginx leaves idle connections open for a moment when it ends, so that a request that is under way on
# one is still answered (CHANGES with nginx 1.27.4).
KEEPALIVE_MIN_SINCE = (1, 27, 4)


def queries_at_once(gateway: Gateway) -> int:
    """One tenant's reads of metrics at once, at each pod."""
    return min(gateway.concurrent_requests, max(1, METRIC_READS_AT_ONCE // gateway.replicas))


@dataclass(frozen=True)
class Places:
    """Where everything is; tests have other ports and folders."""

    listen: str = str(PORT)
    health: str = str(HEALTH_PORT)
    loki: str = LOKI_ADDRESS
    label_proxy: str = f"127.0.0.1:{LABEL_PROXY_PORT}"
    prometheus: str = PROMETHEUS_ADDRESS
    tenants_folder: str = TENANTS_FOLDER
    secret_folder: str = SECRET_FOLDER
    run_folder: str = RUN_FOLDER
    nginx: str = versions.NGINX

    @property
    def tokens(self) -> str:
        """Pattern of the token maps' files; none is valid and lets nobody in."""
        return f"{self.secret_folder}/{gateway_tokens.TOKEN_FILES}"

    @property
    def keeps_idle_connections(self) -> bool:
        """Whether this nginx knows `keepalive_min_timeout`."""
        return tuple(int(part) for part in self.nginx.split(".")) >= KEEPALIVE_MIN_SINCE


def label_proxy_arguments(replaced: Mapping[str, str]) -> list[str]:
    """The arguments with some flags' values replaced: for tests and benchmarks, which have other ports."""
    given = dict(argument.partition("=")[::2] for argument in LABEL_PROXY_ARGUMENTS)
    if unknown := set(replaced) - set(given):
        raise ValueError(f"no such argument: {', '.join(sorted(unknown))}")
    return [f"{flag}={value}" if value else flag for flag, value in {**given, **replaced}.items()]
