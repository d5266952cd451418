"""A cluster that is made here, as it is registered: order, rights, protection, and that nothing is left to defaults."""

import functools
import json
import warnings
from typing import Any

import pytest

from components import names
from components.cluster.eks import plans
from components.names import OWNER_LABEL
from tests.support.environments import changed
from tests.support.mocks import Registered
from tests.unit.components import aws
from tests.unit.components.environments import STACK, Environment, environment
from tests.unit.components.environments import VARIANTS as VARIANTS_OF_ALL
from tests.unit.components.test_target import provider as kubernetes_provider

BASE = changed(aws.MADE_HERE, ("layer.logs", {"store": aws.S3}))
SCALED = ("cluster.nodeGroups.batch.nodes", {"min": 0, "max": 4})
VARIANTS: dict[str, list[tuple[str, Any]]] = {
    "plain": [],
    "all of it": [
        SCALED,
        ("layer.protection", True),
        ("cluster.target.dataKey", aws.KEY),
        ("cluster.target.create.secretsKey", aws.KEY),
        ("cluster.target.tags", {"cost-centre": "42"}),
    ],
    "by token": [("cluster.target.identity", "irsa")],
}
# What cannot carry tags.
UNTAGGED = {
    "accessPolicyAssociation", "bucketLifecycleConfiguration", "bucketOwnershipControls", "bucketPolicy",
    "bucketPublicAccessBlock", "bucketServerSideEncryptionConfiguration", "rolePolicy", "rolePolicyAttachment", "tag",
}  # fmt: skip


@functools.cache
def made(variant: str) -> Environment:
    """The environment, recorded once."""
    return environment(changed(BASE, *VARIANTS[variant]))


def of(recorded: Environment, kind: str) -> list[Registered]:
    """AWS resources of a kind, as `eks/cluster`."""
    return [r for r in recorded.recorder.registered.values() if r.type.startswith(f"aws:{kind}:")]


def one(recorded: Environment, kind: str) -> Registered:
    """The only one."""
    (found,) = of(recorded, kind)
    return found


def of_aws(recorded: Environment) -> list[Registered]:
    """All of them."""
    return [r for r in recorded.recorder.registered.values() if r.type.startswith("aws:")]


def before(recorded: Environment, found: Registered) -> set[str]:
    """URNs of all that exists before a resource does."""
    registered, waited, asked = recorded.recorder.registered, set[str](), [found.urn]
    while asked:
        current = registered.get(asked.pop())
        if current is not None:
            new = set(current.dependencies) - waited
            waited |= new
            asked += new
    return waited


def add_on(recorded: Environment, name: str) -> Registered:
    """An add-on."""
    (found,) = (r for r in of(recorded, "eks/addon") if r.inputs["addonName"] == name)
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_cni_is_there_before_any_node_group(variant: str) -> None:
    recorded = made(variant)
    groups = of(recorded, "eks/nodeGroup")
    assert {group.inputs["nodeGroupName"] for group in groups} == {"web", "workers", "batch"}
    for group in groups:
        assert add_on(recorded, plans.VPC_CNI).urn in before(recorded, group)
        assert add_on(recorded, plans.KUBE_PROXY).urn in before(recorded, group)


@pytest.mark.parametrize("name", [plans.COREDNS, plans.EBS_CSI, plans.METRICS_SERVER])
def test_what_needs_nodes_comes_after_all_of_them(name: str) -> None:
    recorded = made("plain")
    assert {group.urn for group in of(recorded, "eks/nodeGroup")} <= before(recorded, add_on(recorded, name))


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_kubernetes_object_comes_before_nodes_add_ons_access_and_the_bucket(variant: str) -> None:
    recorded = made(variant)
    (provider,) = (
        r for r in recorded.recorder.registered.values() if r.type == "pulumi:providers:kubernetes"
    )
    waited = before(recorded, provider)
    needed = [
        *(of(recorded, kind)[0] for kind in ("eks/cluster", "s3/bucket", "s3/bucketPolicy")),
        *of(recorded, "eks/nodeGroup"),
        *of(recorded, "eks/addon"),
        *of(recorded, "eks/accessPolicyAssociation"),
        *of(recorded, "eks/podIdentityAssociation"),
    ]
    assert {found.urn for found in needed} <= waited
    assert all(found.registered.provider.startswith(provider.urn) for found in recorded.objects)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_resource_names_the_one_provider_and_whose_it_is(variant: str) -> None:
    recorded = made(variant)
    (provider,) = (r for r in recorded.recorder.registered.values() if r.type == "pulumi:providers:aws")
    for found in of_aws(recorded):
        assert found.provider.startswith(provider.urn), found.urn
        kind = found.type.rpartition("/")[2].partition(":")[0]
        if kind not in UNTAGGED:
            assert found.inputs["tags"][OWNER_LABEL] == STACK, found.urn
            if variant == "all of it":
                assert found.inputs["tags"]["cost-centre"] == "42", found.urn


