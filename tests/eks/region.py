"""EKS at work in the stand-in's account: clusters get the API server, groups get nodes, claims get volumes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from simulator.control_plane import ControlPlane
from tests.eks.aws_cli import AwsCli
from tests.eks.deployment import Deployment
from tests.eks.ebs_driver import EbsDriver
from tests.eks.worker_nodes import WorkerNodes
from tests.support.aws.account import Account
from tests.support.aws.eks_service.clusters import ApiServer
from tests.support.kube import Kube

EBS_ADDON = "aws-ebs-csi-driver"


@dataclass(frozen=True)
class Region:
    """What a test on EKS has.

    Attributes:
        account: the stand-in for AWS.
        attach: the variables with which the engine uses the stand-in for the AWS provider.
        cli: the stand-in for the AWS CLI.
        kube: the API server of all clusters.
    """

    account: Account
    attach: dict[str, str]
    cli: AwsCli
    kube: Kube

    @property
    def eks(self) -> Any:
        """A boto3 client."""
        return self.account.client("eks")

    def deployment(self, folder: Path, settings: dict[str, Any]) -> Deployment:
        """An environment; nothing of it is deployed yet."""
        folder.mkdir(exist_ok=True)
        return Deployment(folder, settings, self.attach, self.cli.folder)

    def has_ebs_driver(self) -> bool:
        """Whether the add-on is in one of the clusters, which are one."""
        names = self.eks.list_clusters()["clusters"]
        return any(EBS_ADDON in self.eks.list_addons(clusterName=name)["addons"] for name in names)


@contextmanager
def opened(account: Account, attach: dict[str, str], cli: AwsCli, plane: ControlPlane) -> Iterator[Region]:
    """EKS at work, until the account is emptied at the end."""
    kubeconfig = yaml.safe_load(plane.kubeconfig.read_text())
    kube = Kube(plane.kubeconfig)
    region, workers = Region(account, attach, cli, kube), WorkerNodes(kube)
    server = ApiServer(kubeconfig["clusters"][0]["cluster"]["server"], plane.authority)
    account.serve_clusters(server, workers)
    try:
        with EbsDriver(kube, region.has_ebs_driver):
            yield region
    finally:
        account.forget()
        workers.remove_all()
