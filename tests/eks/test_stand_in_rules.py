"""EKS's rules that moto does not have, asked of the stand-in by boto3."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.aws.account import REGION, Account
from tests.support.aws.eks_service.node_groups import max_pods

ROLE = "arn:aws:iam::123456789012:role/"
SCALING = {"desiredSize": 1, "maxSize": 1, "minSize": 1}
PREFIXES = json.dumps({"env": {"ENABLE_PREFIX_DELEGATION": "true"}})
CNI = {"clusterName": "dev", "addonName": "vpc-cni"}


@pytest.fixture
def subnets(aws: Account) -> Iterator[list[str]]:
    """Two, in two zones of an account that is emptied afterwards."""
    yield aws.network()
    aws.forget()


@pytest.fixture
def make(aws: Account, subnets: list[str]) -> Callable[..., Any]:
    """Makes the cluster `dev`."""

    def cluster(**given: Any) -> Any:
        arguments = {
            "name": "dev",
            "roleArn": f"{ROLE}cluster",
            "version": "1.35",
            "resourcesVpcConfig": {"subnetIds": subnets},
            "accessConfig": {"authenticationMode": "API"},
        }
        return aws.client("eks").create_cluster(**{**arguments, **given})["cluster"]

    return cluster


@pytest.fixture
def group(aws: Account, subnets: list[str]) -> Callable[..., Any]:
    """Makes a node group of it."""

    def node_group(**given: Any) -> Any:
        arguments = {
            "clusterName": "dev",
            "nodegroupName": "web",
            "nodeRole": f"{ROLE}nodes",
            "subnets": subnets,
            "scalingConfig": SCALING,
            "instanceTypes": ["t3.large"],
        }
        return aws.client("eks").create_nodegroup(**{**arguments, **given})["nodegroup"]

    return node_group


def refusal(call: Callable[..., Any], **arguments: Any) -> str:
    """Code and message of an error."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    error = caught.value.response["Error"]
    return f"{error['Code']}: {error['Message']}"


def test_a_cluster_says_its_network_and_access(make: Callable[..., Any], aws: Account) -> None:
    make()
    found = aws.client("eks").describe_cluster(name="dev")["cluster"]
    assert found["accessConfig"] == {"authenticationMode": "API"}
    assert found["version"] == "1.35"
    assert found["resourcesVpcConfig"]["vpcId"].startswith("vpc-")
    assert found["resourcesVpcConfig"]["endpointPublicAccess"] is True


def test_a_cluster_that_eks_would_refuse_is_refused(make: Callable[..., Any], aws: Account) -> None:
    ec2 = aws.client("ec2")
    vpc = ec2.describe_subnets()["Subnets"][0]["VpcId"]
    one_zone = {"subnetIds": [aws.network("10.9.0.0/16", ("10.9.0.0/20",))[0]]}
    assert "unsupported Kubernetes version 9.99" in refusal(make, version="9.99")
    assert "does not exist" in refusal(make, resourcesVpcConfig={"subnetIds": ["subnet-0000", "subnet-0001"]})
    assert "at least two different AZs" in refusal(make, resourcesVpcConfig=one_zone)
    make()
    assert "ResourceInUse" in refusal(make)
    assert vpc


def test_a_cluster_with_groups_or_protection_is_not_deleted(
    make: Callable[..., Any], group: Callable[..., Any], aws: Account
) -> None:
    eks = aws.client("eks")
    make(deletionProtection=True)
    assert "deletion protection" in refusal(eks.delete_cluster, name="dev")
    make(name="other")
    group(clusterName="other")
    assert "ResourceInUse" in refusal(eks.delete_cluster, name="other")
    eks.delete_nodegroup(clusterName="other", nodegroupName="web")
    eks.delete_cluster(name="other")


def test_a_group_that_eks_would_refuse_is_refused(
    make: Callable[..., Any], group: Callable[..., Any], aws: Account
) -> None:
    make(bootstrapSelfManagedAddons=False)
    assert "NodeCreationFailure" in refusal(group)
    aws.client("eks").create_addon(**CNI)
    assert "[m9.huge] is not a valid instance type" in refusal(group, instanceTypes=["m9.huge"])
    assert "does not exist" in refusal(group, subnets=["subnet-0000"])
    group()
    assert "ResourceInUse" in refusal(group)


