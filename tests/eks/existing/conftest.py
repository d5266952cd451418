"""An environment on a cluster that somebody else has made, deployed once for this folder."""

from collections.abc import Iterator
from typing import Any

import pytest

from simulator.control_plane import ControlPlane
from tests.eks import environment
from tests.eks.aws_cli import ACCOUNT, AwsCli
from tests.eks.deployment import Deployment
from tests.eks.region import Region, opened
from tests.support.aws.account import Account
from tests.support.kube import Object
from tests.support.manifests import per_node

SYSTEM, CNI, AGENT, DRIVER = "kube-system", "aws-node", "eks-pod-identity-agent", "ebs-csi-node"
ROLE = f"arn:aws:iam::{ACCOUNT}:role"
ADDONS = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns", "aws-ebs-csi-driver")


@pytest.fixture(scope="package")
def region(
    aws: Account, attach: dict[str, str], cli: AwsCli, control_plane: ControlPlane
) -> Iterator[Region]:
    """EKS at work, with somebody's cluster: the groups that the environment declares, and one that it leaves out."""
    with opened(aws, attach, cli, control_plane) as region:
        subnets = aws.network()
        region.eks.create_cluster(
            name=environment.CLUSTER,
            roleArn=f"{ROLE}/cluster",
            version="1.35",
            resourcesVpcConfig={"subnetIds": subnets},
            accessConfig={"authenticationMode": "API"},
        )
        for name in ADDONS:
            region.eks.create_addon(clusterName=environment.CLUSTER, addonName=name)
        for name, group in {
            **environment.GROUPS,
            "build": {"instanceTypes": ["m5.large"], "nodes": 1},
        }.items():
            region.eks.create_nodegroup(**_group(name, group, subnets))
        region.kube.apply(*system_daemons())
        yield region
        for daemon in system_daemons():
            region.kube.delete("daemonsets.apps", daemon["metadata"]["name"], SYSTEM)


def system_daemons(*, enforces: bool = True, names: tuple[str, ...] = (CNI, AGENT, DRIVER)) -> list[Object]:
    """What these add-ons run on each node, as far as anybody looks at it."""
    node_agent = {"name": "aws-eks-nodeagent", "args": [f"--enable-network-policy={str(enforces).lower()}"]}
    variables = [{"name": "ENABLE_PREFIX_DELEGATION", "value": "false"}]
    containers: dict[str, list[Object]] = {
        CNI: [{"name": CNI, "env": variables}, node_agent],
        AGENT: [{"name": AGENT}],
        DRIVER: [{"name": "ebs-plugin"}],
    }
    return [_daemon(name, containers[name]) for name in names]


def _daemon(name: str, containers: list[Object]) -> Object:
    pod = {
        "containers": [{**container, "image": "example.com/none"} for container in containers],
        "tolerations": [{"operator": "Exists"}],
    }
    return per_node(SYSTEM, name, pod, label="k8s-app")


def _group(name: str, group: dict[str, Any], subnets: list[str]) -> dict[str, Any]:
    nodes = group["nodes"]
    bounds = nodes if isinstance(nodes, dict) else {"min": nodes, "max": nodes}
    taints = [{**taint, "effect": "NO_SCHEDULE"} for taint in group.get("taints", [])]
    return {
        "clusterName": environment.CLUSTER,
        "nodegroupName": name,
        "nodeRole": f"{ROLE}/nodes",
        "subnets": subnets,
        "instanceTypes": group["instanceTypes"],
        "scalingConfig": {"minSize": bounds["min"], "maxSize": bounds["max"], "desiredSize": bounds["min"]},
        "taints": taints,
    }


@pytest.fixture(scope="package")
def stack(region: Region, tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """The environment, not yet deployed."""
    return region.deployment(tmp_path_factory.mktemp("existing"), environment.on_existing())
