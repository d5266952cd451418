"""Adding, removing, renaming and moving: what changes, and above all what does not."""

import json
from collections import Counter

from components import names
from components.tenant import token_generations
from tests.support.environments import INCIDENT, changed
from tests.support.mocks import Inputs
from tests.unit.components.environments import VARIANTS, Environment, environment

ON_CLUSTER = VARIANTS["on a cluster"]
ALL_KINDS = "dashboards of all kinds"
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
    """Everything that was registered and exported, as one text; but for the generations of tokens, which outlive their
    tenant on purpose."""
    registered = [[r.urn, r.inputs, sorted(r.dependencies)] for r in recorded.recorder.registered.values()]
    outputs = {key: value for key, value in recorded.outputs.items() if key != token_generations.OUTPUT}
    return json.dumps([registered, outputs])


def own(recorded: Environment, *namespaces: str) -> set[str]:
    """Everything in some namespaces, and the namespaces themselves."""
    inside = {str(o) for o in recorded.objects if o.namespace in namespaces}
    assert inside
    return inside | {f"Namespace {namespace}" for namespace in namespaces}


def renders(recorded: Environment) -> bool:
    """Whether objects become files, and Secrets placeholders."""
    return recorded.settings.cluster.target.kind == "render"


# The gateway's objects that are named after the tenants' list, and after their tokens.
LISTS = {True: ("gateway-tenants-",), False: ("gateway-tenants-", "gateway-tokens-")}


def of_gateway(before: Environment, after: Environment) -> set[str]:
    """What of the gateway changes with the tenants: who reads what, and the tokens where they are not placeholders."""
    lists = {str(o) for o in (*before.objects, *after.objects) if o.name.startswith(LISTS[renders(after)])}
    return {f"Deployment {names.LAYER_NAMESPACE}/{names.GATEWAY}", *lists}


def test_adding_a_tenant_changes_its_own_objects_the_gateway_and_lokis_overrides_and_nothing_else() -> None:
    for raw in (INCIDENT, ON_CLUSTER):
        before, after = environment(raw), environment(changed(raw, ("tenants.quagga", QUAGGA)))
        assert len(own(after, "quagga")) == 9
        assert differing(before, after) == {*own(after, "quagga"), *of_gateway(before, after), OVERRIDES}


def test_adding_a_tenant_rolls_the_gateway_alone_and_the_platforms_own_grafana_where_there_is_one() -> None:
    for raw, rolled in ((ON_CLUSTER, {names.GATEWAY}), (VARIANTS[ALL_KINDS], {names.GATEWAY, names.GRAFANA})):
        before, after = environment(raw), environment(changed(raw, ("tenants.quagga", QUAGGA)))
        templates = [
            {str(o): o.inputs["spec"]["template"] for o in found.of("Deployment", "DaemonSet")}
            for found in (before, after)
        ]
        changed_pods = {name for name, template in templates[0].items() if templates[1][name] != template}
        assert changed_pods == {f"Deployment {names.LAYER_NAMESPACE}/{app}" for app in rolled}


def test_adding_a_tenant_leaves_what_the_others_objects_depend_on() -> None:
    """The engine writes the whole state for each object whose dependencies have changed: two writes for each tenant."""
    before, after = environment(ON_CLUSTER), environment(changed(ON_CLUSTER, ("tenants.quagga", QUAGGA)))
    now = {o.registered.urn: sorted(o.registered.dependencies) for o in after.objects}
    theirs = [o.registered for o in before.objects if o.namespace in before.tenant_namespaces]
    assert any(registered.dependencies for registered in theirs)
    for registered in theirs:
        assert now[registered.urn] == sorted(registered.dependencies), registered.urn


def test_a_tenant_without_logs_changes_not_even_lokis_overrides() -> None:
    quagga = {**QUAGGA, "logs": "off"}
    before, after = environment(INCIDENT), environment(changed(INCIDENT, ("tenants.quagga", quagga)))
    assert differing(before, after) == own(after, "quagga") | of_gateway(before, after)


def test_a_tenant_without_dashboards_has_its_quotas_and_what_a_grafana_elsewhere_needs() -> None:
    after = environment(changed(INCIDENT, ("tenants.quagga", {**QUAGGA, "dashboards": False})))
    assert own(after, "quagga") == {
        "Namespace quagga",
        f"ResourceQuota quagga/{names.PODS_QUOTA}",
        f"ResourceQuota quagga/{names.PRIORITY_QUOTA}",
        f"Secret quagga/{names.READ_SECRET}",
    }


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


def test_after_a_deployment_nothing_names_a_tenant_that_is_gone_not_even_what_stays_for_a_rollback() -> None:
    for raw in (ON_CLUSTER, VARIANTS[ALL_KINDS]):
        before = environment(changed(raw, ("tenants.quagga", QUAGGA)))
        after = environment(raw, outputs=before.outputs)
        assert "quagga" in whole_text(before)
        assert "quagga" not in whole_text(after)


