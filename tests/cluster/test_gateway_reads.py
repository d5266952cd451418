"""A team that reads: its own pods on a real API server, who may see its tokens, and what another team replaces."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from components import names
from simulator import teams
from simulator.api import Object
from tests.support.deployment import Deployment, shipped
from tests.support.environments import changed
from tests.support.inventory import everything, is_labelled
from tests.support.kube import Kube, is_ready, wait_until

LAYER, NODES = names.LAYER_NAMESPACE, names.NODES_NAMESPACE
REPLICAS = 2
TEAM = {"pods": 8, "logs": "api", "dashboards": {"host": "reads.example.com"}}
SETTINGS = changed(
    shipped(),
    ("layer.gateway", {"replicas": REPLICAS}),
    ("tenants", {"reads": TEAM, "other": {"pods": 5}}),
)
OWN = {names.TENANT_GRAFANA, names.COLLECTOR}
TOKENS = (names.READ_SECRET, names.TENANT_GRAFANA, names.COLLECTOR)


@dataclass(frozen=True)
class Story:
    """An environment of two teams, and what was seen while a third one came."""

    deployment: Deployment
    before: dict[str, str]
    after: dict[str, str]
    fewest_available: int
    most_pods: int


def pods(kube: Kube) -> dict[str, str]:
    """App by UID of every pod of the layer and of the two teams."""
    return {
        pod["metadata"]["uid"]: f"{namespace}/{pod['metadata']['labels']['app.kubernetes.io/name']}"
        for namespace in (LAYER, NODES, "reads", "other")
        for pod in kube.list("pods", namespace)
        if "deletionTimestamp" not in pod["metadata"]
    }


@contextmanager
def watched(kube: Kube) -> Iterator[list[tuple[int, int]]]:
    """(available, wanted) pods of the gateway, looked at all the time meanwhile.

    Wanted by its ReplicaSets: the surge bounds that. A pod that is wanted no more is still counted in the status until
    its controller has come to it, which on a busy machine was later than the next one's start.
    """
    seen: list[tuple[int, int]] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            status = kube.get("deployments", names.GATEWAY, LAYER)["status"]
            sets = kube.list("replicasets", LAYER, labelSelector=f"app.kubernetes.io/name={names.GATEWAY}")
            seen.append((status.get("availableReplicas", 0), sum(item["spec"]["replicas"] for item in sets)))
            done.wait(0.05)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield seen
    finally:
        done.set()
        watcher.join()


@pytest.fixture(scope="module")
def story(deploy: Callable[[Object], Deployment], clean_module: Kube) -> Story:
    kube = clean_module
    for name in ("reads", "other", "third"):
        kube.apply(teams.namespace(name))
    deployment = deploy(SETTINGS)
    deployment.up()
    before = pods(kube)
    with watched(kube) as seen:
        deployment.up(("tenants.third", {"pods": 5}))
    return Story(deployment, before, pods(kube), min(a for a, _ in seen), max(n for _, n in seen))


# --- pods -------------------------------------------------------------------------------------------------------------


def test_a_teams_own_pods_run_in_a_namespace_that_admits_only_restricted_ones(
    story: Story, kube: Kube
) -> None:
    level = kube.get("namespaces", "reads")["metadata"]["labels"][names.POD_SECURITY_LABEL]
    assert level == "restricted"
    found = kube.list("pods", "reads")
    assert {pod["metadata"]["labels"]["app.kubernetes.io/name"] for pod in found} == OWN
    assert [pod for pod in found if not is_ready(pod)] == []


def test_they_count_in_the_teams_own_quota(story: Story, kube: Kube) -> None:
    quota = kube.get("resourcequotas", names.PODS_QUOTA, "reads")["status"]
    assert (quota["used"]["pods"], quota["hard"]["pods"]) == ("2", "8")


def test_the_grafana_gets_no_token_of_the_cluster_and_the_collector_gets_one(
    story: Story, kube: Kube
) -> None:
    """What the API server's admission added to the pods."""
    tokens = {
        pod["metadata"]["labels"]["app.kubernetes.io/name"]: any(
            "serviceAccountToken" in source
            for volume in pod["spec"]["volumes"]
            for source in volume.get("projected", {}).get("sources", [])
        )
        for pod in kube.list("pods", "reads")
    }
    assert tokens == {names.TENANT_GRAFANA: False, names.COLLECTOR: True}


