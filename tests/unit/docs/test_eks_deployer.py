"""docs/eks-deployer-policy.json: enough for every kind of resource that is made in AWS, and for every look."""

import json
import re

import pytest

from commands.environments import ROOT
from tests.unit.components import aws
from tests.unit.eks.test_create import VARIANTS, made

POLICY = json.loads((ROOT / "docs" / "eks-deployer-policy.json").read_text(encoding="utf-8"))
ALLOWED = {
    action
    for statement in POLICY["Statement"]
    for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
}
# What making, reading and deleting each kind asks of AWS, from the services' own lists of actions.
NEEDS = {
    "autoscaling/tag": {"autoscaling:CreateOrUpdateTags", "autoscaling:DescribeTags", "autoscaling:DeleteTags"},
    "cloudwatch/logGroup": {"logs:CreateLogGroup", "logs:PutRetentionPolicy", "logs:DescribeLogGroups",
                            "logs:DeleteLogGroup", "logs:TagResource"},
    "ec2/launchTemplate": {"ec2:CreateLaunchTemplate", "ec2:CreateLaunchTemplateVersion", "ec2:CreateTags",
                           "ec2:DescribeLaunchTemplates", "ec2:DescribeLaunchTemplateVersions",
                           "ec2:ModifyLaunchTemplate", "ec2:DeleteLaunchTemplate", "ec2:RunInstances"},
    "eks/accessEntry": {"eks:CreateAccessEntry", "eks:DescribeAccessEntry", "eks:DeleteAccessEntry"},
    "eks/accessPolicyAssociation": {"eks:AssociateAccessPolicy", "eks:ListAssociatedAccessPolicies",
                                    "eks:DisassociateAccessPolicy"},
    "eks/addon": {"eks:CreateAddon", "eks:DescribeAddon", "eks:UpdateAddon", "eks:DeleteAddon", "iam:PassRole",
                  "eks:CreatePodIdentityAssociation", "eks:DescribePodIdentityAssociation"},
    "eks/cluster": {"eks:CreateCluster", "eks:DescribeCluster", "eks:UpdateClusterConfig", "eks:UpdateClusterVersion",
                    "eks:DescribeUpdate", "eks:DeleteCluster", "eks:TagResource", "iam:PassRole", "ec2:DescribeSubnets",
                    "iam:CreateServiceLinkedRole", "kms:CreateGrant", "kms:DescribeKey"},
    "eks/nodeGroup": {"eks:CreateNodegroup", "eks:DescribeNodegroup", "eks:UpdateNodegroupConfig",
                      "eks:UpdateNodegroupVersion", "eks:DeleteNodegroup", "iam:PassRole", "iam:GetRole",
                      "iam:ListAttachedRolePolicies", "ec2:RunInstances"},
    "eks/podIdentityAssociation": {"eks:CreatePodIdentityAssociation", "eks:DescribePodIdentityAssociation",
                                   "eks:DeletePodIdentityAssociation", "iam:PassRole", "iam:GetRole"},
    "iam/openIdConnectProvider": {"iam:CreateOpenIDConnectProvider", "iam:GetOpenIDConnectProvider",
                                  "iam:DeleteOpenIDConnectProvider", "iam:TagOpenIDConnectProvider"},
    "iam/role": {"iam:CreateRole", "iam:GetRole", "iam:DeleteRole", "iam:TagRole", "iam:UpdateAssumeRolePolicy",
                 "iam:ListRolePolicies", "iam:ListAttachedRolePolicies", "iam:ListInstanceProfilesForRole"},
    "iam/rolePolicy": {"iam:PutRolePolicy", "iam:GetRolePolicy", "iam:DeleteRolePolicy"},
    "iam/rolePolicyAttachment": {"iam:AttachRolePolicy", "iam:ListAttachedRolePolicies", "iam:DetachRolePolicy"},
    "s3/bucket": {"s3:CreateBucket", "s3:ListBucket", "s3:DeleteBucket", "s3:DeleteObject", "s3:PutBucketTagging",
                  "s3:GetBucketTagging", "s3:ListBucketVersions"},
    "s3/bucketLifecycleConfiguration": {"s3:PutLifecycleConfiguration", "s3:GetLifecycleConfiguration"},
    "s3/bucketOwnershipControls": {"s3:PutBucketOwnershipControls", "s3:GetBucketOwnershipControls"},
    "s3/bucketPolicy": {"s3:PutBucketPolicy", "s3:GetBucketPolicy", "s3:DeleteBucketPolicy"},
    "s3/bucketPublicAccessBlock": {"s3:PutBucketPublicAccessBlock", "s3:GetBucketPublicAccessBlock"},
    "s3/bucketServerSideEncryptionConfiguration": {"s3:PutEncryptionConfiguration", "s3:GetEncryptionConfiguration"},
}  # fmt: skip
LOOKS = {
    "eks/getClusters": "eks:ListClusters",
    "eks/getCluster": "eks:DescribeCluster",
    "eks/getClusterVersions": "eks:DescribeClusterVersions",
    "eks/getAddonVersion": "eks:DescribeAddonVersions",
    "eks/getNodeGroups": "eks:ListNodegroups",
    "eks/getNodeGroup": "eks:DescribeNodegroup",
    "ec2/getInstanceTypeOfferings": "ec2:DescribeInstanceTypeOfferings",
    "ec2/getInstanceType": "ec2:DescribeInstanceTypes",
    "ec2/getSubnet": "ec2:DescribeSubnets",
    "s3/getBucket": "s3:ListBucket",
}


def kinds(variant: str) -> set[str]:
    """Kinds of AWS resources that an environment makes."""
    registered = made(variant).recorder.registered.values()
    return {r.type.split(":")[1] for r in registered if r.type.startswith("aws:")}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_policy_allows_what_every_kind_of_resource_needs(variant: str) -> None:
    for kind in kinds(variant):
        assert NEEDS[kind] <= ALLOWED, f"{kind}: {NEEDS[kind] - ALLOWED}"


def test_the_kinds_are_all_kinds_that_the_program_makes() -> None:
    assert set().union(*map(kinds, VARIANTS)) == set(NEEDS)


def test_the_policy_allows_every_look() -> None:
    asked = {token.split(":")[1] for token in aws.answers()}
    assert asked == set(LOOKS)
    assert set(LOOKS.values()) <= ALLOWED


def test_no_action_is_a_pattern_and_rights_over_everything_are_few() -> None:
    assert [action for action in ALLOWED if "*" in action] == []
    everything = {s["Sid"] for s in POLICY["Statement"] if s["Resource"] == "*"}
    assert everything == {"LookBeforeAnythingIsMade", "LaunchTemplates", "TagsForAnAutoscaler"}
    assert not {
        action for action in ALLOWED if re.match(r"iam:(Create|Put|Attach)(User|Group|Policy$)", action)
    }