def test_only_what_lists_tenants_on_purpose_names_one() -> None:
    recorded = environment(changed(INCIDENT, ("tenants", {"quagga": QUAGGA})))
    naming = {str(o) for o in recorded.objects if "quagga" in json.dumps(o.inputs)}
    gateway = {str(o) for o in recorded.of("ConfigMap") if o.name.startswith("gateway-tenants-")}
    assert naming == own(recorded, "quagga") | gateway | {OVERRIDES}
    assert sorted(recorded.outputs["tenants"]) == ["quagga"]


def test_a_tenants_own_objects_say_its_name_only_where_its_namespace_stands() -> None:
    """So the texts of all tenants with the same settings are the same, and are exported once."""
    raw = changed(ON_CLUSTER, ("tenants", {"quagga": {"namespaces": {"plains": {"pods": 20}}}}))
    recorded = environment(raw)
    naming = {str(o) for o in recorded.objects if "quagga" in json.dumps(o.registered.public)}
    gateway = {str(o) for o in recorded.of("ConfigMap") if o.name.startswith("gateway-tenants-")}
    assert naming == {"Namespace plains", *gateway, OVERRIDES}


def test_renaming_a_tenant_keeps_the_logical_name_of_every_object_but_for_what_says_the_tenants_name() -> (
    None
):
    """Its namespaces' labels, its tokens and so the pods that hold them, its overrides, and the gateway's list."""
    post = INCIDENT["tenants"]["mail"]
    for raw in (INCIDENT, ON_CLUSTER, changed(ON_CLUSTER, ("tenants.mail", {**post, "logs": "api"}))):
        mail = raw["tenants"]["mail"]
        before, after = (
            environment(raw),
            environment(changed(raw, ("tenants.mail", None), ("tenants.post", mail))),
        )
        assert stable(before) == stable(after)
        expected = {"Namespace mail-in", "Namespace mail-out", OVERRIDES, *of_gateway(before, after)}
        expected |= {
            str(o)
            for o in after.objects
            if o.namespace.startswith("mail-") and o.kind in RENAMED[renders(after)]
        }
        expected |= {
            str(o)
            for o in (*before.of("ConfigMap"), *after.of("ConfigMap"))
            if o.name.startswith(names.COLLECTOR)
        }
        assert differing(before, after) == expected
        assert {
            o.labels[names.TENANT_LABEL] for o in after.of("Namespace") if o.name.startswith("mail-")
        } == {"post"}


def stable(recorded: Environment) -> set[str]:
    """Logical names of all objects but those named after their content."""
    return {
        o.registered.urn
        for o in recorded.objects
        if o.kind != "ConfigMap" and not o.name.startswith("gateway-tokens-")
    }


# Kinds in a tenant's namespaces that hold its tokens, or their digest; rendered Secrets are placeholders.
RENAMED = {True: {"Deployment"}, False: {"Deployment", "Secret"}}


def test_moving_a_namespace_to_another_tenant_keeps_the_logical_name_of_every_object() -> None:
    for raw in (INCIDENT, ON_CLUSTER):
        moved = changed(
            raw,
            ("tenants.mail.namespaces", {"mail-in": {"pods": 50}}),
            ("tenants.wiki", {"namespaces": {"wiki": {"pods": 60}, "mail-out": {"pods": 30}}, "logs": False}),
        )
        before, after = environment(raw), environment(moved)
        gone = stable(before) - stable(after)
        new = stable(after) - stable(before)
        # The first namespace by name is where a tenant's Grafana is: wiki's is mail-out now.
        assert {urn.rpartition("::")[2].partition("-shared")[0].removesuffix("-grafana") for urn in gone} == {
            "wiki"
        }
        assert {urn.rpartition("::")[2].partition("-shared")[0].removesuffix("-grafana") for urn in new} == {
            "mail-out"
        }
        quotas = {str(o) for o in before.of("ResourceQuota")}
        assert not quotas & differing(before, after)
        labelled = {name for name in differing(before, after) if name.startswith("Namespace")}
        assert labelled == {"Namespace mail-out"}


def test_removing_a_tenant_from_a_cluster_leaves_an_adopted_namespace_and_takes_our_objects_out_of_it() -> (
    None
):
    before, after = environment(ON_CLUSTER), environment(changed(ON_CLUSTER, ("tenants.mail", None)))
    gone = [o for o in before.objects if o.registered.urn not in by_urn(after)]
    gone = [o for o in gone if not o.name.startswith("gateway-")]  # its list of namespaces is another text
    types = Counter(o.registered.type.rpartition(":")[2] for o in gone)
    assert types == {
        "NamespacePatch": 2,
        "ResourceQuota": 4,
        "Secret": 2,
        **dict.fromkeys(("ServiceAccount", "ConfigMap", "Deployment", "Service"), 1),
    }
    assert {o.namespace or o.name for o in gone} == {"mail-in", "mail-out"}


def test_the_order_in_which_tenants_are_written_changes_nothing() -> None:
    turned = changed(INCIDENT, ("tenants", dict(reversed(INCIDENT["tenants"].items()))))
    assert differing(environment(INCIDENT), environment(turned)) == set()
