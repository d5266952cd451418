"""`tenant-label-lookalike`: keys that discovery reads as one of ours."""

import pytest

from tests.policies.layers import LAYERS, Resource, judged, only, run

RULE = "tenant-label-lookalike"


def namespace(labels: str) -> str:
    return f"{{apiVersion: v1, kind: Namespace, metadata: {{name: a, labels: {labels}}}}}"


CASES = {
    "none": ("{}", []),
    "ours": (
        "{shared-observability/tenant: shop, shared-observability/logs: node, shared-observability/metrics: 'true'}",
        [],
    ),
    "a dot": ("{shared.observability/tenant: shop}", ["violation"]),
    "no slash": ("{shared-observability_tenant: shop, shared_observability.logs: api}", ["violation"] * 2),
    "beside ours": (
        "{shared-observability/metrics: 'true', shared-observability.metrics: 'false'}",
        ["violation"],
    ),
    "a value that is not known": ("{shared.observability/tenant: <unknown>}", ["violation"]),
    "null is no label": ("{shared.observability/tenant: null}", []),
    "another word": (
        "{shared-observability/tenants: shop, tenant: shop, shared--observability/tenant: a}",
        [],
    ),
    "the stack's own": ("{shared.observability/owner: dev}", []),
    "not known": ("<unknown>", ["undecided"]),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("case", CASES)
def test_a_label_that_is_read_as_ours_is_refused(case: str, layer: str) -> None:
    labels, expected = CASES[case]
    assert judged(RULE, namespace(labels), layer, preview=True) == expected


@pytest.mark.parametrize("layer", LAYERS)
def test_only_namespaces_are_judged_and_patches_of_them_too(layer: str) -> None:
    metadata = {"name": "a", "labels": {"shared.observability/tenant": "shop"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    foreign = {"apiVersion": "example.com/v1", "kind": "Namespace", "metadata": metadata}
    patch = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    resources = [Resource(pod), Resource(foreign), Resource(patch, token="kubernetes:core/v1:NamespacePatch")]
    found = [each for each in run(layer, resources) if each.rule == RULE]
    assert only(found, RULE) == ["violation"]
    assert 'Namespace a, metadata.labels["shared.observability/tenant"]' in found[0].message
    assert "read it as shared-observability/tenant" in found[0].message
