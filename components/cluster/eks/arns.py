"""Names of things in AWS. Pure."""

import re
from typing import Final

_SESSION = re.compile(r"arn:[a-z-]+:sts::(\d{12}):assumed-role/([^/]+)/.+")
_PRINCIPAL = re.compile(r"arn:[a-z-]+:(?:iam|sts)::(\d{12}):(?:role|user)/(?:.*/)?([^/]+)")

ACCESS_POLICIES: Final = {
    "clusterAdmin": "AmazonEKSClusterAdminPolicy",
    "admin": "AmazonEKSAdminPolicy",
    "edit": "AmazonEKSEditPolicy",
    "adminView": "AmazonEKSAdminViewPolicy",
    "view": "AmazonEKSViewPolicy",
}


def partition(region: str) -> str:
    """The first part of every ARN in a region."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def managed_policy(region: str, name: str) -> str:
    """ARN of one of AWS's own IAM policies."""
    return f"arn:{partition(region)}:iam::aws:policy/{name}"


def access_policy(region: str, policy: str) -> str:
    """ARN of the EKS access policy that the settings call `policy`."""
    return f"arn:{partition(region)}:eks::aws:cluster-access-policy/{ACCESS_POLICIES[policy]}"


def who(arn: str) -> tuple[str, str]:
    """Account and name of a role or user: the same for a role and for its sessions, whose ARNs lack the role's path."""
    match = _SESSION.fullmatch(arn) or _PRINCIPAL.fullmatch(arn)
    return (match[1], match[2]) if match else ("", arn)


def is_same_principal(one: str, other: str) -> bool:
    """Whether two ARNs mean the same role or user."""
    return who(one) == who(other)
