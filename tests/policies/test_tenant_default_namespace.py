"""`tenant-default-namespace`: at preview `default` can stand for a namespace that is not known yet."""

import pytest

from policies.manifest import Manifest, Origin
from policies.operation import Operation
from policies.rules import BY_NAME
from policies.values import Field
from policies.world import World
from tests.policies.layers import LAYERS, judged

RULE = "tenant-default-namespace"
STACK = {"pack-settings": {"stackTenant": "shop"}}
OBJECT = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: %s}}"


@pytest.mark.parametrize("layer", LAYERS)
def test_a_tenants_object_in_default_is_refused_at_up(layer: str) -> None:
    assert judged(RULE, OBJECT % "default", layer, config=STACK) == ["violation"]
    assert judged(RULE, OBJECT % "shop", layer, config=STACK) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_nobody_elses_object_is_judged(layer: str) -> None:
    assert judged(RULE, OBJECT % "default", layer) == []


@pytest.mark.parametrize("literal", [True, False, None])
def test_at_preview_only_a_namespace_that_was_written_down_is_a_violation(literal: bool | None) -> None:
    root = Field({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}})
    world = World(Operation(preview=True).origin, complete=True)
    world.tenancy.stack_tag = "shop"
    manifest = Manifest(root, "test", Origin.PREVIEW, token="kubernetes:core/v1:ConfigMap", literal=literal)
    rule = BY_NAME[RULE]
    assert rule.judge is not None
    (finding,) = rule.judge(manifest, world, rule.settings())
    assert finding.verdict == ("violation" if literal else "undecided")
    if not literal:
        assert "a namespace that is not known yet shows as default at preview" in finding.message


@pytest.mark.parametrize("layer", ["plain"])
def test_at_preview_nobody_is_accused(layer: str) -> None:
    assert judged(RULE, OBJECT % "default", layer, config=STACK, preview=True) == ["undecided"]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", ["undecided"]),
        ("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: ''}}", ["undecided"]),
        ("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}", []),
        ("{apiVersion: v1, kind: Namespace, metadata: {name: a}}", []),
        ("{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}}", []),
        ("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: <unknown>}}", []),
    ],
)
def test_an_object_without_a_namespace_lands_where_nobody_knows(
    text: str, expected: list[str], layer: str
) -> None:
    assert judged(RULE, text, layer, config=STACK) == expected
