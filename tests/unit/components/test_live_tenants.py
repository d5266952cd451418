"""Adding, removing, renaming and moving: what changes, and above all what does not."""

import json

from components import names
from tests.support.environments import INCIDENT, changed
from tests.support.mocks import Inputs
from tests.unit.components.environments import VARIANTS, Environment, environment

ON_CLUSTER = VARIANTS["on a cluster"]
QUAGGA = {"pods": 20}
OVERRIDES = f"ConfigMap {names.LAYER_NAMESPACE}/loki-overrides"


def by_urn(recorded: Environment) -> dict[str, Inputs]:
    """What each object is registered with."""
    return {o.registered.urn: o.inputs for o in recorded.objects}


def differing(before: Environment, after: Environment) -> set[str]:
    """Objects that are new, gone or changed."""
    a, b = by_urn(before), by_urn(after)
    named = {o.registered.urn: str(o) for o in (*before.objects, *after.objects)}
    return {named[urn] for urn in a.keys() | b.keys() if a.get(urn) != b.get(urn)}


def whole_text(recorded: Environment) -> str:
    """Everything that was registered and exported, as one text."""
    registered = [[r.urn, r.inputs, sorted(r.dependencies)] for r in recorded.recorder.registered.values()]
    return json.dumps([registered, recorded.outputs])


def test_adding_a_tenant_changes_its_own_objects_and_lokis_overrides_and_nothing_else() -> None:
    for raw in (INCIDENT, ON_CLUSTER):
        before, after = environment(raw), environment(changed(raw, ("tenants.quagga", QUAGGA)))
        assert differing(before, after) == {
            "Namespace quagga",
            f"ResourceQuota quagga/{names.PODS_QUOTA}",
            f"ResourceQuota quagga/{names.PRIORITY_QUOTA}",
            OVERRIDES,
        }


def test_a_tenant_without_logs_changes_not_even_lokis_overrides() -> None:
    quagga = {**QUAGGA, "logs": "off"}
    changes = differing(environment(INCIDENT), environment(changed(INCIDENT, ("tenants.quagga", quagga))))
    assert OVERRIDES not in changes
    assert len(changes) == 3


def test_quagga_added_and_the_first_tenant_removed_lists_hold_exactly_the_live_ones() -> None:
    """Its name is where the others' are, the removed one's nowhere, and the node agents' objects stay as they were."""
    first = next(iter(sorted(INCIDENT["tenants"])))
    assert first == "billing"
    before = environment(
        changed(INCIDENT, ("tenants.mail", {"pods": 20}))
    )  # a peer with the same settings as quagga's
    after = environment(
        changed(INCIDENT, ("tenants.quagga", QUAGGA), ("tenants.mail", QUAGGA), ("tenants.billing", None))
    )
    assert "billing" in whole_text(before)
    assert "billing" not in whole_text(after)
    assert whole_text(after).count("quagga") == whole_text(after).count("mail")
    agents = [f"{o}" for o in before.objects if o.namespace == names.NODES_NAMESPACE]
    assert agents
    assert {o.registered.urn: o.inputs for o in after.objects if o.namespace == names.NODES_NAMESPACE} == {
        o.registered.urn: o.inputs for o in before.objects if o.namespace == names.NODES_NAMESPACE
    }


def test_only_what_lists_tenants_on_purpose_names_one() -> None:
    recorded = environment(changed(INCIDENT, ("tenants", {"quagga": QUAGGA})))
    naming = {str(o) for o in recorded.objects if "quagga" in json.dumps(o.inputs)}
    assert naming == {
        "Namespace quagga",
        f"ResourceQuota quagga/{names.PODS_QUOTA}",
        f"ResourceQuota quagga/{names.PRIORITY_QUOTA}",
        OVERRIDES,
    }
    assert sorted(recorded.outputs["tenants"]) == ["quagga"]


def test_renaming_a_tenant_keeps_the_logical_name_of_every_object_and_changes_a_label_and_an_override() -> (
    None
):
    post = INCIDENT["tenants"]["mail"]
    for raw in (INCIDENT, ON_CLUSTER, changed(ON_CLUSTER, ("tenants.mail", {**post, "logs": "api"}))):
        mail = raw["tenants"]["mail"]
        before, after = (
            environment(raw),
            environment(changed(raw, ("tenants.mail", None), ("tenants.post", mail))),
        )
        assert by_urn(before).keys() == by_urn(after).keys()
        assert differing(before, after) == {"Namespace mail-in", "Namespace mail-out", OVERRIDES}
        assert {
            o.labels[names.TENANT_LABEL] for o in after.of("Namespace") if o.name.startswith("mail-")
        } == {"post"}


def test_moving_a_namespace_to_another_tenant_keeps_the_logical_name_of_every_object() -> None:
    for raw in (INCIDENT, ON_CLUSTER):
        moved = changed(
            raw,
            ("tenants.mail.namespaces", {"mail-in": {"pods": 50}}),
            ("tenants.wiki", {"namespaces": {"wiki": {"pods": 60}, "mail-out": {"pods": 30}}, "logs": False}),
        )
        before, after = environment(raw), environment(moved)
        assert by_urn(before).keys() == by_urn(after).keys()
        assert differing(before, after) == {"Namespace mail-out"}


def test_removing_a_tenant_from_a_cluster_leaves_an_adopted_namespace_and_takes_our_objects_out_of_it() -> (
    None
):
    before, after = environment(ON_CLUSTER), environment(changed(ON_CLUSTER, ("tenants.mail", None)))
    gone = [o for o in before.objects if o.registered.urn not in by_urn(after)]
    assert (
        sorted(o.registered.type.rpartition(":")[2] for o in gone)
        == ["NamespacePatch"] * 2 + ["ResourceQuota"] * 4
    )
    assert {o.namespace or o.name for o in gone} == {"mail-in", "mail-out"}


def test_the_order_in_which_tenants_are_written_changes_nothing() -> None:
    turned = changed(INCIDENT, ("tenants", dict(reversed(INCIDENT["tenants"].items()))))
    assert differing(environment(INCIDENT), environment(turned)) == set()