def test_the_provider_gets_region_and_account_and_nothing_of_the_shell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.setenv(variable, "us-east-1")
    recorded = environment(BASE, answers=aws.answers())
    (provider,) = (r for r in recorded.recorder.registered.values() if r.type == "pulumi:providers:aws")
    assert provider.inputs["region"] == aws.REGION
    assert json.loads(provider.inputs["allowedAccountIds"]) == [aws.ACCOUNT]
    assert not {"profile", "accessKey", "secretKey", "endpoints"} & set(provider.inputs)


def test_the_cluster_is_known_by_its_arn_and_the_time_when_it_was_made() -> None:
    recorded = made("plain")
    provider = kubernetes_provider(recorded)
    assert provider["clusterIdentifier"] == aws.IDENTITY
    kubeconfig = json.loads(provider["kubeconfig"])
    assert kubeconfig["clusters"][0]["cluster"] == {
        "server": aws.ENDPOINT,
        "certificate-authority-data": aws.AUTHORITY,
    }
    assert recorded.outputs["target"] == {"kind": "eks", "identity": aws.IDENTITY}


def test_nobody_has_rights_by_having_made_the_cluster() -> None:
    recorded = made("plain")
    cluster = one(recorded, "eks/cluster").inputs
    assert cluster["accessConfig"] == {
        "authenticationMode": "API",
        "bootstrapClusterCreatorAdminPermissions": False,
    }
    assert cluster["bootstrapSelfManagedAddons"] is False
    given = {
        r.inputs["principalArn"]: (r.inputs["policyArn"].rpartition("/")[2], r.inputs["accessScope"])
        for r in of(recorded, "eks/accessPolicyAssociation")
    }
    assert given == {
        aws.DEPLOYER: ("AmazonEKSClusterAdminPolicy", {"type": "cluster"}),
        f"arn:aws:iam::{aws.ACCOUNT}:role/shop": (
            "AmazonEKSViewPolicy",
            {"type": "namespace", "namespaces": ["shop"]},
        ),
    }


@pytest.mark.parametrize(("variant", "kept"), [("plain", False), ("all of it", True)])
def test_protection_is_of_the_cluster_the_bucket_and_the_namespaces(variant: str, kept: bool) -> None:
    recorded = made(variant)
    cluster, bucket = one(recorded, "eks/cluster"), one(recorded, "s3/bucket")
    namespaces = [o.registered for o in recorded.of("Namespace") if o.name.startswith("observability")]
    assert len(namespaces) == 2
    assert {found.protect for found in (cluster, bucket, *namespaces)} == {kept}
    assert cluster.inputs["deletionProtection"] is kept
    assert bucket.inputs["forceDestroy"] is not kept


def test_the_control_planes_logs_end_and_go_with_it() -> None:
    recorded = made("plain")
    group = one(recorded, "cloudwatch/logGroup")
    assert group.inputs["name"] == "/aws/eks/prod/cluster"
    assert group.inputs["retentionInDays"] == 30
    assert group.urn in before(recorded, one(recorded, "eks/cluster"))


def test_keys_encrypt_secrets_volumes_and_the_bucket() -> None:
    recorded = made("all of it")
    assert one(recorded, "eks/cluster").inputs["encryptionConfig"]["provider"] == {"keyArn": aws.KEY}
    (rule,) = one(recorded, "s3/bucketServerSideEncryptionConfiguration").inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"] == {
        "sseAlgorithm": "aws:kms",
        "kmsMasterKeyId": aws.KEY,
    }
    assert recorded.named("StorageClass", names.VOLUME_CLASS).inputs["parameters"]["kmsKeyId"] == aws.KEY
    for template in of(recorded, "ec2/launchTemplate"):
        (volume,) = template.inputs["blockDeviceMappings"]
        assert (volume["ebs"]["encrypted"], volume["ebs"]["kmsKeyId"]) == ("true", aws.KEY)


def test_without_keys_of_ours_aws_own_encrypt() -> None:
    recorded = made("plain")
    (rule,) = one(recorded, "s3/bucketServerSideEncryptionConfiguration").inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"] == {"sseAlgorithm": "AES256"}
    parameters = recorded.named("StorageClass", names.VOLUME_CLASS).inputs["parameters"]
    assert (parameters["type"], parameters["encrypted"]) == ("gp3", "true")
    assert {c.inputs["spec"]["storageClassName"] for c in recorded.of("PersistentVolumeClaim")} == {
        names.VOLUME_CLASS
    }


def test_in_auto_mode_volumes_are_of_its_own_driver_and_have_no_tags() -> None:
    (found,) = environment(VARIANTS_OF_ALL["on EKS, Auto Mode"]).of("StorageClass")
    assert found.name == names.AUTO_MODE_VOLUME_CLASS
    assert found.inputs["provisioner"] == "ebs.csi.eks.amazonaws.com"
    assert found.inputs["parameters"] == {"type": "gp3", "encrypted": "true"}
    ((label,),) = (term["matchLabelExpressions"] for term in found.inputs["allowedTopologies"])
    assert label == {"key": "eks.amazonaws.com/compute-type", "values": ["auto"]}
    recorded = environment(VARIANTS_OF_ALL["on EKS, Auto Mode"])
    claims = {c.inputs["spec"]["storageClassName"] for c in recorded.of("PersistentVolumeClaim")}
    assert claims == {names.AUTO_MODE_VOLUME_CLASS}


