"""Prometheus' configuration and its web configuration, as texts. The scrape jobs are in scrape_jobs.py.

Checked against docs/configuration/configuration.md of Prometheus 3.16; tests run promtool and a real server.
"""

from collections.abc import Mapping

from components import names
from components.layer.config import scrape_jobs
from components.layer.config.yaml_text import to_yaml
from components.quantities import mebibytes
from components.settings.model import Settings

# What the pod mounts and passes.
CONFIG_FOLDER = "/etc/prometheus"
CONFIG_FILE = "prometheus.yaml"
WEB_CONFIG_FILE = "web.yaml"  # holds the hash of the password: in the Secret, not in the ConfigMap
PROBE_FILE = "probe.yaml"
STORAGE_FOLDER = "/prometheus"
# A query that takes more is ended, and not Prometheus by the kubelet: 20 of one tenant at once (gateway.py), each with
# 5 million samples of 16 bytes, are 1.6 GB of the container's 3 GiB, and the head of 150,000 series has the rest. By
# default 50 million, for two minutes.
QUERIES_AT_ONCE = 40
SAMPLES_PER_QUERY = 5_000_000
ARGUMENTS = (
    f"--config.file={CONFIG_FOLDER}/{CONFIG_FILE}",
    f"--web.config.file={scrape_jobs.CREDENTIAL_FOLDER}/{WEB_CONFIG_FILE}",
    f"--web.listen-address=:{names.PROMETHEUS_PORT}",
    f"--storage.tsdb.path={STORAGE_FOLDER}",
    f"--query.max-concurrency={QUERIES_AT_ONCE}",
    f"--query.max-samples={SAMPLES_PER_QUERY}",
    "--query.timeout=1m",
)
# The web configuration answers 401 to the kubelet too, so the pod asks itself, with the mounted credential. An
# httpGet probe would need the credential in the pod's specification, where everybody who lists pods reads it.
READY_COMMAND = (
    "/bin/promtool",
    "check",
    "ready",
    f"--url=http://localhost:{names.PROMETHEUS_PORT}",
    f"--http.config.file={scrape_jobs.CREDENTIAL_FOLDER}/{PROBE_FILE}",
)

# Share of the volume that blocks may take: the rest is for the write-ahead log and for compaction, which writes the new
# block before it deletes the old ones (docs/storage.md advises 80 to 85 %).
BLOCKS_SHARE = 0.8


def prometheus_config(settings: Settings, *, target_limit: int) -> str:
    """The configuration as YAML. `target_limit` bounds the targets of each job of tenants' pods.

    No tenant is named in it: adding or removing one changes no byte.
    """
    store = settings.layer.metrics
    if store == "off":
        raise ValueError("layer.metrics is off: there is no Prometheus to configure")
    config = {
        "global": {
            "scrape_interval": store.scrape_interval,
            "scrape_timeout": _timeout(store.scrape_interval),
            "evaluation_interval": store.scrape_interval,
            "keep_dropped_targets": 100,
            # For alerts and for whatever is sent on; samples get the label from their target.
            "external_labels": {"cluster": settings.cluster.name},
        },
        "storage": {"tsdb": {"retention": {"time": store.retention, "size": _blocks(store.storage)}}},
        "scrape_configs": scrape_jobs.scrape_jobs(settings, store, target_limit=target_limit),
    }
    return to_yaml(config)


def web_config(users: Mapping[str, str]) -> str:
    """Basic authentication on every path, for these users and their bcrypt hashes. A secret text."""
    if not users:
        raise ValueError("without a user the web configuration would let everybody in")
    return to_yaml({"basic_auth_users": dict(sorted(users.items()))})


def probe_config() -> str:
    """promtool's HTTP client configuration for READY_COMMAND; it names the credential's file, and holds no secret."""
    return to_yaml({"basic_auth": scrape_jobs.OWN_BASIC_AUTH, "follow_redirects": False})


def _timeout(interval: str) -> str:
    """10 s, Prometheus' default; never longer than the interval, which it would refuse."""
    return interval if interval.endswith("s") and int(interval[:-1]) < 10 else "10s"


def _blocks(storage: str) -> str:
    """The volume's share for blocks in Prometheus' units, which count in powers of two: 50Gi -> 40960MB."""
    size = mebibytes(storage)
    if not size:
        raise ValueError("layer.metrics.storage is no size in Mi, Gi or Ti")
    return f"{int(size * BLOCKS_SHARE)}MB"
