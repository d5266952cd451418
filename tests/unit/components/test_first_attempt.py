"""A first attempt at a shared layer was rejected. Each of the five ways in which it failed is a test here."""

import json
from collections.abc import Mapping

import yaml

from components import names
from components.layer import credentials
from components.tenant import token_generations
from tests.support.environments import INCIDENT, KEY, changed
from tests.unit.components.environments import (
    EXISTING,
    VARIANTS,
    Environment,
    containers,
    environment,
)

ON_CLUSTER = VARIANTS["on a cluster"]
FIRST = {"first-app": {"pods": 30}}
BOTH = {**FIRST, "second-app": {"pods": 30}}
LEVEL = names.POD_SECURITY_LABEL


def with_tenants(tenants: Mapping[str, object]) -> Environment:
    """The incident's cluster with these tenants only."""
    return environment(changed(ON_CLUSTER, ("tenants", tenants)))


def naming(recorded: Environment, tenant: str) -> set[str]:
    """What names a tenant: objects by what they are, and outputs; the tenant's own name taken out."""
    objects = {str(o).replace(tenant, "*") for o in recorded.objects if tenant in json.dumps(o.inputs)}
    return objects | {key for key, value in recorded.outputs.items() if tenant in json.dumps(value)}


def test_the_second_app_is_in_every_place_in_which_the_first_one_is() -> None:
    recorded = with_tenants(BOTH)
    assert naming(recorded, "second-app") == naming(recorded, "first-app")
    (overrides,) = recorded.named("ConfigMap", "loki-overrides").inputs["data"].values()
    assert sorted(yaml.safe_load(overrides)["overrides"]) == ["first-app", "platform", "second-app"]


def test_a_deleted_app_is_nowhere() -> None:
    """Nor in a configuration that stays for a rollback."""
    before = with_tenants(BOTH)
    after = environment(changed(ON_CLUSTER, ("tenants", FIRST)), outputs=before.outputs)
    assert "second-app" in json.dumps([o.inputs for o in before.objects])
    assert "second-app" not in json.dumps([[o.registered.urn, o.inputs] for o in after.objects])
    kept = {key for key, value in after.outputs.items() if "second-app" in json.dumps(value)}
    assert kept == {token_generations.OUTPUT}  # so that a name that comes back is known
    assert [o.name for o in after.of("ConfigMap")].count("loki-overrides") == 1


def test_agents_that_run_already_are_used_and_ours_go_so_that_nothing_collects_twice() -> None:
    """An exporter of others is scraped instead; a namespace with its own collector is left out by the node agents."""
    ours = environment(ON_CLUSTER)
    theirs = environment(changed(ON_CLUSTER, ("layer.hostMetrics", EXISTING)))
    gone = {str(o) for o in ours.objects} - {str(o) for o in theirs.objects}
    assert f"DaemonSet {names.NODES_NAMESPACE}/{names.NODE_EXPORTER}" in gone
    assert not [o for o in theirs.objects if names.NODE_EXPORTER in str(o)]
    texts = [t for o in theirs.of("ConfigMap") for t in o.inputs["data"].values() if "scrape_configs" in t]
    jobs = [job for job in yaml.safe_load(texts[0])["scrape_configs"] if job["job_name"] == "node-exporter"]
    assert len(texts) == len(jobs) == 1
    assert jobs[0]["kubernetes_sd_configs"][0]["selectors"][0]["label"] == "app=their-exporter"
    own = environment(changed(ON_CLUSTER, ("tenants.shop.logs", "api")))
    (shop,) = (o for o in own.of("Namespace") if o.name == "shop")
    assert shop.labels[names.LOGS_LABEL] == "api"


def test_exactly_the_node_agents_namespace_is_privileged_and_no_apps_ever(recorded: Environment) -> None:
    levels = {o.name: o.labels[LEVEL] for o in recorded.of("Namespace") if LEVEL in o.labels}
    assert levels.pop(names.LAYER_NAMESPACE) == "restricted"
    assert levels.pop(names.NODES_NAMESPACE) == "privileged"
    assert set(levels) <= set(recorded.tenant_namespaces)
    assert set(levels.values()) <= {"restricted", "baseline"}


def test_no_app_can_read_another_apps_data_since_stores_answer_only_to_credentials_that_no_app_has() -> None:
    recorded = with_tenants(BOTH)
    of_layer = (names.LAYER_NAMESPACE, names.NODES_NAMESPACE)
    for app in BOTH:
        held = json.dumps([o.inputs for o in recorded.of("Secret") if o.namespace == app])
        tokens = {owner: credentials.token(KEY, owner, "read") for owner in (*BOTH, credentials.LAYER)}
        assert {owner for owner, token in tokens.items() if token in held} == {app}
        for role in ("push", "scrape", "gateway", "metrics", "platform"):
            assert credentials.layer_token(KEY, role) not in held, role
    assert {o.namespace for o in recorded.of("Secret")} == {*of_layer, *BOTH}
    bound = {b.inputs["subjects"][0]["namespace"] for b in recorded.of("RoleBinding", "ClusterRoleBinding")}
    assert bound == set(of_layer)

    prometheus = recorded.named("Deployment", names.PROMETHEUS).pod or {}
    arguments = containers(prometheus)[0]["args"]
    (web,) = (a.partition("=")[2] for a in arguments if a.startswith("--web.config.file="))
    folder, _, file = web.rpartition("/")
    (mount,) = (m["name"] for m in containers(prometheus)[0]["volumeMounts"] if m["mountPath"] == folder)
    (secret,) = (v["secret"]["secretName"] for v in prometheus["volumes"] if v["name"] == mount)
    users = yaml.safe_load(recorded.named("Secret", secret).inputs["stringData"][file])["basic_auth_users"]
    assert list(users) == ["layer"]

    (tokens,) = recorded.named("Secret", "loki-sidecar-credential").inputs["stringData"].values()
    roles = {line.split()[2].rstrip(";") for line in tokens.splitlines()}
    assert roles == {"push", "scrape", "gateway"}  # only the last one reads lines
    for app in BOTH:
        for role in ("read", "write"):
            assert credentials.token(KEY, app, role) not in tokens


def test_loki_itself_is_reachable_only_from_within_its_pod() -> None:
    recorded = environment(INCIDENT)
    pod = recorded.named("Deployment", names.LOKI).pod or {}
    opened = {
        container["name"]: [p["containerPort"] for p in container.get("ports", [])]
        for container in containers(pod)
    }
    assert opened == {names.LOKI: [], "nginx": [names.LOKI_PORT]}
    text = next(
        t for o in recorded.of("ConfigMap") for name, t in o.inputs["data"].items() if name == "loki.yaml"
    )
    config = yaml.safe_load(text)
    assert config["server"]["http_listen_address"] == config["server"]["grpc_listen_address"] == "127.0.0.1"
    assert config["auth_enabled"] is True
