"""The pod budget as the stack output `podBudget`: plain JSON, whose fields docs/pod-budget.md explains."""

from typing import Any

from components.cluster.pod_budget import PER_APP_AGENTS, Binding, Demand, GroupBudget, PodBudget


def as_output(budget: PodBudget) -> dict[str, Any]:
    """The budget as plain data; all numbers are pods or nodes, except `agents.sharePercent`."""
    return {
        "cluster": budget.cluster,
        "fits": budget.fits,
        "groups": [_group(group) for group in budget.groups],
        "layer": [_demand(demand) for demand in budget.demands if not demand.tenant],
        "tenants": [_demand(demand) for demand in budget.demands if demand.tenant],
        "total": {
            "nodes": {"min": budget.nodes_min, "max": budget.nodes},
            "slots": budget.slots,
            "left": budget.left,
            "need": budget.need,
            "placed": budget.at_max.placed,
            "placedOnFewestNodes": budget.at_min.placed,
        },
        "agents": {
            "perNode": budget.agents.pods,
            "surgePerNode": budget.agents.surge,
            "pods": budget.agent_pods,
            "sharePercent": round(budget.agents_share * 100, 1),
        },
        "perAppShape": {"agentPods": budget.per_app_shape},
        "oneMoreApp": {
            "agentPods": 0,
            "agentPodsInPerAppShape": PER_APP_AGENTS * budget.nodes,
            "room": budget.room,
            "roomOn": list(budget.default_groups),
        },
        "binding": None if budget.binding is None else _binding(budget.binding),
    }


def _group(group: GroupBudget) -> dict[str, Any]:
    limits = group.slots_per_node
    return {
        "name": group.name,
        "kind": group.kind,
        "instanceTypes": list(group.instance_types),
        "nodes": {"min": group.nodes_min, "max": group.nodes_max},
        "perNode": {
            "maxPods": limits.max_pods,
            "addresses": limits.addresses,
            "system": group.system,
            "agents": group.agents,
            "left": group.per_node,
            "short": group.short,
            "limit": "addresses" if group.limited_by_addresses else "slots",
        },
        "slots": group.slots,
        "left": group.left,
        "rule": limits.rule,
        "notes": list(limits.notes),
    }


def _demand(demand: Demand) -> dict[str, Any]:
    return {"name": demand.name, "pods": demand.pods, "runsOn": list(demand.groups)}


def _binding(binding: Binding) -> dict[str, Any]:
    return {
        "groups": list(binding.groups),
        "need": binding.need,
        "have": binding.have,
        "layerPods": sum(demand.pods for demand in binding.demands if not demand.tenant),
        "tenants": {demand.name: demand.pods for demand in binding.demands if demand.tenant},
    }
