"""How many pods there are: by node for the agents, a handful for the layer, none that grows with the tenants."""

from collections import Counter
from fractions import Fraction

import pytest

from components.layer import parts
from components.names import ALLOY, GATEWAY, LAYER_NAMESPACE, NODE_EXPORTER, NODES_NAMESPACE
from components.settings.tenant import pods_by_namespace
from components.settings.tenant_checks import own_pods
from tests.support.environments import INCIDENT, changed
from tests.unit.components.environments import VARIANTS, Environment, Object, containers, environment

WORKLOADS = (
    "Deployment",
    "StatefulSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
    "CronJob",
    "Pod",
    "DaemonSet",
)
UNITS = {"m": Fraction(1, 1000), "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30)}


def quantity(text: str) -> Fraction:
    """A Kubernetes quantity such as `150m` or `256Mi`."""
    unit = next((unit for unit in UNITS if text.endswith(unit)), "")
    return Fraction(text.removesuffix(unit)) * UNITS.get(unit, Fraction(1))


def workloads(recorded: Environment) -> list[Object]:
    """Every object that makes pods."""
    return [found for found in recorded.objects if found.pod is not None]


def test_only_known_kinds_make_pods(recorded: Environment) -> None:
    assert {found.kind for found in workloads(recorded)} <= {"DaemonSet", "Deployment"}
    assert {found.kind for found in recorded.of(*WORKLOADS)} == {found.kind for found in workloads(recorded)}


@pytest.mark.parametrize("tenants", [0, 1, 2, 20])
def test_one_daemon_set_per_node_class_and_one_exporter_whatever_the_number_of_tenants(tenants: int) -> None:
    raw = changed(INCIDENT, ("tenants", {f"team-{i}": {"pods": 10} for i in range(tenants)}))
    found = environment(raw)
    assert sorted(o.name for o in found.of("DaemonSet")) == [ALLOY, NODE_EXPORTER]
    assert len([o for o in found.of("Deployment") if o.namespace == LAYER_NAMESPACE]) == 4
    assert len(found.tenant_namespaces) == tenants


def test_node_agents_are_the_only_daemon_sets_and_live_in_their_own_namespace(recorded: Environment) -> None:
    daemon_sets = sorted((o.namespace, o.name) for o in recorded.of("DaemonSet"))
    assert daemon_sets == [(NODES_NAMESPACE, name) for name in parts.node_agents(recorded.settings)]
    others = [o for o in workloads(recorded) if o.kind != "DaemonSet"]
    assert {o.namespace for o in others} <= {LAYER_NAMESPACE, *recorded.tenant_namespaces}


def test_the_layer_adds_at_most_six_other_pods_each_a_single_replica_but_for_the_gateway(
    recorded: Environment,
) -> None:
    others = [o for o in workloads(recorded) if o.namespace == LAYER_NAMESPACE]
    replicas = {o.name: o.inputs["spec"]["replicas"] for o in others}
    assert replicas.pop(GATEWAY, None) == (recorded.settings.layer.gateway.replicas if others else None)
    assert set(replicas.values()) <= {1}
    assert len(others) <= 6


def test_no_rollout_has_more_pods_than_the_budget_counts(recorded: Environment) -> None:
    for deployment in recorded.of("Deployment"):
        spec = deployment.inputs["spec"]
        if deployment.name == GATEWAY:
            assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
            assert parts.pods_at_most(GATEWAY, recorded.settings) == spec["replicas"] + 1
        else:
            assert spec["strategy"] == {"type": "Recreate"}, str(deployment)
            assert spec["replicas"] == 1, str(deployment)
    for daemon_set in recorded.of("DaemonSet"):
        rolling = daemon_set.inputs["spec"]["updateStrategy"]["rollingUpdate"]
        assert rolling == {"maxUnavailable": recorded.settings.layer.agents.max_unavailable}, str(daemon_set)


def test_the_pods_that_the_budget_counts_are_the_pods_that_are_deployed(recorded: Environment) -> None:
    deployments = [o.name for o in recorded.of("Deployment") if o.namespace == LAYER_NAMESPACE]
    assert sorted(deployments) == sorted(parts.deployments(recorded.settings))
    host_network = [o.name for o in workloads(recorded) if o.pod and o.pod.get("hostNetwork")]
    assert host_network == [name for name in parts.node_agents(recorded.settings) if name == NODE_EXPORTER]


def test_a_tenant_adds_one_pod_for_its_dashboards_and_one_in_each_namespace_that_it_collects_itself(
    recorded: Environment,
) -> None:
    """As many as its quotas are checked for; so one at most, two with its own collector, none without either."""
    of_tenants = Counter(
        o.namespace for o in workloads(recorded) if o.namespace in recorded.tenant_namespaces
    )
    expected: Counter[str] = Counter()
    for name, tenant in recorded.settings.tenants.items():
        own = own_pods(name, tenant.model_dump(by_alias=True))
        assert set(own) == set(pods_by_namespace(name, tenant))
        expected.update(own)
        bound = 1 + (tenant.logs == "api")
        assert max(own.values()) <= bound
    assert of_tenants == +expected


def test_the_agents_of_a_node_request_at_most_150m_and_256mi_together() -> None:
    requests = [
        container["resources"]["requests"]
        for agent in environment(VARIANTS["rendered"]).of("DaemonSet")
        for container in containers(agent.pod or {})
    ]
    assert len(requests) == 2
    assert sum(quantity(r["cpu"]) for r in requests) <= quantity("150m")
    assert sum(quantity(r["memory"]) for r in requests) <= quantity("256Mi")
