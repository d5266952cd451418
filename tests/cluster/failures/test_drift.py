"""What somebody changes by kubectl: `make drift` shows all of it, `make repair` sets it back, `make up` tells of it."""

from collections.abc import Callable

import pytest

from components import names
from tests.cluster.failures.checkout import Checkout
from tests.cluster.failures.environment import TEAM, declared_objects, one_agent_on_each_node, within
from tests.support.inventory import Inventory
from tests.support.kube import Kube

LAYER, NODES = names.LAYER_NAMESPACE, names.NODES_NAMESPACE
ROLE, READER = names.ALLOY_ROLE, names.PROMETHEUS_ROLE
OVERRIDES, SECRET = "loki-overrides", "loki-push"


def widen_cluster_role(kube: Kube) -> None:
    (rule,) = kube.get("clusterroles", ROLE)["rules"]
    kube.patch("clusterroles", ROLE, {"rules": [{**rule, "verbs": [*rule["verbs"], "delete"]}]})


def add_subject(kube: Kube) -> None:
    binding = kube.get("rolebindings", READER, "default")
    eve = {"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}
    kube.patch("rolebindings", READER, {"subjects": [*binding["subjects"], eve]}, "default")


def scale_store(kube: Kube) -> None:
    done = kube.kubectl("scale", "deployment", names.LOKI, "--namespace", LAYER, "--replicas=0")
    assert done.returncode == 0, done.stderr


def change_image(kube: Kube) -> None:
    image = f"{names.NODE_EXPORTER}=registry.example/other:1"
    done = kube.kubectl("set", "image", f"daemonset/{names.NODE_EXPORTER}", image, "--namespace", NODES)
    assert done.returncode == 0, done.stderr


def add_container(kube: Kube) -> None:
    spec = {"containers": [{"name": "extra", "image": "registry.example/extra:1"}]}
    kube.patch("daemonsets", names.ALLOY, {"spec": {"template": {"spec": spec}}}, NODES, strategic=True)


def raise_quota(kube: Kube) -> None:
    kube.patch("resourcequotas", names.PODS_QUOTA, {"spec": {"hard": {"pods": "999"}}}, TEAM)


def delete_quota(kube: Kube) -> None:
    kube.delete("resourcequotas", names.PRIORITY_QUOTA, TEAM)


def choose_tenant(kube: Kube) -> None:
    kube.patch("namespaces", TEAM, {"metadata": {"labels": {names.TENANT_LABEL: "other"}}})


def add_text(kube: Kube) -> None:
    kube.patch("configmaps", OVERRIDES, {"data": {"extra": "x"}}, LAYER)


def change_secret(kube: Kube) -> None:
    kube.patch("secrets", SECRET, {"data": {"token": "dGhlaXJz"}}, NODES)


def delete_account(kube: Kube) -> None:
    kube.delete("serviceaccounts", names.LOKI, LAYER)


def leave_object(kube: Kube) -> None:
    labels = {names.OWNER_LABEL: "sim"}
    metadata = {"name": "forgotten", "namespace": LAYER, "labels": labels}
    kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {}})


# Each change with how `make drift` tells it.
CHANGES: dict[Callable[[Kube], None], str] = {
    widen_cluster_role: f"ClusterRole {ROLE}\n  rules[0].verbs is a list of 4, declared a list of 3\n",
    add_subject: f"RoleBinding default/{READER}\n  subjects is a list of 2, declared a list of 1\n",
    scale_store: f"Deployment {LAYER}/{names.LOKI}\n  spec.replicas is 0, declared 1\n",
    change_image: f"DaemonSet {NODES}/{names.NODE_EXPORTER}\n"
    '  spec.template.spec.containers[0].image is "registry.example/other:1", declared "',
    add_container: f"DaemonSet {NODES}/{names.ALLOY}\n"
    "  spec.template.spec.containers is a list of 2, declared a list of 1\n",
    raise_quota: f'ResourceQuota {TEAM}/{names.PODS_QUOTA}\n  spec.hard.pods is "999", declared "40"\n',
    delete_quota: f"ResourceQuota {TEAM}/{names.PRIORITY_QUOTA}\n  it does not exist\n",
    choose_tenant: f'Namespace {TEAM}\n  metadata.labels.{names.TENANT_LABEL} is "other", declared "{TEAM}"\n',
    add_text: f"ConfigMap {LAYER}/{OVERRIDES}\n  data.extra was added\n",
    change_secret: f"Secret {NODES}/{SECRET}\n  data.token is another value, declared another value\n",
    delete_account: f"ServiceAccount {LAYER}/{names.LOKI}\n  it does not exist\n",
    leave_object: f"ConfigMap {LAYER}/forgotten\n  it carries this stack's label, and its state does not know it\n",
}


def told(drift: str) -> set[str]:
    """The objects that a report names."""
    return {block.split("\n")[0] for block in drift.split("\n\n")[1:-1]}


@pytest.fixture(scope="module")
def before(checkout: Checkout, kube: Kube) -> Inventory:
    """Every object of ours, before anybody changes one."""
    assert checkout.drift().status == 0
    return declared_objects(kube)


@pytest.fixture(scope="module")
def drift(checkout: Checkout, kube: Kube, before: Inventory) -> str:
    """What is told after all of the changes."""
    for change in CHANGES:
        change(kube)
    done = checkout.drift()
    assert done.status == 1
    return done.said


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_every_change_is_told_with_what_was_declared(drift: str, change: Callable[[Kube], None]) -> None:
    assert CHANGES[change] in drift, drift


def test_nothing_else_is_told_and_the_next_commands_are_named(drift: str) -> None:
    assert told(drift) == {text.split("\n")[0] for text in CHANGES.values()}
    assert "Back to what was deployed: make repair ENV=sim" in drift
    assert f"kubectl delete configmap forgotten -n {LAYER}" in drift


def test_a_deployment_that_changes_nothing_tells_of_it_and_does_not_succeed(
    checkout: Checkout, drift: str, kube: Kube
) -> None:
    said = checkout.fails(within(4))  # also how long it may take to settle
    assert "Deployment observability/loki" in said
    assert kube.may(NODES, names.ALLOY, "delete", "pods")


def test_repair_brings_every_object_back_to_what_was_declared(
    checkout: Checkout, drift: str, before: Inventory, kube: Kube
) -> None:
    kube.delete("configmaps", "forgotten", LAYER)
    checkout.change(within(60))
    checkout.repair()
    assert declared_objects(kube) == before
    assert not kube.may(NODES, names.ALLOY, "delete", "pods")
    assert one_agent_on_each_node(kube)
    done = checkout.drift()
    assert (done.status, done.said) == (0, "The cluster holds what was deployed, unchanged.\n")
