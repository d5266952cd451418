"""Loki's configuration and its per-tenant overrides, as texts.

Loki itself cannot be run in this project's tests: the keys are checked against a schema written from its configuration
reference (docs/sources/shared/configuration.md at v3.7.6), and the choices below against its source.
"""

from typing import Any

from components import names
from components.layer.config.alloy import LONGEST_LINE
from components.layer.config.yaml_text import to_yaml
from components.settings.model import LogStore, S3Store, Settings
from components.settings.tenant import LogLimits, Tenant

# What the pod mounts and passes.
CONFIG_FOLDER = "/etc/loki"
CONFIG_FILE = "loki.yaml"
# A folder of its own, mounted whole: a subPath mount would never be updated.
OVERRIDES_FOLDER = "/etc/loki-overrides"
OVERRIDES_FILE = "overrides.yaml"
STORAGE_FOLDER = "/loki"
ARGUMENTS = (f"-config.file={CONFIG_FOLDER}/{CONFIG_FILE}",)
READY_URL = f"http://127.0.0.1:{names.LOKI_LOOPBACK_PORT}/ready"

LOOPBACK = "127.0.0.1"
GRPC_PORT = 9095
RELOAD_PERIOD = "10s"

MEBIBYTE = 2**20
# Share of the volume above which Loki takes lines of nobody, its default: chunks and write-ahead log share the volume,
# and a full one would stop it altogether.
FULL = 0.9


def loki_config(settings: Settings) -> str:
    """One process with all parts, reachable on the pod's loopback address only; no tenant is named in it."""
    store = settings.layer.logs
    if store == "off":
        raise ValueError("layer.logs is off: there is no Loki to configure")
    return to_yaml(
        {
            "target": "all",
            "auth_enabled": True,
            "server": _server(),
            "common": _common(),
            "memberlist": {"bind_addr": [LOOPBACK]},
            "schema_config": _schema(store),
            "storage_config": _storage(store),
            "ingester": _ingester(),
            "compactor": _compactor(store),
            "limits_config": _limits(store),
            "runtime_config": {"file": f"{OVERRIDES_FOLDER}/{OVERRIDES_FILE}", "period": RELOAD_PERIOD},
            "querier": {"multi_tenant_queries_enabled": False},
            "pattern_ingester": {"enabled": False},
            **_caches(),
            "analytics": {"reporting_enabled": False},
        }
    )


def overrides(settings: Settings) -> str:
    """Limits and retention of each tenant, and of the namespaces without one; Loki reads the file again while it runs.

    Never an empty text: Loki refuses that, keeps the old values and only logs it.
    """
    store = settings.layer.logs
    if store == "off":
        raise ValueError("layer.logs is off: there is no Loki to configure")
    collected = {name: _tenant(tenant) for name, tenant in settings.tenants.items() if tenant.logs != "off"}
    collected[names.PLATFORM_TENANT] = _rates(store.limits)
    return to_yaml({"overrides": dict(sorted(collected.items()))})


def _tenant(tenant: Tenant) -> dict[str, Any]:
    limits = _rates(tenant.limits)
    return {**limits, "retention_period": tenant.retention} if tenant.retention else limits


def _rates(limits: LogLimits) -> dict[str, Any]:
    """A container is one stream, and may use all that its tenant may: by default a stream has a bucket of 15 MB, and
    what a container wrote while Loki was away is up to 20 (two files of the kubelet's, docs/operations.md)."""
    return {
        "ingestion_rate_mb": limits.log_rate_mb,
        "ingestion_burst_size_mb": limits.log_burst_mb,
        "per_stream_rate_limit": f"{int(limits.log_rate_mb * MEBIBYTE)}B",
        "per_stream_rate_limit_burst": f"{limits.log_burst_mb}MB",
        "max_global_streams_per_user": limits.log_streams,
    }


