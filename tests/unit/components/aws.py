"""What AWS answers in tests with recorded registrations: one account, one VPC, and the outputs of its resources."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from components.cluster import instance_types
from components.cluster.eks.facts import Caller
from components.cluster.eks.reading import InCluster
from tests.support.environments import INCIDENT, changed
from tests.support.mocks import Answer, Inputs, RefusedCall

ACCOUNT = "123456789012"
REGION = "eu-central-1"
DEPLOYER = f"arn:aws:iam::{ACCOUNT}:role/ci/deployer"
CALLER = Caller(ACCOUNT, f"arn:aws:sts::{ACCOUNT}:assumed-role/deployer/a-session")
SUBNETS = ["subnet-0aaaaaaaaaaaaaaaa", "subnet-0bbbbbbbbbbbbbbbb"]
ZONES = dict(zip(SUBNETS, ("eu-central-1a", "eu-central-1b"), strict=True))
NAME = "prod"
ARN = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{NAME}"
CREATED_AT = "2026-11-30 08:00:00.5 +0000 UTC"
IDENTITY = f"{ARN}/2026-11-30T08:00:00Z"
ISSUER = "https://oidc.eks.eu-central-1.amazonaws.com/id/0123"
ENDPOINT = "https://0123.gr7.eu-central-1.eks.amazonaws.com"
AUTHORITY = "LS0tLS1DRVJU"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/4e1c5b1a"

IN_CLUSTER = InCluster(
    cni={"ENABLE_PREFIX_DELEGATION": "false"}, enforces=True, identity_agent=True, ebs_driver=True
)

CREATE: dict[str, Any] = {
    "kind": "eks",
    "region": REGION,
    "account": ACCOUNT,
    "create": {
        "name": NAME,
        "version": "1.35",
        "subnets": SUBNETS,
        "access": [
            {"principal": DEPLOYER, "policy": "clusterAdmin"},
            {
                "principal": f"arn:aws:iam::{ACCOUNT}:role/shop",
                "policy": "view",
                "namespaces": ["shop"],
            },
        ],
    },
}
# A cluster that is made here has no namespace to adopt.
MADE_HERE = changed(
    INCIDENT,
    ("cluster.target", CREATE),
    *((f"tenants.{name}.namespace", "create") for name in INCIDENT["tenants"]),
)
EXISTING: dict[str, Any] = {"kind": "eks", "region": REGION, "existing": NAME}
S3: dict[str, Any] = {"kind": "s3", "bucket": "lines-of-prod", "region": REGION}

LIVE_CLUSTER: Inputs = {
    "name": NAME,
    "arn": ARN,
    "createdAt": CREATED_AT,
    "endpoint": ENDPOINT,
    "certificateAuthorities": [{"data": AUTHORITY}],
    "identities": [{"oidcs": [{"issuer": ISSUER}]}],
    "version": "1.35",
    "status": "ACTIVE",
}


def answers(**changed: Answer) -> dict[str, Answer]:
    """What each function answers: no cluster, no bucket, every type in every zone; `changed` by the function's name."""
    plain: dict[str, Answer] = {
        "eks/getClusters": lambda _: {"names": []},
        "eks/getCluster": lambda asked: {**asked, **LIVE_CLUSTER},
        "eks/getClusterVersions": lambda _: {
            "clusterVersions": [{"clusterVersion": version} for version in ("1.34", "1.35", "1.36")]
        },
        "eks/getAddonVersion": lambda asked: {
            **asked,
            "version": f"v1.{20 if asked['mostRecent'] else 19}.0-eksbuild.1",
        },
        "eks/getNodeGroups": lambda asked: {**asked, "names": []},
        "eks/getNodeGroup": _not_found,
        "ec2/getInstanceTypeOfferings": _offerings,
        "ec2/getInstanceType": lambda asked: {**asked, **described(asked["instanceType"])},
        "ec2/getSubnet": lambda asked: {
            **asked,
            "availabilityZone": ZONES[asked["id"]],
            "vpcId": "vpc-0cccccccccccccccc",
            "availableIpAddressCount": 4000,
        },
        "s3/getBucket": _not_found,
    }
    for name in changed:
        assert any(token.endswith(f"/{name}") for token in plain), name
    return {
        f"aws:{token}:{token.partition('/')[2]}": changed.get(token.partition("/")[2], answer)
        for token, answer in plain.items()
    }


def _not_found(_: Inputs) -> Inputs:
    raise RefusedCall("reading S3 Bucket: couldn't find resource")


def _offerings(asked: Inputs) -> Inputs:
    (wanted,) = asked["filters"]
    pairs = [(name, zone) for name in wanted["values"] for zone in ZONES.values()]
    return {"instanceTypes": [name for name, _ in pairs], "locations": [zone for _, zone in pairs]}


def described(name: str, **changed: Any) -> Inputs:
    """How EC2 describes a type: as the table has it, but for what is changed of the row."""
    row = instance_types.lookup(name)
    assert row is not None
    row = replace(row, **changed)
    return {
        "defaultNetworkCardIndex": 0,
        "networkCards": [{"index": 0, "maximumInterfaces": row.enis}],
        "maximumNetworkInterfaces": row.enis,
        "maximumIpv4AddressesPerInterface": row.ipv4_per_eni,
        "defaultVcpus": row.vcpus,
        "memorySize": row.memory_mib,
        "hypervisor": row.hypervisor,
        "bareMetal": row.bare_metal,
        "supportedArchitectures": [row.architecture],
    }


COMPUTED: Mapping[str, Answer] = {
    "aws:eks/cluster:Cluster": lambda _: {
        "arn": ARN,
        "createdAt": CREATED_AT,
        "endpoint": ENDPOINT,
        "certificateAuthority": {"data": AUTHORITY},
        "identities": [{"oidcs": [{"issuer": ISSUER}]}],
    },
    "aws:eks/nodeGroup:NodeGroup": lambda inputs: {
        "resources": [{"autoscalingGroups": [{"name": f"eks-{inputs['nodeGroupName']}"}]}]
    },
    "aws:ec2/launchTemplate:LaunchTemplate": lambda _: {"latestVersion": 1},
    "aws:iam/role:Role": lambda _: {"name": "a-role", "arn": f"arn:aws:iam::{ACCOUNT}:role/a-role"},
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": lambda inputs: {
        "arn": f"arn:aws:iam::{ACCOUNT}:oidc-provider/{inputs['url'].removeprefix('https://')}"
    },
}


def document(text: str) -> dict[str, Any]:
    """A policy as data."""
    return dict(json.loads(text))
