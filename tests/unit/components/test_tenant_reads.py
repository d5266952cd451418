"""What a tenant reads with: its Grafana, what any other Grafana needs, and the collector that pushes for it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from components import names
from components.grafana import config
from components.layer import credentials
from components.layer.config.gateway_tokens import grants
from components.tenant import collector_config, registration, signals
from tests.support.environments import INCIDENT, KEY, changed
from tests.unit.components.environments import (
    BY_HOST,
    CLIENT_SECRET,
    VARIANTS,
    Environment,
    Object,
    containers,
    environment,
)

ON_CLUSTER = VARIANTS["on a cluster"]
ALL_KINDS = VARIANTS["dashboards of all kinds"]
ADDRESS = "http://gateway.observability.svc:8080"
LARGEST = 12


def grafanas(recorded: Environment) -> Iterator[tuple[str, Object]]:
    """(tenant, Deployment) of each tenant's Grafana."""
    for found in recorded.of("Deployment"):
        if found.name == names.TENANT_GRAFANA:
            yield recorded.tenant_namespaces[found.namespace], found


def mounted_files(recorded: Environment, workload: Object) -> dict[str, str]:
    """The files of a Grafana's ConfigMap, by the path at which its pod sees them."""
    pod = workload.pod or {}
    (volume,) = (v["configMap"] for v in pod["volumes"] if "configMap" in v)
    (found,) = (
        o for o in recorded.of("ConfigMap") if (o.namespace, o.name) == (workload.namespace, volume["name"])
    )
    (folder,) = (m["mountPath"] for m in pod["containers"][0]["volumeMounts"] if m["name"] == "config")
    assert {item["key"] for item in volume["items"]} == set(found.inputs["data"])
    return {f"{folder}/{item['path']}": found.inputs["data"][item["key"]] for item in volume["items"]}


def variables(recorded: Environment, workload: Object) -> dict[str, str]:
    """The environment of a Grafana, its Secret's values included."""
    (container,) = (workload.pod or {})["containers"]
    (source,) = container["envFrom"]
    (secret,) = (
        o
        for o in recorded.of("Secret")
        if (o.namespace, o.name) == (workload.namespace, source["secretRef"]["name"])
    )
    return {**secret.inputs["stringData"], **{e["name"]: e["value"] for e in container["env"]}}


# --- Grafana ----------------------------------------------------------------------------------------------------------


def test_each_grafana_has_the_data_sources_of_the_signals_that_are_on(recorded: Environment) -> None:
    for name, found in grafanas(recorded):
        tenant = recorded.settings.tenants[name]
        files = mounted_files(recorded, found)
        sources = yaml.safe_load(files[f"{config.FOLDER}/provisioning/datasources/datasources.yaml"])
        wanted = [*(["metrics"] if tenant.metrics else []), *(["logs"] if tenant.logs != "off" else [])]
        assert [source["uid"] for source in sources["datasources"]] == wanted, name
        shown = {path.rpartition("/")[2] for path in files if path.endswith(".json")}
        assert shown == {{"metrics": "namespace-overview.json", "logs": "logs.json"}[uid] for uid in wanted}


def test_each_grafana_reads_with_its_own_tenants_token_and_has_a_password_of_its_own() -> None:
    recorded = environment(ON_CLUSTER)
    passwords = set()
    for name, found in grafanas(recorded):
        given = variables(recorded, found)
        assert given["READ_TOKEN"] == credentials.token(KEY, name, "read")
        assert given["GF_SECURITY_ADMIN_PASSWORD"] == credentials.token(KEY, name, "grafana-admin")
        assert given["GF_SECURITY_SECRET_KEY"] == credentials.token(KEY, name, "grafana-secret-key")
        passwords |= {given["GF_SECURITY_ADMIN_PASSWORD"], given["GF_SECURITY_SECRET_KEY"]}
    assert len(passwords) == 2 * 5


def test_only_tokens_to_read_and_push_open_the_gateway_and_no_password_of_a_grafana_does() -> None:
    recorded = environment(ALL_KINDS)
    opens = {grant.token: (grant.tenant, grant.role) for grant in grants(recorded.settings)}
    for name, found in grafanas(recorded):
        given = variables(recorded, found)
        assert opens[given["READ_TOKEN"]] == (name, "read")
        assert not opens.keys() & {given["GF_SECURITY_ADMIN_PASSWORD"], given["GF_SECURITY_SECRET_KEY"]}


def test_a_grafana_keeps_nothing_has_no_right_and_no_token_and_takes_no_service_for_a_setting(
    recorded: Environment,
) -> None:
    for _, found in grafanas(recorded):
        pod = found.pod or {}
        assert {key for volume in pod["volumes"] for key in volume} == {"name", "configMap", "emptyDir"}
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        assert pod["serviceAccountName"] != "default"
        assert found.inputs["spec"]["replicas"] == 1
        (container,) = containers(pod)
        assert {p["httpGet"]["path"] for p in (container[f"{kind}Probe"] for kind in PROBES)} == {
            "/api/health"
        }
        names_given = {variable["name"] for variable in container["env"]}
        assert names_given == {*config.ENVIRONMENT, "GOMEMLIMIT"}


