"""IAM and bucket policies as data: exactly what is needed, for exactly one resource. Pure."""

import json
from collections.abc import Sequence
from typing import Any

from components.cluster.eks.arns import partition

Document = dict[str, Any]


def text(document: Document) -> str:
    """A document as AWS takes it; keys sorted, so that two previews are equal."""
    return json.dumps(document, sort_keys=True)


def _document(*statements: Document) -> Document:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def trusts_service(service: str) -> Document:
    """A role that an AWS service takes."""
    return _document({"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"})


def trusts_pods(cluster_arn: str, namespace: str, service_account: str) -> Document:
    """A role that pods of one service account in one cluster take, by EKS Pod Identity.

    EKS sets the session's tags (docs: "EKS Pod Identity session tags"); without the conditions any cluster of the
    account could hand the role out, by an association that somebody else makes.
    """
    return _document(
        {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Condition": {
                "StringEquals": {
                    "aws:RequestTag/eks-cluster-arn": cluster_arn,
                    "aws:RequestTag/kubernetes-namespace": namespace,
                    "aws:RequestTag/kubernetes-service-account": service_account,
                }
            },
        }
    )


def trusts_token(provider: str, issuer: str, namespace: str, service_account: str) -> Document:
    """A role that pods of one service account take by a token of the cluster's OIDC provider (IRSA).

    Args:
        provider: ARN of the OIDC provider.
        issuer: its URL.
        namespace: of the service account.
        service_account: its name.
    """
    host = issuer.removeprefix("https://")
    return _document(
        {
            "Effect": "Allow",
            "Principal": {"Federated": provider},
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": {
                "StringEquals": {
                    f"{host}:aud": "sts.amazonaws.com",
                    f"{host}:sub": f"system:serviceaccount:{namespace}:{service_account}",
                }
            },
        }
    )


def oidc_provider(cluster_arn: str, issuer: str) -> str:
    """ARN of the IAM OIDC provider of a cluster's issuer, which is in the cluster's account."""
    _, name, _, _, account, _ = cluster_arn.split(":", 5)
    return f"arn:{name}:iam::{account}:oidc-provider/{issuer.removeprefix('https://')}"


def bucket_arn(region: str, bucket: str) -> str:
    """ARN of a bucket."""
    return f"arn:{partition(region)}:s3:::{bucket}"


def uses_bucket(region: str, bucket: str, key: str | None) -> Document:
    """What Loki does with its bucket, where its compactor deletes too; and with the bucket's key, if it has one."""
    arn = bucket_arn(region, bucket)
    objects = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
    statements = [
        {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": arn},
        {"Effect": "Allow", "Action": objects, "Resource": f"{arn}/*"},
    ]
    if key:
        statements.append(_uses_key(key, ["kms:Decrypt", "kms:GenerateDataKey"]))
    return _document(*statements)


def uses_secrets_key(key: str) -> Document:
    """What the control plane does with the key of Kubernetes Secrets."""
    return _document(_uses_key(key, ["kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt"]))


def uses_volume_key(key: str) -> Document:
    """What the EBS CSI driver does with the key of volumes: grants only on behalf of AWS services."""
    grants = {
        **_uses_key(key, ["kms:CreateGrant"]),
        "Condition": {"Bool": {"kms:GrantIsForAWSResource": "true"}},
    }
    used = ["kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom"]
    return _document(_uses_key(key, [*used, "kms:ReEncryptTo"]), grants)


def _uses_key(key: str, actions: Sequence[str]) -> Document:
    return {"Effect": "Allow", "Action": list(actions), "Resource": key}


def refuses_plain_http(region: str, bucket: str) -> Document:
    """The bucket's own policy: nobody reads or writes without TLS."""
    arn = bucket_arn(region, bucket)
    return _document(
        {
            "Sid": "TlsOnly",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": [arn, f"{arn}/*"],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
    )
