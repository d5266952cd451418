"""An environment on EKS as plain data: three small groups, two tenants, lines in a bucket."""

from typing import Any

from tests.eks.aws_cli import ACCOUNT, DEPLOYER
from tests.support.aws.account import REGION
from tests.support.environments import changed

CLUSTER, BUCKET = "shared", "lines-of-shared"
BATCH_TAINT = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
GROUPS: dict[str, Any] = {
    "web": {"instanceTypes": ["t3.large"], "nodes": 1},
    "workers": {"instanceTypes": ["r5a.xlarge"], "nodes": {"min": 2, "max": 3}},
    "batch": {"instanceTypes": ["m5.large"], "nodes": 1, "taints": [BATCH_TAINT]},
}
NODES = 4
CREATED = {"namespace": "create", "onRemove": "delete"}


def created(subnets: list[str]) -> dict[str, Any]:
    """The environment with a cluster of its own."""
    create = {
        "name": CLUSTER,
        "version": "1.35",
        "subnets": subnets,
        "access": [{"principal": DEPLOYER, "policy": "clusterAdmin"}],
    }
    return {
        "cluster": {
            "name": "eks",
            "target": {"kind": "eks", "region": REGION, "account": ACCOUNT, "create": create},
            "nodeGroups": GROUPS,
        },
        "layer": {
            "logs": {"retention": "7d", "store": {"kind": "s3", "bucket": BUCKET, "region": REGION}},
            "metrics": {"retention": "15d", "storage": "50Gi"},
            "gateway": {"replicas": 1},
            "runsOn": ["workers"],
            "protection": "off",
        },
        "tenants": {
            "shop": {"pods": 20, "runsOn": ["web", "workers"], **CREATED},
            "billing": {"pods": 10, "metrics": False, **CREATED},
        },
    }


def on_existing() -> dict[str, Any]:
    """The same on a cluster that is there, with a group of somebody else's."""
    target = {"kind": "eks", "region": REGION, "existing": CLUSTER, "otherGroups": ["build"]}
    return changed(created([]), ("cluster.target", target))
