"""What a change of the settings does to a cluster that lives: by plans, and then by one `up` for all of them."""

import json
from typing import Any

from tests.eks import environment
from tests.eks.deployment import Change, Deployment
from tests.eks.environment import CLUSTER
from tests.eks.region import Region
from tests.eks.steps import Step, of_aws

NODE_GROUP, ADDON = "aws:eks/nodeGroup:NodeGroup", "aws:eks/addon:Addon"
# Pods of the new group get prefixes: the VPC CNI has one configuration, and running nodes keep their max-pods.
ADDED: Change = (
    "cluster.nodeGroups.extra",
    {"instanceTypes": ["m5.large"], "nodes": 1, "podAddresses": "prefix"},
)
TAINTED: Change = ("cluster.nodeGroups.batch.taints", [{**environment.BATCH_TAINT, "value": "nightly"}])


def of_kubernetes(steps: list[Step]) -> set[tuple[str, str]]:
    """Operation and kind of the steps that the API server is asked for."""
    return {
        (step.op, step.type.rsplit(":", maxsplit=1)[-1])
        for step in steps
        if step.type.startswith("kubernetes:")
    }


def max_pods(region: Region) -> dict[str, str]:
    """By node."""
    return {
        node["metadata"]["name"]: node["status"]["capacity"]["pods"] for node in region.kube.list("nodes")
    }


def test_an_added_group_and_a_changed_taint_touch_no_other_group(deployed: Deployment) -> None:
    plan = deployed.plan(ADDED, TAINTED)
    groups = [step for step in plan if step.type == NODE_GROUP]
    assert sorted((step.op, step.name, step.properties) for step in groups) == [
        ("create", "extra", ()),
        ("update", "batch", ("taints",)),
    ]
    (cni,) = [step for step in plan if step.type == ADDON]
    assert cni == Step("update", ADDON, "vpc-cni", ("configurationValues",))
    others = [step for step in plan if step.type.startswith("aws:") and step not in (*groups, cni)]
    assert {step.op for step in others} == {"create"}
    # Their affinity names the groups, and they tolerate exactly the taints.
    assert ("update", "DaemonSet") in of_kubernetes(plan)


def test_prefixes_for_a_group_that_is_there_are_refused_as_its_nodes_would_not_get_them(
    deployed: Deployment,
) -> None:
    said = deployed.refused(("cluster.nodeGroups.web.podAddresses", "prefix"))
    assert "cluster.nodeGroups.web.podAddresses" in said
    assert "EKS has computed max-pods when the group was made" in said


def test_what_would_take_running_nodes_or_the_cluster_away_is_refused(deployed: Deployment) -> None:
    said = deployed.refused(
        ("cluster.nodeGroups.web.instanceTypes", ["m5.large"]),
        ("cluster.target.create.version", "1.34"),
    )
    for expected in (
        "was t3.large and is m5.large: EKS cannot change that",
        "Add a group of another name",
        "is 1.34, but the control plane has 1.35, and it never goes back",
    ):
        assert expected in said, said
    renamed = deployed.refused(("cluster.target.create.name", "other"))
    assert "was shared: under another name it is another cluster" in renamed


def test_nodes_that_run_keep_their_max_pods_and_new_ones_get_those_of_prefixes(
    deployed: Deployment, region: Region
) -> None:
    before = max_pods(region)
    deployed.up(ADDED, TAINTED)
    assert max_pods(region) == {**before, "extra-0": "110"}
    cni = region.eks.describe_addon(clusterName=CLUSTER, addonName="vpc-cni")["addon"]
    assert json.loads(cni["configurationValues"])["env"]["ENABLE_PREFIX_DELEGATION"] == "true"


def test_agents_are_on_the_new_node_and_on_the_one_with_the_changed_taint(
    deployed: Deployment, region: Region
) -> None:
    taints: Any = region.kube.get("nodes", "batch-0")["spec"]["taints"]
    assert [(taint["key"], taint["value"]) for taint in taints] == [("dedicated", "nightly")]
    on = {pod["spec"]["nodeName"] for pod in region.kube.running("observability-nodes")}
    assert on == set(max_pods(region))


def test_a_removed_group_goes_with_its_nodes_and_no_other_is_touched(
    deployed: Deployment, region: Region
) -> None:
    plan = deployed.plan((ADDED[0], None))
    assert {step for step in of_aws(plan) if step[0] != "delete"} == {("update", "vpc-cni")}
    deployed.up((ADDED[0], None))
    assert "extra-0" not in max_pods(region)
