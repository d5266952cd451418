"""Where each workload lands: its placement as registered, asked about nodes of every group and of none."""

import pytest

from components.cluster import node_groups
from components.cluster.placement import OS_LABEL, Toleration
from components.names import LAYER_NAMESPACE, NODES_NAMESPACE
from tests.support.environments import INCIDENT, changed
from tests.unit.components.environments import MIXED_GROUPS, VARIANTS, Environment, Object, environment
from tests.unit.components.scheduling import FARGATE, LINUX, Node, NodeTaint, lands, placement_of


def nodes(recorded: Environment, group: str, *, startup: bool = False) -> list[Node]:
    """A node for each label value of a declared group."""
    declared = recorded.settings.cluster.node_groups[group]
    selector = node_groups.selector(group, declared)
    taints = (*declared.taints, *(declared.startup_taints if startup else ()))
    return [
        Node({**LINUX, selector.key: value}, tuple(NodeTaint(t.key, t.value, t.effect) for t in taints))
        for value in selector.values
    ]


def groups_of(recorded: Environment, workload: Object) -> tuple[str, ...]:
    """The groups that a workload may use."""
    cluster = recorded.settings.cluster
    if workload.namespace == NODES_NAMESPACE:
        return tuple(cluster.node_groups)
    tenant = recorded.tenant_namespaces.get(workload.namespace)
    owner = recorded.settings.tenants[tenant] if tenant else recorded.settings.layer
    return node_groups.allowed_groups(cluster, owner.runs_on)


def workloads(recorded: Environment) -> list[Object]:
    """Everything that makes pods."""
    return [o for o in recorded.objects if o.pod is not None]


def test_every_workload_lands_on_exactly_the_nodes_of_its_groups(recorded: Environment) -> None:
    for workload in workloads(recorded):
        placement, allowed = placement_of(workload.pod or {}), groups_of(recorded, workload)
        for group in recorded.settings.cluster.node_groups:
            for node in nodes(recorded, group):
                assert lands(placement, node) == (group in allowed), f"{workload} on {group}"


def test_no_workload_lands_on_undeclared_fargate_or_windows_nodes(recorded: Environment) -> None:
    for workload in workloads(recorded):
        placement = placement_of(workload.pod or {})
        assert not lands(placement, Node({**LINUX, "eks.amazonaws.com/nodegroup": "undeclared"})), str(
            workload
        )
        for group in recorded.settings.cluster.node_groups:
            for node in nodes(recorded, group):
                assert not lands(placement, Node({**node.labels, **FARGATE}, node.taints)), str(workload)
                assert not lands(placement, Node({**node.labels, OS_LABEL: "windows"}, node.taints)), str(
                    workload
                )


def test_every_workload_tolerates_exactly_the_taints_of_its_groups(recorded: Environment) -> None:
    for workload in workloads(recorded):
        groups = [recorded.settings.cluster.node_groups[name] for name in groups_of(recorded, workload)]
        agent = workload.namespace == NODES_NAMESPACE
        taints = [t for g in groups for t in (*g.taints, *(g.startup_taints if agent else ()))]
        expected = {Toleration(t.key, t.value, t.effect) for t in taints if t.effect != "PreferNoSchedule"}
        tolerations = placement_of(workload.pod or {}).tolerations
        assert set(tolerations) == expected, str(workload)
        assert len(tolerations) == len(expected), str(workload)


def test_agents_are_there_before_the_startup_taints_are_removed_and_the_layers_pods_are_not() -> None:
    recorded = environment(changed(VARIANTS["all kinds of node groups"], ("layer.runsOn", ["auto", "metal"])))
    (starting,) = nodes(recorded, "auto", startup=True)
    assert starting.taints
    for workload in workloads(recorded):
        assert lands(placement_of(workload.pod or {}), starting) == (workload.namespace == NODES_NAMESPACE)


def test_a_group_that_is_declared_anew_gets_its_agents_and_nothing_else_moves() -> None:
    before, after = (
        environment(INCIDENT),
        environment(changed(INCIDENT, ("cluster.nodeGroups.gpu", MIXED_GROUPS["metal"]))),
    )
    for workload in workloads(after):
        same = workload.pod == next(o for o in before.objects if str(o) == str(workload)).pod
        lands_there = all(lands(placement_of(workload.pod or {}), node) for node in nodes(after, "gpu"))
        if workload.namespace == NODES_NAMESPACE:
            assert lands_there, str(workload)
        else:
            assert same, str(workload)


@pytest.mark.parametrize("runs_on", [["web"], ["workers", "batch"], None])
def test_the_layers_pods_follow_runs_on(runs_on: list[str] | None) -> None:
    recorded = environment(changed(INCIDENT, ("layer.runsOn", runs_on)))
    allowed = runs_on or ["web", "workers"]
    for workload in workloads(recorded):
        if workload.namespace == LAYER_NAMESPACE:
            found = [
                g
                for g in INCIDENT["cluster"]["nodeGroups"]
                for n in nodes(recorded, g)
                if lands(placement_of(workload.pod or {}), n)
            ]
            assert sorted(found) == sorted(allowed), str(workload)
