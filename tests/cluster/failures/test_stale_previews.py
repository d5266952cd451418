"""What was previewed is not what is found any more: the cluster, the state or the settings have changed since."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.names import PODS_QUOTA
from simulator import teams
from tests.cluster.failures.checkout import Checkout
from tests.support.inventory import everything, is_labelled, versions
from tests.support.kube import Kube

LATE = "late"
PODS = f"tenants.{LATE}.pods"


@pytest.fixture(scope="module", autouse=True)
def _late(checkout: Checkout, kube: Kube) -> Iterator[None]:
    kube.apply(teams.namespace(LATE))
    # Without a Grafana: a pod that is missing would be told instead of what differs.
    checkout.up((f"tenants.{LATE}", {"pods": 5, "dashboards": False}))
    yield
    checkout.up((f"tenants.{LATE}", None))
    assert set(kube.get("namespaces", LATE)["metadata"]["labels"]) == {"kubernetes.io/metadata.name"}


def limit(kube: Kube) -> str:
    return str(kube.get("resourcequotas", PODS_QUOTA, LATE)["spec"]["hard"]["pods"])


def test_what_has_changed_since_the_preview_is_found_by_the_deployment_and_repaired(
    checkout: Checkout, kube: Kube
) -> None:
    preview = checkout.run("engine", "preview")
    assert preview.status == 0, preview.said
    assert "unchanged" in preview.said
    kube.remove_namespace(LATE)
    before = versions(everything(kube, is_labelled))
    said = checkout.fails()
    assert f"tenants.{LATE}: namespace '{LATE}' does not exist, and adopting never creates one" in said
    assert versions(everything(kube, is_labelled)) == before

    kube.apply(teams.namespace(LATE))  # made again: the state does not know that what was in it is gone
    said = checkout.fails()
    assert f"ResourceQuota {LATE}/{PODS_QUOTA}\n  it does not exist" in said
    checkout.repair()
    assert limit(kube) == "5"


def test_a_saved_plan_is_kept_to_and_refused_once_the_settings_say_something_else(
    checkout: Checkout, kube: Kube, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    up = ("up", "--plan", str(plan), "--yes", "--skip-preview", "--suppress-outputs")
    checkout.change((PODS, 6))
    assert checkout.pulumi("preview", "--save-plan", str(plan), "--suppress-outputs").status == 0
    checkout.change((PODS, 7))
    stale = checkout.pulumi(*up)
    assert stale.status != 0
    assert "late-pods violates plan: properties changed" in stale.said
    assert limit(kube) == "5"

    checkout.change((PODS, 6))
    done = checkout.pulumi(*up)
    assert done.status == 0, done.said
    assert limit(kube) == "6"