def test_a_team_adds_so_many_objects(story: Story, kube: Kube) -> None:
    ours = everything(kube, is_labelled)
    made = ("endpoints", "endpointslices", "replicasets", "pods")
    inside = {
        name: [key for key in ours if key.namespace == name and key.kind not in made]
        for name in ("reads", "other")
    }
    # Two quotas, a token, five of a Grafana; then an Ingress, and six of a collector. The labels are one more.
    assert {name: len(found) for name, found in inside.items()} == {"other": 8, "reads": 15}


# --- tokens -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["get", "list", "watch"])
def test_no_account_of_a_team_or_of_the_layer_reads_a_secret(story: Story, kube: Kube, verb: str) -> None:
    accounts = [
        (namespace, item["metadata"]["name"])
        for namespace in ("reads", "other", LAYER, NODES)
        for item in kube.list("serviceaccounts", namespace)
    ]
    assert {("reads", "default"), ("reads", names.TENANT_GRAFANA), (LAYER, names.GATEWAY)} <= set(accounts)
    places = (None, "reads", "other", LAYER, NODES)
    assert [(a, where) for a in accounts for where in places if kube.may(*a, verb, "secrets", where)] == []


@pytest.mark.parametrize("role", ["edit", "admin", "view"])
def test_a_teams_people_read_their_own_tokens_and_nobody_elses(story: Story, kube: Kube, role: str) -> None:
    """Kubernetes' own roles: `view` reads no Secret at all."""
    binding: Object = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": f"people-{role}", "namespace": "reads"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": f"person-{role}", "namespace": "reads"}],
    }
    kube.apply(binding)
    person = f"person-{role}"  # each of the three roles lists pods: the authorizer has seen the binding
    wait_until(lambda: kube.may("reads", person, "list", "pods", "reads"), 30, "the binding has no effect")
    allowed = {w for w in ("reads", "other", LAYER, NODES) if kube.may("reads", person, "get", "secrets", w)}
    assert allowed == (set() if role == "view" else {"reads"})
    if allowed:
        account = kube.as_service_account("reads", person)
        assert {name for name in TOKENS if account.get("secrets", name, "reads")["data"]} == set(TOKENS)


# --- another team -----------------------------------------------------------------------------------------------------


def test_a_new_team_replaces_the_gateways_pods_and_no_other(story: Story) -> None:
    gone = [app for uid, app in story.before.items() if uid not in story.after]
    new = [app for uid, app in story.after.items() if uid not in story.before]
    assert gone == new == [f"{LAYER}/{names.GATEWAY}"] * REPLICAS


def test_meanwhile_the_gateway_was_never_short_of_a_pod_and_had_one_more_at_most(story: Story) -> None:
    assert story.fewest_available == REPLICAS
    assert story.most_pods == REPLICAS + 1


def test_the_same_settings_again_replace_nothing(story: Story, kube: Kube) -> None:
    story.deployment.up()
    assert pods(kube) == story.after


def test_a_raised_generation_replaces_the_gateway_and_this_teams_grafana(story: Story, kube: Kube) -> None:
    before = pods(kube)
    story.deployment.up(("tenants.reads.tokenGeneration", 2))
    after = pods(kube)
    gone = sorted(app for uid, app in before.items() if uid not in after)
    assert gone == [f"{LAYER}/{names.GATEWAY}"] * REPLICAS + [f"reads/{names.TENANT_GRAFANA}"]