def test_the_nodes_role_is_admitted_by_eks_itself_until_its_last_group_goes(
    make: Callable[..., Any], group: Callable[..., Any], aws: Account
) -> None:
    eks, entry = aws.client("eks"), {"clusterName": "dev", "principalArn": f"{ROLE}nodes"}
    make()
    group()
    assert eks.describe_access_entry(**entry)["accessEntry"]["type"] == "EC2_LINUX"
    assert "ResourceInUse" in refusal(eks.create_access_entry, **entry)
    eks.delete_nodegroup(clusterName="dev", nodegroupName="web")
    assert eks.list_access_entries(clusterName="dev")["accessEntries"] == []


def test_access_entries_need_a_cluster_that_takes_them(make: Callable[..., Any], aws: Account) -> None:
    make(accessConfig={"authenticationMode": "CONFIG_MAP"})
    entry = {"clusterName": "dev", "principalArn": f"{ROLE}admin"}
    assert "authentication mode must be set" in refusal(aws.client("eks").create_access_entry, **entry)


def test_an_addon_is_refused_where_its_name_version_or_configuration_is_wrong(
    make: Callable[..., Any], aws: Account
) -> None:
    make()
    create = aws.client("eks").create_addon
    assert "nope specified is not supported" in refusal(create, clusterName="dev", addonName="nope")
    proxy = {"clusterName": "dev", "addonName": "kube-proxy", "addonVersion": "v1.34.0-eksbuild.2"}
    assert "version specified is not supported" in refusal(create, **proxy)
    for values in ({"env": {"ENABLE_PREFIX_DELEGATION": True}}, {"env": {"ENABLE_PREFIX": "true"}}):
        said = refusal(create, **CNI, configurationValues=json.dumps(values))
        assert "ConfigurationValue provided in request is not supported" in said
    create(**CNI, configurationValues=PREFIXES)
    assert "already exists" in refusal(create, **CNI)


def test_addon_versions_are_those_of_the_cluster_version(aws: Account) -> None:
    asked = {"addonName": "kube-proxy", "kubernetesVersion": "1.34"}
    (found,) = aws.client("eks").describe_addon_versions(**asked)["addons"]
    assert [version["addonVersion"] for version in found["addonVersions"]] == ["v1.34.0-eksbuild.2"]


@pytest.mark.parametrize(
    ("types", "environment", "expected"),
    [
        # The user guide's example: 29, 20 with custom networking, 110 with prefixes.
        (["m5.large"], {}, 29),
        (["m5.large"], {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}, 20),
        (["m5.large"], {"ENABLE_PREFIX_DELEGATION": "true"}, 110),
        (["t3.large"], {}, 35),
        (["t3.large", "m5.large"], {}, 29),
        (["m4.large"], {"ENABLE_PREFIX_DELEGATION": "true"}, 20),  # xen
        (["m5.24xlarge"], {}, 250),
    ],
)
def test_max_pods_are_those_of_the_user_guide(
    types: list[str], environment: dict[str, str], expected: int
) -> None:
    assert max_pods(types, {"env": environment}) == expected


def test_one_service_account_has_one_role_which_pods_may_take(make: Callable[..., Any], aws: Account) -> None:
    make()
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": "pods.eks.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    other = {**trust, "Principal": {"Service": "ec2.amazonaws.com"}}
    for name, statement in (("loki", trust), ("node", other)):
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        aws.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=document)
    create = aws.client("eks").create_pod_identity_association
    pod = {"clusterName": "dev", "namespace": "observability", "serviceAccount": "loki"}
    assert "does not exist" in refusal(create, **pod, roleArn=f"{ROLE}absent")
    assert "does not allow pods.eks.amazonaws.com" in refusal(create, **pod, roleArn=f"{ROLE}node")
    create(**pod, roleArn=f"{ROLE}loki")
    assert "already exists" in refusal(create, **pod, roleArn=f"{ROLE}loki")


def test_another_region_has_none_of_it(make: Callable[..., Any], aws: Account) -> None:
    make()
    elsewhere = aws.client("eks", "us-east-1")
    assert REGION != "us-east-1"
    assert "No cluster found" in refusal(elsewhere.describe_cluster, name="dev")
