"""The stand-in for the AWS provider in the engine's hands: one stack of a small program, made, changed and removed."""

import json
from collections.abc import Iterator

import pytest

from tests.eks.stand_in.project import Project
from tests.eks.steps import Step, of_aws
from tests.support.aws import kinds
from tests.support.aws.account import Account
from tests.support.aws.eks_service import node_groups
from tests.support.aws.eks_service.node_groups import GroupNodes

GROUP = {"clusterName": "example", "nodegroupName": "workers"}
PREFIXES = json.dumps({"env": {"ENABLE_PREFIX_DELEGATION": "true"}})
NODE_GROUP, ADDON = "aws:eks/nodeGroup:NodeGroup", "aws:eks/addon:Addon"


class Heard(list[GroupNodes]):
    """The changes of node groups, in order."""

    def changed(self, nodes: GroupNodes) -> None:
        self.append(nodes)


@pytest.fixture(scope="module")
def project(
    aws: Account, attach: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    """The stack, not yet deployed."""
    yield Project(tmp_path_factory.mktemp("stand-in"), attach, aws.network())
    aws.forget()


@pytest.fixture(scope="module")
def first_plan(project: Project) -> list[Step]:
    """The preview in an empty account."""
    return project.plan()


@pytest.fixture(scope="module")
def deployed(project: Project, first_plan: list[Step]) -> Project:
    """The stack, deployed."""
    project.up()
    return project


def test_a_preview_in_an_empty_account_creates_one_of_each_known_type(first_plan: list[Step]) -> None:
    assert {step.op for step in first_plan} == {"create"}
    assert {step.type for step in first_plan if step.type.startswith("aws:")} == set(kinds.KINDS)


def test_after_up_neither_preview_nor_refresh_changes_anything(deployed: Project) -> None:
    assert deployed.plan() == []
    assert "unchanged" in deployed.refresh("--expect-no-changes")
    assert deployed.outputs()["zone"] == "eu-central-1a"


def test_default_tags_are_on_what_is_made(deployed: Project, aws: Account) -> None:
    made = aws.client("eks").describe_cluster(name="example")["cluster"]
    bucket = aws.client("s3").get_bucket_tagging(Bucket=deployed.outputs()["bucket"])["TagSet"]
    assert made["tags"] == {"made-by": "a-test"}
    assert {tag["Key"] for tag in bucket} == {"made-by", "purpose"}


def test_what_aws_changes_in_place_is_an_update_and_the_rest_a_replacement(deployed: Project) -> None:
    assert deployed.plan(taint="gpu", label="b", cni=PREFIXES) == [
        Step("update", ADDON, "vpc-cni", ("configurationValues",)),
        Step("update", NODE_GROUP, "group", ("labels", "taints")),
    ]
    replaced = deployed.plan(instanceType="r5a.xlarge")
    assert replaced[0] == Step("replace", NODE_GROUP, "group", ("instanceTypes",), ("instanceTypes",))
    assert of_aws(replaced[1:]) == [("replace", "group")], (
        "the tag of its Auto Scaling group, and nothing else"
    )


def test_drift_by_hand_is_found_and_nothing_else_is_repaired(deployed: Project, aws: Account) -> None:
    eks, bucket = aws.client("eks"), deployed.outputs()["bucket"]
    eks.update_nodegroup_config(**GROUP, labels={"addOrUpdateLabels": {"team": "z", "extra": "y"}})
    eks.delete_addon(clusterName="example", addonName="eks-pod-identity-agent")
    aws.client("s3").delete_public_access_block(Bucket=bucket)
    deployed.refresh()
    assert sorted(of_aws(deployed.plan())) == [("create", "agent"), ("create", "logs"), ("update", "group")]
    deployed.up()
    assert eks.describe_nodegroup(**GROUP)["nodegroup"]["labels"] == {"team": "a"}
    assert deployed.plan() == []


def test_a_named_group_is_deleted_before_its_replacement_and_gets_other_nodes(
    deployed: Project, aws: Account
) -> None:
    heard = Heard()
    node_groups.listeners.append(heard)
    try:
        deployed.up(cni=PREFIXES, tag="changed")
        assert heard == [], "the CNI's configuration reached nodes that are there already"
        deployed.up(instanceType="r5a.xlarge")
    finally:
        node_groups.listeners.remove(heard)
    assert [(nodes.count, nodes.max_pods) for nodes in heard] == [(0, 29), (2, 110)]
    agent = aws.client("eks").describe_addon(clusterName="example", addonName="eks-pod-identity-agent")[
        "addon"
    ]
    assert agent["tags"] == {"made-by": "a-test", "purpose": "changed"}


def test_a_type_that_it_does_not_know_fails_the_preview_by_name(deployed: Project) -> None:
    said = deployed.fails("preview", unknown="yes")
    assert "error: aws:sqs/queue:Queue is not known to the stand-in for AWS" in said


def test_an_error_of_aws_reaches_the_user_as_aws_said_it(deployed: Project) -> None:
    said = deployed.fails("up", cniVersion="v9.9.9")
    assert "Addon version specified is not supported" in said
    assert "UpdateAddon" in said


def test_destroy_leaves_nothing(deployed: Project, aws: Account) -> None:
    deployed.destroy()
    assert aws.holds() == {}