def _server() -> dict[str, Any]:
    return {
        "http_listen_address": LOOPBACK,
        "http_listen_port": names.LOKI_LOOPBACK_PORT,
        "grpc_listen_address": LOOPBACK,
        "grpc_listen_port": GRPC_PORT,
        # Answers of the parts to each other; the default of 4 MB fails larger queries.
        "grpc_server_max_recv_msg_size": 16 * 2**20,
        "grpc_server_max_send_msg_size": 16 * 2**20,
        "http_server_write_timeout": "90s",  # longer than query_timeout, or a slow query ends without an answer
        "log_level": "info",
    }


def _common() -> dict[str, Any]:
    """`storage` is not set here: it would start the ruler too, which nothing uses and which writes outside the volume
    (pkg/loki/config_wrapper.go, applyStorageConfig; modules.go, initRulerStorage)."""
    return {
        "path_prefix": STORAGE_FOLDER,
        "replication_factor": 1,
        "instance_addr": LOOPBACK,
        "ring": {"instance_addr": LOOPBACK, "kvstore": {"store": "inmemory"}},
    }


def _kind(store: LogStore) -> str:
    return store.store.kind


def _schema(store: LogStore) -> dict[str, Any]:
    """One period for good: a start in the past, since no data is older than the first deployment."""
    index = {"prefix": "index_", "period": "24h"}
    period = {"from": "2024-04-01", "store": "tsdb", "object_store": _kind(store), "schema": "v13"}
    return {"configs": [{**period, "index": index}]}


def _storage(store: LogStore) -> dict[str, Any]:
    """No access keys: the AWS SDK's own chain finds the pod's role. `use_thanos_objstore` is said because its default
    changes in Loki 4.0."""
    tsdb = {
        "active_index_directory": f"{STORAGE_FOLDER}/tsdb-index",
        "cache_location": f"{STORAGE_FOLDER}/tsdb-cache",
    }
    chunks: dict[str, Any] = {"filesystem": {"directory": f"{STORAGE_FOLDER}/chunks"}}
    if isinstance(store.store, S3Store):
        bucket = {"bucketnames": store.store.bucket, "region": store.store.region, "s3forcepathstyle": False}
        chunks = {"aws": bucket}
    return {"use_thanos_objstore": False, "tsdb_shipper": tsdb, **chunks}


def _ingester() -> dict[str, Any]:
    """The write-ahead log is read at a start; the default lets that take 4 GB, more than the container's limit."""
    wal = {
        "enabled": True,
        "dir": f"{STORAGE_FOLDER}/wal",
        "replay_memory_ceiling": "512MB",
        "disk_full_threshold": FULL,
    }
    return {"chunk_encoding": "snappy", "wal": wal}


def _compactor(store: LogStore) -> dict[str, Any]:
    """Retention does not run without a store for delete requests, and Loki refuses to start."""
    return {
        "working_directory": f"{STORAGE_FOLDER}/compactor",
        "retention_enabled": True,
        "delete_request_store": _kind(store),
    }


def _limits(store: LogStore) -> dict[str, Any]:
    """Everybody's; a tenant's own are in the overrides. Nobody deletes lines by request: retention does."""
    return {
        "retention_period": store.retention,
        "allow_structured_metadata": True,
        "reject_old_samples": True,
        "reject_old_samples_max_age": "1w",
        "max_line_size": LONGEST_LINE,
        "ingestion_rate_strategy": "local",
        # Of whoever is in no overrides: nobody is meant to be.
        **_rates(LogLimits()),
        "deletion_mode": "disabled",
        "query_timeout": "1m",
        "volume_enabled": True,
    }


def _caches() -> dict[str, Any]:
    """No cache servers. Loki turns its embedded ones on by itself, each with up to 100 MB: bounded here."""
    return {
        "chunk_store_config": {"chunk_cache_config": _embedded(64)},
        "query_range": {"results_cache": {"cache": _embedded(16)}},
    }


def _embedded(megabytes: int) -> dict[str, Any]:
    return {"embedded_cache": {"enabled": True, "max_size_mb": megabytes}}