def test_the_bucket_is_closed_owned_and_emptied_behind_the_longest_retention() -> None:
    recorded = environment(changed(BASE, ("tenants.shop.retention", "2w")))
    assert one(recorded, "s3/bucketPublicAccessBlock").inputs == {
        "bucket": "lines-of-prod",
        "blockPublicAcls": True,
        "blockPublicPolicy": True,
        "ignorePublicAcls": True,
        "restrictPublicBuckets": True,
    }
    assert one(recorded, "s3/bucketOwnershipControls").inputs["rule"] == {
        "objectOwnership": "BucketOwnerEnforced"
    }
    (rule,) = one(recorded, "s3/bucketLifecycleConfiguration").inputs["rules"]
    assert rule["expiration"] == {"days": 14 + 30}


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_role_may_do_anything_to_everything(variant: str) -> None:
    recorded = made(variant)
    for policy in of(recorded, "iam/rolePolicy"):
        for statement in aws.document(policy.inputs["policy"])["Statement"]:
            assert "*" not in statement["Action"]
            assert statement["Resource"] != "*"
    for role in of(recorded, "iam/role"):
        (trust,) = aws.document(role.inputs["assumeRolePolicy"])["Statement"]
        assert trust["Principal"] != "*"
        service = trust["Principal"].get("Service", "")
        assert "Condition" in trust or service in {"eks.amazonaws.com", "ec2.amazonaws.com"}


def test_the_nodes_role_has_no_rights_that_pods_would_inherit() -> None:
    recorded = made("plain")
    attached = {
        r.name: r.inputs["policyArn"].rpartition("/")[2] for r in of(recorded, "iam/rolePolicyAttachment")
    }
    assert {policy for name, policy in attached.items() if "-node-" in name and "before" not in name} == {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
    }
    for template in of(recorded, "ec2/launchTemplate"):
        assert "imageId" not in template.inputs  # else EKS injects no max-pods
        assert template.inputs["metadataOptions"]["httpTokens"] == "required"
        assert template.inputs["metadataOptions"]["httpPutResponseHopLimit"] == 1


def test_loki_gets_its_role_by_an_association_or_by_its_token() -> None:
    association = one(made("plain"), "eks/podIdentityAssociation").inputs
    assert (association["namespace"], association["serviceAccount"]) == ("observability", "loki")
    account = made("by token").named("ServiceAccount", "loki")
    assert account.inputs["metadata"]["annotations"] == {
        "eks.amazonaws.com/role-arn": f"arn:aws:iam::{aws.ACCOUNT}:role/a-role"
    }
    assert of(made("by token"), "eks/podIdentityAssociation") == []
    assert "annotations" not in made("plain").named("ServiceAccount", "loki").inputs["metadata"]
    assert "podIdentityAssociations" not in add_on(made("by token"), plans.VPC_CNI).inputs


def test_a_group_that_is_scaled_is_tagged_where_an_autoscaler_looks() -> None:
    recorded = made("all of it")
    tags = of(recorded, "autoscaling/tag")
    assert {tag.inputs["autoscalingGroupName"] for tag in tags} == {"eks-batch"}
    by_key = {
        tag.inputs["tag"]["key"].partition("node-template/")[2]: tag.inputs["tag"]["value"] for tag in tags
    }
    assert by_key["resources/pods"] == "58"
    assert of(made("plain"), "autoscaling/tag") == []


def test_a_bucket_of_others_gets_nothing_but_a_role() -> None:
    store = {**aws.S3, "madeBy": "others"}
    there = aws.answers(getBucket=lambda asked: {**asked, "arn": "arn:aws:s3:::lines-of-prod"})
    recorded = environment(changed(BASE, ("layer.logs", {"store": store})), answers=there)
    assert [r.type for r in of_aws(recorded) if r.type.startswith("aws:s3/")] == []
    assert len(of(recorded, "eks/podIdentityAssociation")) == 1


def test_nothing_deprecated_is_used() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        warnings.filterwarnings("ignore", ".*has been deprecated in favor of", DeprecationWarning)
        recorded = environment(changed(BASE, *VARIANTS["all of it"]), answers=aws.answers())
    assert [text for text in recorded.recorder.warnings if "deprecated" in text] == []
    assert set(one(recorded, "s3/bucket").inputs) <= {"bucket", "forceDestroy", "tags"}
    for role in of(recorded, "iam/role"):
        assert not {"inlinePolicies", "managedPolicyArns"} & set(role.inputs)


def test_an_unchanged_environment_is_registered_the_same() -> None:
    first, second = (environment(BASE, answers=aws.answers()) for _ in range(2))
    assert {r.urn: r.inputs for r in of_aws(first)} == {r.urn: r.inputs for r in of_aws(second)}
