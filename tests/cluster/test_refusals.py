"""What exists and is not ours is refused, and every object of the cluster stays as it is.

All mistakes are told at once, so one refused deployment answers for all of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from components import names
from simulator import teams
from simulator.api import Object
from simulator.control_plane import STORAGE_CLASS
from tests.support import manifests
from tests.support.deployment import Deployment, shipped
from tests.support.environments import changed
from tests.support.inventory import Ref, everything, versions
from tests.support.kube import Kube, wait_until

NAME = STORAGE_CLASS["metadata"]["name"]
RBAC = "rbac.authorization.k8s.io/v1"
TENANTS: dict[str, dict[str, Any]] = {
    "absent": {"pods": 10},
    "quota": {"pods": 10},
    "existing": {"pods": 10, "namespace": "create"},
    "risky": {"pods": 10},
    "another": {"pods": 10},
    "collected": {"pods": 10, "logs": "api"},
    "mild": {"pods": 10},
    "crowded": {"pods": 1, "dashboards": False},
}
GHOST = {"instanceTypes": ["t3.large"], "nodes": 2}
SETTINGS = changed(
    shipped(), ("layer.metrics", "off"), ("tenants", TENANTS), ("cluster.nodeGroups.ghost", GHOST)
)


def foreign_objects() -> list[Object]:
    """One of each kind that must not be taken over."""
    quota = {"name": names.PODS_QUOTA, "namespace": "quota"}
    account = {"name": names.COLLECTOR, "namespace": "collected"}
    return [
        manifests.namespace(names.LAYER_NAMESPACE),
        *(manifests.namespace(name) for name in ("quota", "existing", "risky", "collected", "crowded")),
        manifests.namespace("another", **{names.OWNER_LABEL: "prod"}),
        manifests.namespace("mild", **{names.POD_SECURITY_LABEL: "baseline"}),
        teams.deployment(names.LAYER_NAMESPACE),
        teams.deployment("existing"),
        teams.deployment("crowded"),
        {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": names.ALLOY_ROLE}, "rules": []},
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": quota, "spec": {"hard": {"pods": "3"}}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account},
        manifests.root("risky", "runs-as-root"),
        manifests.host_path("risky", "reads-the-node"),
    ]


@dataclass(frozen=True)
class Refusal:
    """What was said, and every object's version before and after."""

    said: str
    before: dict[Ref, tuple[str, int | str]]
    after: dict[Ref, tuple[str, int | str]]


@pytest.fixture(scope="module")
def without_default_class(clean_module: Kube) -> Iterator[None]:
    """The cluster's only StorageClass is no default, as on a new cluster on EKS."""
    default = STORAGE_CLASS["metadata"]["annotations"]
    clean_module.patch("storageclasses", NAME, {"metadata": {"annotations": dict.fromkeys(default, "false")}})
    yield
    clean_module.patch("storageclasses", NAME, {"metadata": {"annotations": default}})


@pytest.fixture(scope="module")
def refusal(
    deploy: Callable[[Object], Deployment], clean_module: Kube, without_default_class: None
) -> Refusal:
    kube = clean_module
    kube.apply(*foreign_objects())
    kube.wait_for_pods(2, "risky")
    for name in ("existing", "crowded", names.LAYER_NAMESPACE):
        kube.wait_for_pods(teams.REPLICAS, name)
    deployment = deploy(SETTINGS)
    before = settled(kube)
    said = deployment.refused()
    return Refusal(said, before, versions(everything(kube)))


def settled(kube: Kube) -> dict[Ref, tuple[str, int | str]]:
    """Versions of everything; the cluster's own controllers have nothing left to write."""

    def twice() -> dict[Ref, tuple[str, int | str]] | None:
        first, second = versions(everything(kube)), versions(everything(kube))
        return first if first == second else None

    return wait_until(twice, 30, "the cluster does not come to rest") or {}


def test_every_object_of_the_cluster_stays_as_it_was(refusal: Refusal) -> None:
    assert len(refusal.before) > 100
    assert refusal.after == refusal.before


def test_a_cluster_without_a_default_storage_class_is_refused_with_the_classes_that_it_has(
    refusal: Refusal,
) -> None:
    expect(
        refusal,
        "layer.storageClass: is not stated, and the cluster has no default StorageClass",
        f"Name one of those that there are: {NAME}",
    )


def test_an_absent_namespace_is_not_created_and_the_setting_that_creates_it_is_named(
    refusal: Refusal,
) -> None:
    expect(
        refusal,
        "tenants.absent: namespace 'absent' does not exist, and adopting never creates one",
        "Write `namespace: create`, or: kubectl create namespace absent",
    )
    assert Ref("namespaces", "", "absent") not in refusal.after


def test_a_foreign_namespace_of_the_layers_name_is_not_taken_over(refusal: Refusal) -> None:
    expect(refusal, f"layer: Namespace {names.LAYER_NAMESPACE} exists and was not made by this program")


def test_a_foreign_cluster_role_of_our_name_is_not_taken_over(refusal: Refusal) -> None:
    expect(refusal, f"layer: ClusterRole {names.ALLOY_ROLE} exists and was not made by this program")


def test_a_foreign_quota_of_our_name_in_a_tenants_namespace_is_not_taken_over(refusal: Refusal) -> None:
    expect(refusal, f"tenants.quota: ResourceQuota quota/{names.PODS_QUOTA} exists and was not made")


def test_a_foreign_account_of_our_collectors_name_is_not_taken_over(refusal: Refusal) -> None:
    expect(refusal, f"tenants.collected: ServiceAccount collected/{names.COLLECTOR} exists")


def test_a_namespace_that_exists_is_not_created(refusal: Refusal) -> None:
    expect(
        refusal,
        "tenants.existing.namespace: is create, but namespace 'existing' exists",
        "`namespace: adopt`",
    )


def test_a_namespace_of_another_stack_is_not_taken_over(refusal: Refusal) -> None:
    expect(refusal, "tenants.another: namespace 'another' belongs to stack 'prod'")


def test_pods_that_the_level_would_not_admit_are_listed_with_the_two_ways_out(refusal: Refusal) -> None:
    expect(
        refusal,
        "tenants.risky.podSecurity: would not admit pods that run in namespace 'risky' now",
        "runs-as-root",
        "reads-the-node",
        "restricted volume types",
        "write `podSecurity: baseline` or `keep`",
    )


def test_a_weaker_level_of_somebody_else_is_not_raised(refusal: Refusal) -> None:
    expect(
        refusal,
        "tenants.mild.podSecurity: is restricted, but somebody else made namespace 'mild' enforce baseline",
        "Write `podSecurity: baseline` (theirs stays)",
    )


def test_a_quota_below_the_pods_that_run_is_refused_with_their_number(refusal: Refusal) -> None:
    expect(
        refusal,
        f"tenants.crowded.pods: is a quota of 1, but namespace 'crowded' has {teams.REPLICAS} pods that have not ended",
        f"Write {teams.REPLICAS} or more",
    )


def test_a_node_group_that_no_node_belongs_to_is_refused(refusal: Refusal) -> None:
    expect(
        refusal,
        "cluster.nodeGroups.ghost: has 2 nodes at least, but no Linux node has its label",
        "eks.amazonaws.com/nodegroup=ghost",
    )


def expect(refusal: Refusal, *texts: str) -> None:
    """All texts are in what was said, with its line breaks taken out."""
    said = " ".join(refusal.said.split())
    assert [text for text in texts if text not in said] == [], refusal.said
