"""What was there before a guard goes on, whoever works on it, and is judged where it changes what a rule reads."""

from collections.abc import Iterator

import pytest

from components import names
from components.cluster.ownership import GUARD_KINDS
from simulator.api import ApiError, Object
from tests.cluster.admission.guarded import SECONDS, acts, guards, labellers, workload
from tests.support import manifests
from tests.support.cleaning import Snapshot, restore
from tests.support.kube import Kube, wait_until

KEYLESS = [{"operator": "Exists", "effect": "NoSchedule"}]
HOST = {"hostNetwork": True, "tolerations": KEYLESS}


@pytest.fixture(scope="module")
def before(kube: Kube, untouched: Snapshot) -> Iterator[Kube]:
    """Tenants that do what the rules refuse, and then the guards, under `deny`."""
    for name in ("shop", "billing"):
        kube.apply(manifests.namespace(name, **{names.TENANT_LABEL: name}))
    for name in ("agents", "gpu"):
        kube.apply(manifests.namespace(name))
    deployment = workload("Deployment", "shop", "old", **HOST)
    deployment["spec"]["replicas"] = 2
    kube.apply(deployment, workload("DaemonSet", "shop", "agent", **HOST))
    kube.wait_for_pods(2, "shop", "app=old")
    kube.apply(*labellers(), *guards("deny"))
    try:
        wait_until(lambda: acts(kube, "deny"), SECONDS, "the guards do not act")
        yield kube
    finally:
        restore(kube, untouched)


def test_its_pods_come_back(before: Kube) -> None:
    for pod in before.list("pods", "shop", labelSelector="app=old"):
        before.delete("pods", pod["metadata"]["name"], "shop", now=True)
    before.wait_for_pods(2, "shop", "app=old")
    assert not before.events("shop", "FailedCreate")


def test_it_is_scaled_labelled_and_given_back(before: Kube) -> None:
    before.patch("deployments", "old", {"spec": {"replicas": 3}}, "shop", sub="scale")
    before.wait_for_pods(3, "shop", "app=old")
    before.patch("deployments", "old", {"spec": {"replicas": 2}}, "shop")
    before.patch("deployments", "old", {"metadata": {"labels": {"team": "a"}}}, "shop")
    before.patch("daemonsets", "agent", {"metadata": {"annotations": {"note": "old"}}}, "shop")
    before.wait_for_pods(2, "shop", "app=old")


def test_a_change_of_what_a_rule_reads_is_judged_by_that_rule(before: Kube) -> None:
    image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "example.com/c:2"}]}}}}
    with pytest.raises(ApiError) as refused:
        before.patch("deployments", "old", image, "shop", strategic=True)
    assert "tenant-host-access: " in refused.value.message
    assert "workload-tolerations: " not in refused.value.message
    with pytest.raises(ApiError) as refused:
        before.patch("daemonsets", "agent", image, "shop", strategic=True)
    assert "tenant-daemonset: " not in refused.value.message
    mended = {"spec": {"template": {"spec": {"hostNetwork": False, "tolerations": None}}}}
    before.patch("deployments", "old", mended, "shop")
    before.patch("deployments", "old", image, "shop", strategic=True)
    before.wait_for_pods(2, "shop", "app=old")


def test_it_can_be_deleted(before: Kube) -> None:
    before.delete("daemonsets", "agent", "shop")
    wait_until(lambda: before.find("daemonsets", "agent", "shop") is None, 30, "it stays")


def test_after_the_guards_were_taken_away_and_came_back_exemptions_are_the_present_ones(before: Kube) -> None:
    """With ConfigMaps as parameters the API server would go on with those of the first time (ADR 0022)."""
    for kind in reversed(GUARD_KINDS):
        for name in names.GUARDS:
            before.delete(f"{kind.lower()[:-1]}ies" if kind.endswith("y") else f"{kind.lower()}s", name)
    device = workload("DaemonSet", "gpu", "late")
    wait_until(lambda: passes(before, device), SECONDS, "the guards still act")
    before.apply(*guards("deny"))
    wait_until(lambda: acts(before, "deny"), SECONDS, "the guards do not act again")
    assert not passes(before, device)
    change = {
        "metadata": {"annotations": {names.EXEMPTIONS_ANNOTATION: "daemonset-placement gpu/late a test"}}
    }
    before.patch("namespaces", names.LAYER_NAMESPACE, change)
    wait_until(lambda: passes(before, device), SECONDS, "the new exemption is not seen")


def passes(kube: Kube, manifest: Object) -> bool:
    """Whether no guard refuses it; another refusal is an error of the test."""
    try:
        kube.create(manifest, dry_run=True)
    except ApiError as error:
        if "ValidatingAdmissionPolicy" in error.message:
            return False
        raise
    return True
