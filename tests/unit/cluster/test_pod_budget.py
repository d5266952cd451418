"""The pod budget: what the nodes take, what is used, and whether everybody fits."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from components.cluster.pod_budget import AgentsPerNode, LayerPods, PodBudget, budget, tenant_pods
from components.settings.tenant import Tenant, TenantNamespace
from tests.support.environments import INCIDENT, changed
from tests.unit.cluster.environments import AGENTS, FEW, TAINT, environment, environments, settings_of, solved


def group_of(found: PodBudget, name: str) -> Any:
    return next(group for group in found.groups if group.name == name)


def test_the_incidents_cluster_fits_with_shared_agents() -> None:
    found = solved(INCIDENT)
    assert [(g.name, g.max_pods, g.slots, g.left) for g in found.groups] == [
        ("web", 35, 175, 5 * (35 - 5 - 2)),
        ("workers", 58, 522, 9 * (58 - 5 - 2)),
        ("batch", 58, 58, 58 - 5 - 2),
    ]
    assert (found.slots, found.left, found.need) == (755, 650, 443)
    assert found.fits
    assert found.binding is None
    assert found.agent_pods == 30
    assert round(found.agents_share, 3) == 0.040


def test_the_incidents_shape_would_take_two_agents_per_node_and_app() -> None:
    assert solved(INCIDENT).per_app_shape == 2 * 15 * 5


def test_one_more_app_fits_up_to_the_room_and_not_one_pod_more() -> None:
    found = solved(INCIDENT)
    room = found.room
    assert room == 140 + 459 - 443  # without `runsOn` batch, which has taints, does not count
    assert solved(changed(INCIDENT, ("tenants.new", {"pods": room}))).fits
    assert not solved(changed(INCIDENT, ("tenants.new", {"pods": room + 1}))).fits


def test_what_does_not_fit_names_groups_tenants_need_and_have() -> None:
    found = solved(
        changed(INCIDENT, ("tenants.shop.pods", 700), ("tenants.jobs", {"pods": 50, "runsOn": ["batch"]}))
    )
    binding = found.binding
    assert binding is not None
    assert binding.groups == ("web", "workers")
    assert {d.name for d in binding.demands if d.tenant} == {"shop", "billing", "search", "mail", "wiki"}
    assert (binding.need, binding.have) == (700 + 80 + 100 + 80 + 60 + 3, 599)
    assert found.room == 0


def test_a_tenant_that_fits_elsewhere_is_not_in_the_binding_set() -> None:
    raw = changed(INCIDENT, ("tenants", {"jobs": {"pods": 60, "runsOn": ["batch"]}, "shop": {"pods": 10}}))
    binding = solved(raw).binding
    assert binding is not None
    assert binding.groups == ("batch",)
    assert [demand.name for demand in binding.demands] == ["jobs"]
    assert (binding.need, binding.have) == (60, 51)


def test_enough_slots_in_sum_do_not_make_it_fit() -> None:
    raw = changed(INCIDENT, ("tenants", {"jobs": {"pods": 60, "runsOn": ["batch"]}}))
    found = solved(raw)
    assert found.left > found.need
    assert not found.fits


def test_surge_takes_one_more_slot_on_each_node() -> None:
    surging = solved(INCIDENT, AgentsPerNode(pods=2, host_network=1, surge=1))
    assert surging.left == 650 - 15
    assert surging.agent_pods == 30


def test_without_node_exporter_each_node_has_one_slot_more() -> None:
    assert solved(INCIDENT, AgentsPerNode(pods=1)).left == 650 + 15


def test_an_autoscaled_group_counts_with_its_most_nodes_and_says_what_the_fewest_give() -> None:
    groups = {"web": {"instanceTypes": ["t3.large"], "nodes": {"min": 1, "max": 3}}}
    found = solved(environment(groups, {"shop": {"pods": 60}}))
    assert (found.nodes_min, found.nodes, found.left) == (1, 3, 84)
    assert found.fits
    assert found.at_min.placed == 28
    assert not solved(environment(groups, {"shop": {"pods": 82}})).fits


def test_a_node_that_is_too_small_for_the_agents_is_refused_even_without_tenants() -> None:
    groups = {
        "web": {"instanceTypes": ["t3.large"], "nodes": 1},
        "tiny": {"instanceTypes": ["t3.micro"], "nodes": 1},
    }
    found = solved(environment(groups, {}))
    assert [group.name for group in found.overfull] == ["tiny"]
    assert group_of(found, "tiny").short == 5 + 2 - 4
    assert group_of(found, "tiny").left == 0
    assert found.binding is None
    assert not found.fits


def test_a_node_that_is_exactly_full_of_agents_is_not_overfull() -> None:
    found = solved(environment({"web": {"maxPods": 7, "nodes": 3}}, {}))
    assert not found.overfull
    assert found.left == 0


def test_addresses_can_run_out_before_slots() -> None:
    groups = {"web": {"instanceTypes": ["t3.large"], "maxPods": 110, "podAddresses": "secondary", "nodes": 2}}
    raw = environment(groups, {"shop": {"pods": 60}})
    found = solved(raw)
    web = group_of(found, "web")
    assert web.by_slots == 110 - 5 - 2
    # ebs-csi-node and Alloy; the exporter and the other four of the cluster's own are hostNetwork.
    assert web.by_addresses == 33 - 1 - 1
    assert web.limited_by_addresses
    assert found.left == 62
    assert not found.fits
    assert solved(changed(raw, ("cluster.nodeGroups.web.podAddresses", "prefix"))).fits


def test_host_network_agents_take_a_slot_and_no_address() -> None:
    groups = {"web": {"instanceTypes": ["t3.large"], "maxPods": 110, "podAddresses": "secondary", "nodes": 1}}
    both = solved(environment(groups, {}), AgentsPerNode(pods=2))
    one = solved(environment(groups, {}), AgentsPerNode(pods=2, host_network=1))
    assert one.left == both.left + 1
    assert group_of(one, "web").by_slots == group_of(both, "web").by_slots


def test_secondary_addresses_never_run_out_before_slots() -> None:
    for system in range(5):
        groups = {"web": {"instanceTypes": ["m5.large"], "systemPods": system + 2, "nodes": 1}}
        assert not group_of(solved(environment(groups, {})), "web").limited_by_addresses


def test_layer_pods_follow_the_layers_runs_on_unless_they_name_groups() -> None:
    settings = settings_of(changed(INCIDENT, ("layer.runsOn", ["workers"])))
    found = budget(settings, AGENTS, [LayerPods("loki", 1), LayerPods("one-off", 2, ("batch",))])
    groups = {demand.name: demand.groups for demand in found.demands if not demand.tenant}
    assert groups["loki"] == ("workers",)
    assert groups["one-off"] == ("batch",)


def test_a_tenants_pods_are_the_sum_of_its_namespaces() -> None:
    spaces = {"a": TenantNamespace(pods=80), "b": TenantNamespace(pods=40)}
    assert tenant_pods("team", Tenant(namespaces=spaces)) == 120
    assert tenant_pods("team", Tenant(pods=120, namespaces=spaces)) == 120
    assert tenant_pods("team", Tenant(pods=90, namespaces={"a": TenantNamespace()})) == 90


def test_a_tenant_may_use_tainted_groups_that_it_names() -> None:
    groups = {"web": {"maxPods": 10, "nodes": 1}, "batch": {"maxPods": 60, "nodes": 1, "taints": [TAINT]}}
    assert not solved(environment(groups, {"shop": {"pods": 40}})).fits
    assert solved(environment(groups, {"shop": {"pods": 40, "runsOn": ["batch"]}})).fits


@given(environments())
@FEW
def test_slots_are_conserved(raw: dict[str, Any]) -> None:
    found = solved(raw)
    for group in found.groups:
        taken = group.nodes_max * (group.system + group.agents)
        without_address = group.nodes_max * max(group.by_slots - group.per_node, 0)
        too_many = group.nodes_max * max(-group.by_slots, 0)
        assert group.slots == taken + group.left + without_address - too_many
    assert found.at_max.placed <= min(found.need, found.left)
    assert found.at_min.placed <= found.at_max.placed
    waiting = found.binding.need - found.binding.have if found.binding else 0
    assert found.at_max.placed + waiting == found.need


@given(environments(), st.data())
@FEW
def test_more_nodes_never_make_it_worse(raw: dict[str, Any], data: st.DataObject) -> None:
    before = solved(raw)
    name = data.draw(st.sampled_from(sorted(raw["cluster"]["nodeGroups"])))
    nodes = group_of(before, name).nodes_max + data.draw(st.integers(1, 5))
    after = solved(changed(raw, (f"cluster.nodeGroups.{name}.nodes", nodes)))
    assert after.at_max.placed >= before.at_max.placed
    assert after.left >= before.left
    assert after.fits or not before.fits


@given(environments(), st.data())
@FEW
def test_more_pods_never_make_it_better(raw: dict[str, Any], data: st.DataObject) -> None:
    before = solved(raw)
    after = solved(changed(raw, ("tenants.more", {"pods": data.draw(st.integers(1, 300))})))
    assert not after.fits or before.fits
    assert after.need - after.at_max.placed >= before.need - before.at_max.placed


@given(environments())
@FEW
def test_the_room_fits_and_one_pod_more_does_not(raw: dict[str, Any]) -> None:
    found = solved(raw)
    if found.fits and found.room:
        assert solved(changed(raw, ("tenants.more", {"pods": found.room}))).fits
        assert not solved(changed(raw, ("tenants.more", {"pods": found.room + 1}))).fits
