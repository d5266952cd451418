"""Tenants come, go, are renamed and moved: what the real engine changes, creates and deletes for it."""

import re

import pytest

from components import names
from tests.engine.conftest import JOURNEY_SECONDS, Journey, Step
from tests.support.engine import Manifest

pytestmark = pytest.mark.timeout(JOURNEY_SECONDS)

RENAMED = "search renamed, one of its namespaces moved"


# The gateway maps credentials to tenants: it is the one part of the layer that a tenant's coming and going rolls.
GATEWAY = f"{names.LAYER_NAMESPACE}/gateway"


def logical_names(step: Step) -> set[str]:
    """URNs of the Kubernetes objects, but the gateway's configuration, which is named after its content."""
    urns = {r["urn"] for r in step.resources if r["type"].startswith("kubernetes:")}
    return {urn for urn in urns if "::observability-gateway-" not in urn}


def differing(before: Step, after: Step) -> set[str]:
    """Rendered objects that are new, gone or changed, but the gateway's."""
    both = before.manifests.keys() | after.manifests.keys()
    changed = {name for name in both if before.manifests.get(name) != after.manifests.get(name)}
    return {name for name in changed if GATEWAY not in name}


def agents(step: Step) -> dict[str, str]:
    """Files of the node agents' namespace."""
    return {name: text for name, text in step.files.items() if names.NODES_NAMESPACE in name}


def of_tenant(step: Step, namespace: str) -> set[str]:
    """A tenant's objects in one namespace: quotas, a Grafana and what any Grafana needs."""
    inside = {name for name in step.manifests if name.partition(" ")[2].startswith(f"{namespace}/")}
    assert len(inside) == 8
    return {f"Namespace {namespace}", *inside}


def overrides() -> str:
    """The one object of the layer that names tenants."""
    return f"ConfigMap {names.LAYER_NAMESPACE}/loki-overrides"


def test_a_new_tenant_adds_its_objects_and_changes_lokis_overrides_and_nothing_else(journey: Journey) -> None:
    after = journey["quagga added"]
    assert differing(journey["deployed"], after) == {*of_tenant(after, "quagga"), overrides()}


def test_a_removed_tenant_is_in_no_rendered_file_and_no_agent_changes(journey: Journey) -> None:
    before, after = journey["quagga added"], journey["billing removed"]
    assert differing(before, after) == {*of_tenant(before, "billing"), overrides()}
    assert not [name for name, manifest in after.live.items() if "billing" in f"{name}{manifest}"]
    assert agents(after) == agents(journey["deployed"])
    assert agents(after)


def test_quagga_is_wherever_the_others_are(journey: Journey) -> None:
    def places(step: Step, tenant: str) -> set[str]:
        live = step.live.items()
        return {re.sub(tenant, "*", name) for name, manifest in live if tenant in f"{name}{manifest}"}

    after = journey["billing removed"]
    assert places(after, "quagga") == places(after, "mobile") >= {"Namespace *", overrides()}


def test_a_rename_and_a_move_keep_every_logical_name_and_change_labels_in_place(journey: Journey) -> None:
    """A new logical name would create the same object and delete it afterwards."""
    before, after = journey["billing removed"], journey[RENAMED]
    assert logical_names(before) == logical_names(after)
    # The Grafana rolls, since its token is another: by a digest, and the Secret itself is a placeholder here.
    grafana = f"Deployment search-api/{names.TENANT_GRAFANA}"
    labelled = {"Namespace search-api", "Namespace search-index"}
    assert differing(before, after) == {*labelled, grafana, overrides()}

    def tenant(manifest: Manifest) -> str:
        return str(manifest["metadata"]["labels"][names.TENANT_LABEL])

    assert tenant(after.manifests["Namespace search-api"]) == "find"
    assert tenant(after.manifests["Namespace search-index"]) == "reports"
    assert after.manifests["Namespace search-index"]["metadata"]["labels"][names.LOGS_LABEL] == "off"


def test_lokis_overrides_are_changed_in_place_since_loki_rereads_them_while_it_runs(journey: Journey) -> None:
    for step in ("quagga added", "billing removed", RENAMED):
        lines = [line for line in journey[step].output.splitlines() if overrides_name() in line]
        assert any(" updated " in line for line in lines), step
        assert not [line for line in lines if "replac" in line or "created" in line or "deleted" in line], (
            step
        )


def overrides_name() -> str:
    """As the engine shows it."""
    return "ConfigMap loki-overrides"


def test_an_adopted_namespace_is_rendered_so_that_no_pruning_tool_deletes_it(journey: Journey) -> None:
    annotations = journey["deployed"].manifests["Namespace shop"]["metadata"]["annotations"]
    assert "Prune=false" in annotations["argocd.argoproj.io/sync-options"]
    assert annotations["kustomize.toolkit.fluxcd.io/prune"] == "disabled"