PROBES = ("startup", "liveness", "readiness")


def test_a_changed_configuration_rolls_the_grafanas_that_have_it_and_no_other() -> None:
    before = environment(ALL_KINDS)
    raw = changed(ALL_KINDS, ("tenants.search.dashboards", {"host": "other.example.com", "tls": False}))
    after = environment(raw, outputs=before.outputs)
    changed_pods = [
        str(o)
        for o in after.of("Deployment", "DaemonSet")
        if o.inputs["spec"]["template"] != before.named_in(o).inputs["spec"]["template"]
    ]
    assert changed_pods == [f"Deployment search/{names.TENANT_GRAFANA}"]
    kept = [o.name for o in after.of("ConfigMap") if o.namespace == "search"]
    assert len(kept) == 2  # the one before stays, for a rollback


def test_an_ingress_is_there_exactly_where_the_settings_name_a_host() -> None:
    recorded = environment(ALL_KINDS)
    assert {str(o) for o in recorded.of("Ingress")} == {
        f"Ingress {namespace}/{names.TENANT_GRAFANA}" for namespace in ("shop", "search")
    }
    shop = recorded.named_at("Ingress", "shop").inputs
    assert shop["metadata"]["annotations"] == {**BY_HOST["annotations"], "pulumi.com/skipAwait": "true"}
    assert shop["spec"]["ingressClassName"] == "alb"
    assert shop["spec"]["tls"] == [{"hosts": [BY_HOST["host"]], "secretName": "shop-tls"}]
    (rule,) = shop["spec"]["rules"]
    assert rule["host"] == BY_HOST["host"]
    (path,) = rule["http"]["paths"]
    backend = path["backend"]["service"]
    service = recorded.named_at("Service", "shop").inputs
    assert backend == {
        "name": service["metadata"]["name"],
        "port": {"number": service["spec"]["ports"][0]["port"]},
    }
    assert "tls" not in recorded.named_at("Ingress", "search").inputs["spec"]


def test_who_may_sign_in_and_by_which_address_is_in_the_one_grafana_that_it_is_for() -> None:
    recorded = environment(ALL_KINDS)
    found = {
        name: mounted_files(recorded, o)[f"{config.FOLDER}/grafana.ini"] for name, o in grafanas(recorded)
    }
    assert sorted(found) == ["mail", "search", "shop", "wiki"]
    assert "allowed_groups = team-shop,on-call" in found["shop"]
    assert "root_url = https://shop.grafana.example.com/" in found["shop"]
    assert "root_url = http://search.grafana.example.com/" in found["search"]
    for name in ("mail", "wiki", "search"):
        assert "generic_oauth" not in found[name]
    assert variables(recorded, dict(grafanas(recorded))["shop"])[config.CLIENT_SECRET] == CLIENT_SECRET
    assert config.CLIENT_SECRET not in variables(recorded, dict(grafanas(recorded))["mail"])


def test_tenants_with_the_same_settings_have_the_same_texts_which_are_exported_once() -> None:
    tenants = {f"team-{i}": {"pods": 5} for i in range(20)}
    recorded = environment(changed(ON_CLUSTER, ("tenants", tenants)))
    texts = {json.dumps(mounted_files(recorded, o), sort_keys=True) for _, o in grafanas(recorded)}
    assert len(texts) == 1
    one = environment(changed(ON_CLUSTER, ("tenants", {"team-0": {"pods": 5}})))
    history, of_one = (json.dumps(found.outputs["configHistory"]) for found in (recorded, one))
    assert len(history) < 1.5 * len(of_one)


@pytest.mark.parametrize(
    ("tenant", "objects"),
    [
        ({"pods": 9}, 9),
        ({"pods": 9, "dashboards": {"host": "shop.example.com"}}, 10),
        ({"pods": 9, "dashboards": False}, 4),
        ({"pods": 9, "namespace": "create"}, 10),
        ({"pods": 9, "logs": "api"}, 15),
        ({"pods": 9, "logs": "off", "metrics": False}, 3),
    ],
)
def test_how_many_objects_a_tenant_adds(tenant: dict[str, Any], objects: int) -> None:
    recorded = environment(changed(ON_CLUSTER, ("tenants", {"shop": tenant})))
    own = [o for o in recorded.objects if "shop" in (o.namespace, o.name)]
    assert len(own) == objects
    again = environment(changed(ON_CLUSTER, ("tenants", {"shop": tenant})), outputs=recorded.outputs)
    assert len([o for o in again.objects if "shop" in (o.namespace, o.name)]) == objects
    if tenant.get("logs") != "api":  # its own collector is the one part that takes more
        assert objects + 1 <= LARGEST  # one configuration more, kept for a rollback


