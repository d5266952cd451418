"""A cluster that somebody else has made: what differs is refused, what is deployed is ours alone, the rest stays."""

import pytest

from tests.eks import environment
from tests.eks.deployment import Deployment
from tests.eks.environment import BUCKET, CLUSTER
from tests.eks.existing.conftest import AGENT, CNI, DRIVER, SYSTEM, system_daemons
from tests.eks.region import Region
from tests.eks.steps import Step

GROUPS = "cluster.nodeGroups"
ALLOWED = {
    "aws:eks/podIdentityAssociation:PodIdentityAssociation",
    "aws:iam/role:Role",
    "aws:iam/rolePolicy:RolePolicy",
}


@pytest.fixture(scope="module")
def first_plan(stack: Deployment) -> list[Step]:
    """The preview before anything is deployed."""
    return stack.plan()


@pytest.fixture(scope="module")
def deployed(stack: Deployment, first_plan: list[Step]) -> Deployment:
    """The environment, deployed."""
    stack.up()
    return stack


def test_groups_that_are_otherwise_than_declared_are_said_all_at_once(stack: Deployment) -> None:
    said = stack.refused(
        (f"{GROUPS}.web.instanceTypes", ["t3.xlarge"]),
        (f"{GROUPS}.workers.nodes", {"min": 2, "max": 9}),
        (f"{GROUPS}.batch.taints", None),
        (f"{GROUPS}.wokers", {"instanceTypes": ["m5.large"], "nodes": 1}),
        ("cluster.target.otherGroups", None),
    )
    for expected in (
        "is t3.xlarge, but the group has t3.large",
        "says 2 to 9 nodes, but the group has 2 to 3",
        "dedicated=batch:NoSchedule, which the group has and no agent tolerates",
        f"cluster '{CLUSTER}' has no managed node group 'wokers'",
        "has a managed node group 'build' that is not declared",
    ):
        assert expected in said, said


def test_a_cni_that_enforces_no_policies_and_absent_add_ons_are_refused(
    stack: Deployment, region: Region
) -> None:
    region.kube.apply(*system_daemons(enforces=False, names=(CNI,)))
    for absent in (AGENT, DRIVER):
        region.kube.delete("daemonsets.apps", absent, SYSTEM)
    try:
        said = stack.refused()
    finally:
        region.kube.apply(*system_daemons())
    assert "the VPC CNI enforces no network policies" in said
    assert "the cluster has no EKS Pod Identity agent" in said
    assert "has no EBS CSI driver (DaemonSet kube-system/ebs-csi-node)" in said


def test_a_cluster_without_the_vpc_cni_is_refused(stack: Deployment, region: Region) -> None:
    region.kube.delete("daemonsets.apps", CNI, SYSTEM)
    try:
        assert "has no VPC CNI (DaemonSet kube-system/aws-node)" in stack.refused()
    finally:
        region.kube.apply(*system_daemons())


def test_of_aws_only_a_bucket_and_its_role_are_planned(first_plan: list[Step]) -> None:
    types = {step.type for step in first_plan if step.type.startswith("aws:")}
    assert {type_ for type_ in types if not type_.startswith("aws:s3/")} == ALLOWED
    assert {step.op for step in first_plan} == {"create"}


def test_agents_run_on_the_declared_groups_and_on_no_other(deployed: Deployment, region: Region) -> None:
    on = {pod["spec"]["nodeName"] for pod in region.kube.running("observability-nodes")}
    assert on == {"web-0", "workers-0", "workers-1", "batch-0"}
    assert region.kube.find("nodes", "build-0")
    assert deployed.plan() == []


def test_destroy_leaves_the_cluster_as_it_was(deployed: Deployment, region: Region) -> None:
    deployed.destroy()
    groups = region.eks.list_nodegroups(clusterName=CLUSTER)["nodegroups"]
    assert sorted(groups) == sorted([*environment.GROUPS, "build"])
    assert len(region.eks.list_addons(clusterName=CLUSTER)["addons"]) == 5
    left = region.account.holds()
    assert left == {"clusters": [CLUSTER]}
    assert BUCKET not in left.get("buckets", [])
