"""Loki's configuration, by a schema of the keys used (from its reference at v3.7.6) and by the choices that matter."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from components import names
from components.layer.config import loki
from components.layer.rollout import STORE_SECONDS
from tests.support.environments import INCIDENT, changed, parsed

SCHEMA = json.loads((Path(__file__).parent / "loki.schema.json").read_text())
S3 = {"kind": "s3", "bucket": "acme-logs", "region": "eu-central-1"}
STORES = {"filesystem": {"kind": "filesystem"}, "s3": S3}


def config(*changes: tuple[str, Any]) -> dict[str, Any]:
    rendered: dict[str, Any] = yaml.safe_load(loki.loki_config(parsed(changed(INCIDENT, *changes))))
    return rendered


def overrides(*changes: tuple[str, Any]) -> dict[str, Any]:
    rendered: dict[str, Any] = yaml.safe_load(loki.overrides(parsed(changed(INCIDENT, *changes))))
    return rendered


def errors(definition: str, document: object) -> list[str]:
    validator = Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{definition}"})
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_every_key_and_value_is_in_lokis_reference(store: dict[str, str]) -> None:
    assert errors("config", config(("layer.logs", {"store": store, "retention": "30d"}))) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("limits_config", "retention_time"), "7d"),
        (("server", "http_listen_port"), "3101"),
        (("compactor", "retention_enabled"), "yes"),
        (("schema_config", "configs"), []),
        (("querier", "multi_tenant_queries_enable"), False),
        (("ingester", "wal", "replay_memory_ceiling"), "512Mi"),
        (("storage_config", "tsdb_shipper", "shared_store"), "s3"),
    ],
)
def test_the_schema_finds_a_wrong_key_or_value(path: tuple[str, ...], value: object) -> None:
    document = config()
    *parents, last = path
    inner = document
    for parent in parents:
        inner = inner[parent]
    inner[last] = value
    assert len(errors("config", document)) == 1


def test_nothing_is_reachable_but_by_loopback() -> None:
    document = config()
    server = document["server"]
    assert (server["http_listen_address"], server["grpc_listen_address"]) == ("127.0.0.1", "127.0.0.1")
    assert server["http_listen_port"] == names.LOKI_LOOPBACK_PORT
    assert document["memberlist"]["bind_addr"] == ["127.0.0.1"]
    assert document["common"]["ring"]["instance_addr"] == document["common"]["instance_addr"] == "127.0.0.1"
    assert f"http://127.0.0.1:{names.LOKI_LOOPBACK_PORT}/ready" == loki.READY_URL


def test_tenants_are_kept_apart() -> None:
    document = config()
    assert document["auth_enabled"] is True
    assert document["querier"]["multi_tenant_queries_enabled"] is False


@pytest.mark.parametrize("kind", STORES)
def test_retention_has_the_store_without_which_loki_does_not_start(kind: str) -> None:
    document = config(("layer.logs", {"store": STORES[kind], "retention": "30d"}))
    period = document["schema_config"]["configs"][0]
    assert document["compactor"]["retention_enabled"] is True
    assert document["compactor"]["delete_request_store"] == period["object_store"] == kind
    assert (period["schema"], period["store"], period["index"]["period"]) == ("v13", "tsdb", "24h")
    assert document["limits_config"]["retention_period"] == "30d"
    assert document["storage_config"]["use_thanos_objstore"] is False


def test_a_bucket_is_used_with_the_pods_role_and_no_key() -> None:
    assert config(("layer.logs", {"store": S3}))["storage_config"]["aws"] == {
        "bucketnames": "acme-logs",
        "region": "eu-central-1",
        "s3forcepathstyle": False,
    }


def test_the_ruler_is_not_started_and_no_cache_is_large() -> None:
    document = config()
    assert "storage" not in document["common"]
    assert "ruler" not in document
    caches = [
        document["chunk_store_config"]["chunk_cache_config"],
        document["query_range"]["results_cache"]["cache"],
    ]
    assert [cache["embedded_cache"]["max_size_mb"] for cache in caches] == [64, 16]
    assert document["analytics"]["reporting_enabled"] is False
    assert document["pattern_ingester"]["enabled"] is False


def test_an_answer_is_written_for_longer_than_a_query_may_run() -> None:
    document = config()
    seconds = {"m": 60, "s": 1}
    stated = (document["server"]["http_server_write_timeout"], document["limits_config"]["query_timeout"])
    writing, query = (int(value[:-1]) * seconds[value[-1]] for value in stated)
    assert writing > query


def test_all_paths_are_on_the_volume_or_mounted() -> None:
    paths = re.findall(r"(?<![\w.:/])/[\w/.-]+", loki.loki_config(parsed(INCIDENT)))
    mounted = (loki.STORAGE_FOLDER, loki.OVERRIDES_FOLDER)
    assert len(paths) >= 6
    assert [path for path in paths if not path.startswith(mounted)] == []


def test_no_tenant_is_named_outside_the_file_that_is_read_again() -> None:
    before = loki.loki_config(parsed(INCIDENT))
    more = parsed(changed(INCIDENT, ("tenants.quagga", {"pods": 5}), ("tenants.shop", None)))
    assert loki.loki_config(more) == before
    assert config()["runtime_config"] == {"file": "/etc/loki-overrides/overrides.yaml", "period": "10s"}


# --- overrides --------------------------------------------------------------------------------------------------------


def test_the_overrides_hold_exactly_the_live_tenants_that_have_logs_and_the_platform() -> None:
    assert list(overrides()["overrides"]) == [
        "billing",
        "mail",
        "platform",
        "search",
        "shop",
    ]  # the wiki's are off
    after = overrides(("tenants.quagga", {"pods": 5, "logs": "api"}), ("tenants.shop", None))
    assert list(after["overrides"]) == ["billing", "mail", "platform", "quagga", "search"]
    assert errors("overrides", after) == []


def test_a_tenants_limits_and_retention_are_its_own() -> None:
    limits = {"logRateMB": 8, "logBurstMB": 16, "logStreams": 9000}
    stated = overrides(("tenants.shop", {"pods": 5, "limits": limits, "retention": "14d"}))["overrides"]
    assert stated["shop"] == {
        "ingestion_rate_mb": 8,
        "ingestion_burst_size_mb": 16,
        "per_stream_rate_limit": "8388608B",
        "per_stream_rate_limit_burst": "16MB",
        "max_global_streams_per_user": 9000,
        "retention_period": "14d",
    }
    assert "retention_period" not in stated["billing"]  # the layer's


def test_what_belongs_to_no_tenant_has_limits_of_its_own() -> None:
    stated = overrides(("layer.logs", {"limits": {"logRateMB": 0.5}}))["overrides"]
    assert (stated["platform"]["ingestion_rate_mb"], stated["billing"]["ingestion_rate_mb"]) == (0.5, 0.25)
    assert errors("overrides", overrides(("layer.logs", {"limits": {"logRateMB": 0.01}}))) == []


KUBELETS_FILES = 2 * 10  # MB of a container that waits: the file that is open, and the current one


@pytest.mark.parametrize("tenant", ["platform", "shop"])
def test_what_waits_while_loki_is_replaced_is_taken_at_once_even_at_the_full_rate(tenant: str) -> None:
    """As Loki decides: each push is refused that is larger than what is in the tenant's bucket, and in its stream's."""
    limits = overrides()["overrides"][tenant]
    waiting = STORE_SECONDS * limits["ingestion_rate_mb"]
    assert waiting <= limits["ingestion_burst_size_mb"]
    assert int(limits["per_stream_rate_limit_burst"].removesuffix("MB")) >= KUBELETS_FILES


def test_one_container_may_write_all_that_its_tenant_may() -> None:
    for limits in (*overrides()["overrides"].values(), config()["limits_config"]):
        rate = int(limits["per_stream_rate_limit"].removesuffix("B"))
        assert rate == limits["ingestion_rate_mb"] * 2**20
        assert limits["per_stream_rate_limit_burst"] == f"{limits['ingestion_burst_size_mb']}MB"


def test_without_tenants_the_overrides_are_a_text_that_loki_accepts() -> None:
    text = loki.overrides(parsed(changed(INCIDENT, ("tenants", None))))
    assert list(yaml.safe_load(text)["overrides"]) == ["platform"]


def test_without_logs_there_is_no_configuration() -> None:
    off = changed(
        INCIDENT, ("layer.logs", "off"), *((f"tenants.{t}.logs", "off") for t in INCIDENT["tenants"])
    )
    for text in (loki.loki_config, loki.overrides):
        with pytest.raises(ValueError, match=r"layer\.logs is off"):
            text(parsed(off))