# --- a Grafana elsewhere ----------------------------------------------------------------------------------------------


def test_each_tenant_that_has_something_to_read_has_a_token_in_its_first_namespace(
    recorded: Environment,
) -> None:
    expected = {
        signals.home_namespace(name, tenant)
        for name, tenant in recorded.settings.tenants.items()
        if signals.sources_of(tenant)
    }
    found = {o.namespace for o in recorded.of("Secret", "ExternalSecret") if o.name == names.READ_SECRET}
    assert found == expected


def test_it_says_where_and_how_each_signal_that_is_on_is_read_and_nothing_of_others() -> None:
    recorded = environment(ON_CLUSTER)
    for o in recorded.of("Secret"):
        if o.name != names.READ_SECRET:
            continue
        name = recorded.tenant_namespaces[o.namespace]
        tenant, given = recorded.settings.tenants[name], dict(o.inputs["stringData"])
        assert given.pop("token") == credentials.token(KEY, name, "read")
        sources = yaml.safe_load(given.pop(registration.DATA_SOURCES))["datasources"]
        assert given == {
            **({"metrics-url": ADDRESS} if tenant.metrics else {}),
            **({"logs-url": ADDRESS} if tenant.logs != "off" else {}),
        }
        assert [source["uid"].removeprefix(f"{name}-") for source in sources] == [
            s.uid for s in signals.sources_of(tenant)
        ]
        assert all(name in source["name"] for source in sources)


# --- collector --------------------------------------------------------------------------------------------------------


def test_a_collector_runs_in_each_namespace_and_pushes_with_the_tenants_token_to_the_gateway() -> None:
    recorded = environment(VARIANTS["all of a tenant's settings"])
    found = {o.namespace: o for o in recorded.of("Deployment") if o.name == names.COLLECTOR}
    assert set(found) == {"shop", "mail-in", "mail-out"}
    for namespace, workload in found.items():
        tenant = recorded.tenant_namespaces[namespace]
        (secret,) = (
            o for o in recorded.of("Secret") if (o.namespace, o.name) == (namespace, names.COLLECTOR)
        )
        assert secret.inputs["stringData"] == {"token": credentials.token(KEY, tenant, "write")}
        (text,) = (
            o.inputs["data"][collector_config.CONFIG_FILE]
            for o in recorded.of("ConfigMap")
            if o.namespace == namespace and o.name.startswith(names.COLLECTOR)
        )
        assert f'url                 = "{ADDRESS}/loki/api/v1/push"' in text
        assert (
            "retry_on_http_429   = true" in text
        )  # the gateway's limits are for all collectors of a tenant together
        pod = workload.pod or {}
        assert pod["automountServiceAccountToken"] is True
        assert not [volume for volume in pod["volumes"] if "hostPath" in volume]


def test_its_configurations_are_kept_by_namespace() -> None:
    recorded = environment(VARIANTS["all of a tenant's settings"])
    kept = recorded.outputs["configHistory"]["versions"]
    own = {key for key in kept if "/" in key}
    assert {key for key in own if key.endswith(names.COLLECTOR)} == {
        f"{namespace}/{names.COLLECTOR}" for namespace in ("shop", "mail-in", "mail-out")
    }
    assert {key for key in own if key.endswith(names.TENANT_GRAFANA)} == {
        f"{namespace}/{names.TENANT_GRAFANA}"
        for namespace in ("shop", "billing", "search", "mail-in", "wiki")
    }


def test_a_tenant_that_collects_itself_is_left_out_by_the_node_agents_and_no_other_is() -> None:
    recorded = environment(changed(INCIDENT, ("tenants.shop.logs", "api")))
    labels = {
        o.name: o.labels[names.LOGS_LABEL] for o in recorded.of("Namespace") if names.LOGS_LABEL in o.labels
    }
    collectors = {o.namespace for o in recorded.of("Deployment") if o.name == names.COLLECTOR}
    assert {namespace for namespace, value in labels.items() if value == "api"} == collectors == {"shop"}


def test_a_stated_home_keeps_grafana_token_and_ingress_when_an_earlier_namespace_joins() -> None:
    two = {"home-b": {"pods": 20}, "home-c": {"pods": 20}}
    before = {"namespaces": two, "dashboards": {"host": "home.example.com"}}
    after = {**before, "namespaces": {**two, "home-a": {"pods": 20}}}
    kept = {**after, "homeNamespace": "home-b"}

    def homes(tenant: dict[str, Any]) -> set[tuple[str, str]]:
        recorded = environment(changed(INCIDENT, ("tenants.home", tenant)))
        found = recorded.of("Ingress", "Deployment", "Secret")
        return {(o.kind, o.namespace) for o in found if o.namespace.startswith("home-")}

    def all_in(namespace: str) -> set[tuple[str, str]]:
        return {(kind, namespace) for kind in ("Ingress", "Deployment", "Secret")}

    assert homes(before) == homes(kept) == all_in("home-b")
    assert homes(after) == all_in("home-a")
