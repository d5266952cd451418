"""Every object has a stated name, our label and a check that it was not somebody else's before; none is made twice."""

from collections import Counter

from components.cluster.live import ObjectRef
from components.cluster.ownership import cluster_scoped, in_tenant_namespace
from components.layer.versioned_config import content_hash
from components.names import (
    CREATED_LABEL,
    FIELD_MANAGER,
    LAYER_NAMESPACE,
    NODES_NAMESPACE,
    OWNER_LABEL,
)
from tests.support.mocks import KUBERNETES
from tests.unit.components.environments import STACK, VARIANTS, Environment, environment

PROVIDER = "pulumi:providers:kubernetes"


def test_every_object_states_its_name_and_kind(recorded: Environment) -> None:
    """Names that the engine makes up have a random suffix, which no render repeats."""
    for found in recorded.objects:
        assert isinstance(found.inputs["metadata"]["name"], str), found.registered.urn
        assert found.inputs["metadata"]["name"]
        assert found.kind


def test_every_object_carries_the_label_of_the_stack_that_owns_it(recorded: Environment) -> None:
    assert recorded.objects
    for found in recorded.objects:
        assert found.labels[OWNER_LABEL] == STACK, str(found)


def test_every_object_outside_the_layers_namespaces_is_looked_for_before_it_is_made(
    recorded: Environment,
) -> None:
    """Namespaces are looked at by preflight themselves; what is in the layer's namespaces is covered by them."""
    looked_for = set(cluster_scoped())
    for namespace in recorded.tenant_namespaces:
        looked_for |= set(in_tenant_namespace(namespace))
    for found in recorded.objects:
        if found.kind == "Namespace":
            assert found.name in {LAYER_NAMESPACE, NODES_NAMESPACE, *recorded.tenant_namespaces}, str(found)
        elif found.kind == "ConfigMap":  # named after its content: one that exists already says the same
            assert found.name.endswith(f"-{content_hash(found.inputs['data'])}") or found.name in (
                "loki-overrides",
            )
        elif found.namespace not in (LAYER_NAMESPACE, NODES_NAMESPACE):
            kind = found.kind.removeprefix("External")  # a reference, rendered in place of the Secret
            assert ObjectRef(kind, found.namespace, found.name) in looked_for, str(found)


def test_nothing_is_looked_for_that_no_environment_makes() -> None:
    made = set()
    namespaces = set()
    for raw in VARIANTS.values():
        recorded = environment(raw)
        made |= {ObjectRef(o.kind, o.namespace, o.name) for o in recorded.objects}
        namespaces |= set(recorded.tenant_namespaces)
    assert set(cluster_scoped()) <= made
    kinds_and_names = {
        (ref.kind.removeprefix("External"), ref.name)
        for ref in made
        if ref.namespace in namespaces and ref.kind != "ConfigMap"
    }
    assert {(ref.kind, ref.name) for ref in in_tenant_namespace("any")} == kinds_and_names


def test_no_object_is_made_by_two_resources(recorded: Environment) -> None:
    """But a created namespace, whose labels are a patch: they have to go with the tenant where the namespace stays."""
    counted = Counter(str(o) for o in recorded.objects if not o.registered.type.endswith("NamespacePatch"))
    assert {name: times for name, times in counted.items() if times > 1} == {}
    patches = Counter(str(o) for o in recorded.objects if o.registered.type.endswith("NamespacePatch"))
    assert not patches or max(patches.values()) == 1


def test_every_object_names_the_one_provider_of_the_target(recorded: Environment) -> None:
    registered = recorded.recorder.registered.values()
    (provider,) = (r for r in registered if r.type == PROVIDER)
    for found in recorded.objects:
        assert found.registered.provider.startswith(f"{provider.urn}::"), str(found)


def test_every_resource_has_a_parent_and_every_object_one_of_the_projects_components(
    recorded: Environment,
) -> None:
    for registered in recorded.recorder.registered.values():
        assert registered.parent, registered.urn
        if registered.type.startswith(KUBERNETES):
            assert recorded.recorder.registered[registered.parent].type.startswith("shared-observability:")


def test_the_type_of_a_component_is_its_folder_and_class(recorded: Environment) -> None:
    tokens = {
        r.type for r in recorded.recorder.registered.values() if r.type.startswith("shared-observability:")
    }
    for token in tokens:
        _, folder, name = token.split(":")
        assert folder in ("cluster", "layer", "grafana", "tenant"), token
        assert name[0].isupper(), token


def test_an_adopted_namespace_is_only_patched_by_our_own_field_manager() -> None:
    recorded = environment(VARIANTS["all of a tenant's settings"])
    for name in ("search", "mail-in", "mail-out", "wiki"):
        (found,) = (o for o in recorded.of("Namespace") if o.name == name)
        assert found.registered.type == "kubernetes:core/v1:NamespacePatch"
        assert found.inputs["metadata"]["annotations"]["pulumi.com/patchFieldManager"] == FIELD_MANAGER


def test_a_created_namespace_is_marked_and_stays_when_its_tenant_goes_unless_the_settings_say_delete() -> (
    None
):
    recorded = environment(VARIANTS["all of a tenant's settings"])
    for name, stays in (("shop", True), ("billing", False)):
        (created,) = (
            o for o in recorded.of("Namespace") if o.name == name and o.registered.type.endswith("Namespace")
        )
        assert created.registered.retain_on_delete == stays
        assert created.labels[CREATED_LABEL] == "true"
    adopted = [o for o in recorded.of("Namespace") if o.registered.type.endswith("NamespacePatch")]
    assert not any(CREATED_LABEL in o.labels for o in adopted)


def test_protection_holds_what_destroying_would_lose_and_is_off_where_the_settings_say_so() -> None:
    protected = {
        str(o) for o in environment(VARIANTS["all of a tenant's settings"]).objects if o.registered.protect
    }
    assert protected == {
        f"Namespace {LAYER_NAMESPACE}",
        f"Namespace {NODES_NAMESPACE}",
        f"PersistentVolumeClaim {LAYER_NAMESPACE}/prometheus",
        f"PersistentVolumeClaim {LAYER_NAMESPACE}/loki",
    }
    assert not any(o.registered.protect for o in environment(VARIANTS["rendered"]).objects)
