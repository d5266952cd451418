"""From an empty account to agents on every node and tenants deployed, by one `up`."""

import json
from typing import Any

from tests.eks import environment
from tests.eks.aws_cli import ACCOUNT
from tests.eks.deployment import Deployment
from tests.eks.environment import BUCKET, CLUSTER
from tests.eks.region import Region
from tests.eks.steps import Step
from tests.support.aws.account import REGION

LAYER, NODES = "observability", "observability-nodes"
CLUSTER_ARN = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{CLUSTER}"


def test_the_first_preview_of_an_unknown_cluster_plans_all_of_it(first_plan: list[Step]) -> None:
    assert {step.op for step in first_plan} == {"create"}
    planned = {step.type for step in first_plan}
    assert {
        "aws:eks/cluster:Cluster",
        "kubernetes:apps/v1:DaemonSet",
        "kubernetes:core/v1:Namespace",
    } <= planned


def test_one_up_puts_agents_on_every_node_of_the_groups(deployed: Deployment, region: Region) -> None:
    names = {node["metadata"]["name"] for node in region.kube.list("nodes")}
    assert names == {"web-0", "workers-0", "workers-1", "batch-0"}
    agents = region.kube.running(NODES)
    on = sorted(
        (pod["metadata"]["labels"]["app.kubernetes.io/name"], pod["spec"]["nodeName"]) for pod in agents
    )
    assert on == sorted((app, name) for app in ("alloy", "node-exporter") for name in names)


def test_stores_run_on_encrypted_volumes_that_the_driver_made(deployed: Deployment, region: Region) -> None:
    volumes = region.kube.list("persistentvolumes")
    claims = {volume["spec"]["claimRef"]["namespace"] for volume in volumes}
    assert (len(volumes), claims) == (2, {LAYER})
    (name,) = {volume["spec"]["storageClassName"] for volume in volumes}
    parameters = region.kube.get("storageclasses", name)["parameters"]
    assert (parameters["type"], parameters["encrypted"]) == ("gp3", "true")


def test_tenants_are_there(deployed: Deployment, region: Region) -> None:
    assert {"shop", "billing"} <= {one["metadata"]["name"] for one in region.kube.list("namespaces")}
    assert region.kube.running("shop")


def test_nodes_have_the_max_pods_that_the_budget_counts_with(deployed: Deployment, region: Region) -> None:
    nodes = region.kube.list("nodes")
    found = {node["metadata"]["name"].split("-")[0]: node["status"]["capacity"]["pods"] for node in nodes}
    assert found == {"web": "35", "workers": "58", "batch": "29"}
    budget = deployed.outputs()["podBudget"]
    assert {"35", "58", "29"} <= set(json.dumps(budget).replace(",", " ").replace("}", " ").split())


def test_the_cni_is_configured_before_any_group_counts_by_it(deployed: Deployment, region: Region) -> None:
    cni = region.eks.describe_addon(clusterName=CLUSTER, addonName="vpc-cni")["addon"]
    groups = [
        region.eks.describe_nodegroup(clusterName=CLUSTER, nodegroupName=name)["nodegroup"]
        for name in environment.GROUPS
    ]
    assert all(cni["createdAt"] < group["createdAt"] for group in groups)
    values = json.loads(cni["configurationValues"])
    assert values["enableNetworkPolicy"] == "true"
    assert values["env"]["ENABLE_PREFIX_DELEGATION"] == "false"


def test_nobody_has_rights_by_having_made_the_cluster(deployed: Deployment, region: Region) -> None:
    made = region.eks.describe_cluster(name=CLUSTER)["cluster"]
    assert made["accessConfig"]["authenticationMode"] == "API"
    assert made["accessConfig"]["bootstrapClusterCreatorAdminPermissions"] is False
    assert made["resourcesVpcConfig"]["endpointPublicAccess"] is False
    entries = region.eks.list_access_entries(clusterName=CLUSTER)["accessEntries"]
    assert f"arn:aws:iam::{ACCOUNT}:role/deployer" in entries


def test_loki_alone_may_use_the_bucket(deployed: Deployment, region: Region) -> None:
    of_layer = {"clusterName": CLUSTER, "namespace": LAYER}
    (listed,) = region.eks.list_pod_identity_associations(**of_layer)["associations"]
    key = {"clusterName": CLUSTER, "associationId": listed["associationId"]}
    association = region.eks.describe_pod_identity_association(**key)["association"]
    assert association["serviceAccount"] == "loki"
    iam, role = region.account.client("iam"), association["roleArn"].rsplit("/", maxsplit=1)[-1]
    (policy,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
    document = iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"]
    assert {arn.split("/")[0] for arn in _resources(document)} == {f"arn:aws:s3:::{BUCKET}"}
    trust = iam.get_role(RoleName=role)["Role"]["AssumeRolePolicyDocument"]["Statement"][0]
    assert trust["Condition"]["StringEquals"]["aws:RequestTag/eks-cluster-arn"] == CLUSTER_ARN


def _resources(document: dict[str, Any]) -> list[str]:
    found = [statement["Resource"] for statement in document["Statement"]]
    return [arn for one in found for arn in (one if isinstance(one, list) else [one])]


def test_the_bucket_is_closed_encrypted_and_emptied_behind_the_retention(
    deployed: Deployment, region: Region
) -> None:
    s3 = region.account.client("s3")
    closed = s3.get_public_access_block(Bucket=BUCKET)["PublicAccessBlockConfiguration"]
    assert all(closed.values())
    (rule,) = s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)["Rules"]
    assert rule["Expiration"]["Days"] > 7
    encryption = s3.get_bucket_encryption(Bucket=BUCKET)["ServerSideEncryptionConfiguration"]["Rules"]
    assert encryption[0]["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"


def test_the_kubeconfig_asks_the_aws_cli_for_this_cluster_and_region(
    deployed: Deployment, region: Region
) -> None:
    asked = [call for call in region.cli.calls() if "get-token" in call]
    assert asked
    assert set(asked) == {f"--region {REGION} eks get-token --cluster-name {CLUSTER} --output json"}


def test_a_second_preview_and_a_refresh_find_nothing_to_change(deployed: Deployment) -> None:
    assert deployed.plan() == []
    deployed.refresh()
    assert deployed.plan() == []


def test_the_policy_pack_has_nothing_against_it(deployed: Deployment) -> None:
    said = deployed.judged()
    assert "shared-observability@" in said, "the pack was not asked"
