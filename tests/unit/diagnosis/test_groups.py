"""Node groups and nodes that are otherwise than declared: which of it fails a deployment, and which is only told."""

from dataclasses import replace

from components.cluster.live_nodes import NodeFacts
from components.settings.model import Settings
from diagnosis.finding import Finding
from diagnosis.findings import findings
from diagnosis.groups import group_findings
from diagnosis.report import report
from tests.support.environments import INCIDENT, changed, parsed
from tests.support.nodes import LINUX, as_declared
from tests.unit.diagnosis.test_findings import NODES as RAW_NODES
from tests.unit.diagnosis.test_findings import healthy, node, snapshot

SETTINGS = parsed(INCIDENT)
NODES = as_declared(SETTINGS)
KEY = "eks.amazonaws.com/nodegroup"


def found(nodes: tuple[NodeFacts, ...], settings: Settings = SETTINGS) -> list[Finding]:
    return list(group_findings(settings, nodes))


def test_nodes_as_declared_are_no_findings() -> None:
    assert found(NODES) == []


def test_a_group_that_matches_nothing_is_a_fault_and_its_nodes_are_told_beside_it() -> None:
    renamed = tuple(replace(one, labels={**LINUX, KEY: "web-2026"}) for one in NODES[:5])
    group, others = found((*renamed, *NODES[5:]))
    assert (group.subject, group.fails) == ("Node group web", True)
    assert group.reason == (
        f"no Linux node has its label {KEY}=web; 5 Linux nodes of no declared group have {KEY}=web-2026"
    )
    assert "cluster.nodeGroups.web.selector" in group.remedy
    assert (others.node, others.fails) == ("web-0, web-1, web-2, web-3, web-4", False)


def test_a_node_that_is_missing_or_not_ready_is_told_and_fails_no_deployment() -> None:
    for nodes in (NODES[1:], (replace(NODES[0], ready=False), *NODES[1:])):
        (told,) = found(nodes)
        assert (told.subject, told.fails) == ("Node group web", False)
        assert told.reason == "4 of its nodes are ready, and it has 5 at least"
        assert f"kubectl get nodes -l '{KEY}=web'" in told.remedy


def test_of_a_group_that_is_scaled_only_its_minimum_is_missed() -> None:
    scaled = parsed(changed(INCIDENT, ("cluster.nodeGroups.web.nodes", {"min": 2, "max": 5})))
    assert found(NODES[3:], scaled) == []
    assert [one.fails for one in found(NODES[4:], scaled)] == [False]
    empty = parsed(changed(INCIDENT, ("cluster.nodeGroups.web.nodes", {"min": 0, "max": 5})))
    assert found(NODES[5:], empty) == []


def test_nodes_that_joined_beside_the_groups_fail_no_deployment_and_are_not_missed_without_agents() -> None:
    gpu = NodeFacts("gpu-0", {**LINUX, KEY: "gpu"})
    (told,) = found((*NODES, gpu))
    assert (told.subject, told.node, told.fails) == ("Nodes of no declared group", "gpu-0", False)
    off = parsed(
        changed(INCIDENT, ("layer.logs", "off"), ("layer.metrics", "off"), ("layer.hostMetrics", "none"))
    )
    assert found((*NODES, gpu), off) == []


def test_the_whole_report_says_what_is_ready_and_what_the_nodes_are() -> None:
    told = findings(SETTINGS, snapshot(healthy(), nodes=[*RAW_NODES, node("gpu-0", "gpu")]))
    text = report(told, "prod")
    assert text.startswith("All of the layer's objects are ready.")
    assert "Nodes otherwise than declared (no fault of the deployment):" in text
    assert "gpu-0" in text
