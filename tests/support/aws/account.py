"""An AWS account that is a moto server on loopback, with what a test does and asks in it by boto3."""

import logging
import threading
from ipaddress import ip_address
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from moto.backends import get_backend
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

from tests.support.aws.eks_service.clusters import ApiServer, settings
from tests.support.aws.eks_service.extend import extend
from tests.support.aws.eks_service.node_groups import Listener, listeners
from tests.support.aws.kind import Client
from tests.support.aws.wire import RefusedError

REGION = "eu-central-1"
ZONES = (f"{REGION}a", f"{REGION}b")
# moto takes any; they are stated so that those of whoever runs the tests are never used.
CREDENTIALS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}


class Account:
    """One account. As a context manager it ends with its owner.

    Attributes:
        credentials_work: whether the provider's check of its credentials succeeds.
    """

    def __init__(self) -> None:
        extend()
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # one line for each call
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], Client] = {}
        self.credentials_work = True

    def __enter__(self) -> Self:
        """Starts it."""
        self._server.start()
        self.client("ec2").describe_instance_types(
            InstanceTypes=["t3.large"]
        )  # loads 1,400 of them: 1 to 6 s
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends it."""
        self.forget()
        self._server.stop()

    @property
    def endpoint(self) -> str:
        """Its URL."""
        host, port = self._server.get_host_and_port()
        return f"http://{host}:{port}"

    def client(self, service: str, region: str = REGION) -> Client:
        """A boto3 client of this account, and of no other: the endpoint is on loopback."""
        refuse_what_is_not_loopback(self.endpoint)
        with self._lock:  # boto3.client is not safe to call from several threads; the clients are
            key = (service, region)
            if key not in self._clients:
                self._clients[key] = boto3.client(
                    service,
                    region_name=region,
                    endpoint_url=self.endpoint,
                    config=Config(retries={"total_max_attempts": 1}),
                    **CREDENTIALS,
                )
            return self._clients[key]

    def forget(self) -> None:
        """Empties what tests fill: clusters, buckets and roles. Networks stay, as a reset of all moto takes 4 s.

        There is no API server then, and nobody who hears of node groups.
        """
        for service in ("eks", "s3", "logs", "autoscaling"):
            for account in get_backend(service).values():
                for backend in account.values():
                    backend.reset()
        for account in get_backend("iam").values():
            for backend in account.values():
                backend.open_id_providers.clear()
                backend.roles.clear()  # beside them, the policies of AWS stay: loading them takes its time too
        for account in get_backend("ec2").values():
            for backend in account.values():
                backend.launch_templates.clear()
                backend.launch_template_name_to_ids.clear()
                backend.launch_template_insert_order.clear()
        settings.api_server = None
        listeners.clear()
        self.credentials_work = True

    def serve_clusters(self, api_server: ApiServer, *nodes: Listener) -> None:
        """Says which API server answers for the clusters to come, and who makes their nodes."""
        settings.api_server = api_server
        listeners[:] = nodes

    # --- what a test finds in an account before it begins ---

    def network(
        self, cidr: str = "10.0.0.0/16", subnets: tuple[str, ...] = ("10.0.0.0/20", "10.0.16.0/20")
    ) -> list[str]:
        """A VPC with subnets, each in the next zone; their ids."""
        ec2 = self.client("ec2")
        vpc = ec2.create_vpc(CidrBlock=cidr)["Vpc"]["VpcId"]
        return [
            ec2.create_subnet(VpcId=vpc, CidrBlock=block, AvailabilityZone=ZONES[index % len(ZONES)])[
                "Subnet"
            ]["SubnetId"]
            for index, block in enumerate(subnets)
        ]

    def holds(self) -> dict[str, list[str]]:
        """The names of all that a program of ours may leave: for asking whether anything is left."""
        eks, iam, s3 = self.client("eks"), self.client("iam"), self.client("s3")
        ec2, logs, scaling = self.client("ec2"), self.client("logs"), self.client("autoscaling")
        templates = ec2.describe_launch_templates()["LaunchTemplates"]
        groups = scaling.describe_auto_scaling_groups()["AutoScalingGroups"]
        found: dict[str, list[str]] = {
            "clusters": list(eks.list_clusters()["clusters"]),
            "roles": [role["RoleName"] for role in iam.list_roles()["Roles"]],
            "buckets": [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]],
            "launch templates": [template["LaunchTemplateName"] for template in templates],
            "log groups": [group["logGroupName"] for group in logs.describe_log_groups()["logGroups"]],
            "scaling groups": [group["AutoScalingGroupName"] for group in groups],
        }
        return {kind: names for kind, names in found.items() if names}


def refuse_what_is_not_loopback(endpoint: str) -> None:
    """No call of the stand-in may leave the machine.

    Raises:
        RefusedError: the endpoint is not an address of the loopback interface.
    """
    host = urlsplit(endpoint).hostname or ""
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise RefusedError(f"{endpoint} is not on loopback: the stand-in for AWS calls nothing else")
