"""IAM and bucket policies: what they allow, to whom, and that nothing in them is wider than one resource."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.cluster.eks import documents
from components.cluster.eks.arns import access_policy, is_same_principal, managed_policy, partition

KEY = "arn:aws:kms:eu-central-1:123456789012:key/abc"
ARN = "arn:aws:eks:eu-central-1:123456789012:cluster/prod"
BUCKET = documents.uses_bucket("eu-central-1", "lines", KEY)
GIVEN = {
    "bucket": BUCKET,
    "secrets key": documents.uses_secrets_key(KEY),
    "volume key": documents.uses_volume_key(KEY),
}


def statements(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Its statements."""
    assert document["Version"] == "2012-10-17"
    yield from document["Statement"]


@pytest.mark.parametrize("name", GIVEN)
def test_no_right_is_for_everything(name: str) -> None:
    for statement in statements(GIVEN[name]):
        assert statement["Effect"] == "Allow"
        assert all("*" not in action for action in statement["Action"])
        assert statement["Resource"] in {KEY, "arn:aws:s3:::lines", "arn:aws:s3:::lines/*"}


def test_loki_may_do_with_its_bucket_what_it_needs_and_no_more() -> None:
    by_resource = {s["Resource"]: set(s["Action"]) for s in statements(BUCKET)}
    assert by_resource == {
        "arn:aws:s3:::lines": {"s3:ListBucket"},
        "arn:aws:s3:::lines/*": {
            "s3:GetObject",
            "s3:PutObject",
            "s3:DeleteObject",
            "s3:AbortMultipartUpload",
        },
        KEY: {"kms:Decrypt", "kms:GenerateDataKey"},
    }
    assert KEY not in documents.text(documents.uses_bucket("eu-central-1", "lines", None))


def test_the_ebs_driver_grants_the_key_to_aws_services_only() -> None:
    (grants,) = (s for s in statements(GIVEN["volume key"]) if "kms:CreateGrant" in s["Action"])
    assert grants["Condition"] == {"Bool": {"kms:GrantIsForAWSResource": "true"}}


def test_a_role_for_pods_is_for_one_service_account_of_one_cluster() -> None:
    (only,) = statements(documents.trusts_pods(ARN, "observability", "loki"))
    assert only["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert only["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    assert only["Condition"]["StringEquals"] == {
        "aws:RequestTag/eks-cluster-arn": ARN,
        "aws:RequestTag/kubernetes-namespace": "observability",
        "aws:RequestTag/kubernetes-service-account": "loki",
    }


def test_a_role_by_token_is_for_one_service_account_and_one_audience() -> None:
    issuer = "https://oidc.eks.eu-central-1.amazonaws.com/id/01"
    provider = documents.oidc_provider(ARN, issuer)
    assert provider == "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/01"
    (only,) = statements(documents.trusts_token(provider, issuer, "observability", "loki"))
    assert only["Principal"] == {"Federated": provider}
    assert only["Condition"]["StringEquals"] == {
        "oidc.eks.eu-central-1.amazonaws.com/id/01:aud": "sts.amazonaws.com",
        "oidc.eks.eu-central-1.amazonaws.com/id/01:sub": "system:serviceaccount:observability:loki",
    }


def test_a_bucket_answers_nobody_without_tls() -> None:
    (only,) = statements(documents.refuses_plain_http("eu-central-1", "lines"))
    assert (only["Effect"], only["Principal"], only["Action"]) == ("Deny", "*", "s3:*")
    assert only["Resource"] == ["arn:aws:s3:::lines", "arn:aws:s3:::lines/*"]
    assert only["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


@pytest.mark.parametrize(
    ("region", "expected"),
    [("eu-central-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")],
)
def test_names_are_of_the_regions_partition(region: str, expected: str) -> None:
    assert partition(region) == expected
    assert managed_policy(region, "AmazonEKSClusterPolicy").startswith(f"arn:{expected}:iam::aws:policy/")
    assert access_policy(region, "view").endswith(":cluster-access-policy/AmazonEKSViewPolicy")
    assert documents.bucket_arn(region, "lines") == f"arn:{expected}:s3:::lines"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (
            "arn:aws:iam::1234567890{}:role/ci/deployer",
            "arn:aws:sts::123456789012:assumed-role/deployer/x",
            True,
        ),
        ("arn:aws:iam::1234567890{}:role/other", "arn:aws:sts::123456789012:assumed-role/deployer/x", False),
        (
            "arn:aws:iam::2234567890{}:role/deployer",
            "arn:aws:sts::123456789012:assumed-role/deployer/x",
            False,
        ),
        ("arn:aws:iam::1234567890{}:user/jo", "arn:aws:iam::123456789012:user/jo", True),
    ],
)
def test_a_session_is_known_by_its_role(one: str, other: str, same: bool) -> None:
    assert is_same_principal(one.format("12"), other) is same
