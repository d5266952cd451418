"""What is refused before anything is made: in an account that has subnets, a bucket, and nothing else."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.engine import PULUMI
from simulator.control_plane import ControlPlane
from tests.eks import environment
from tests.eks.aws_cli import NO_CREDENTIALS, AwsCli
from tests.eks.conftest import token_of
from tests.eks.deployment import Deployment
from tests.eks.region import Region, opened
from tests.support.aws.account import REGION, Account

CREATE = "cluster.target.create"
TAKEN = "taken-by-somebody"


@pytest.fixture(scope="module")
def region(
    aws: Account, attach: dict[str, str], cli: AwsCli, control_plane: ControlPlane
) -> Iterator[Region]:
    """EKS at work in an account with a bucket."""
    with opened(aws, attach, cli, control_plane) as region:
        where = {"LocationConstraint": REGION}
        aws.client("s3").create_bucket(Bucket=TAKEN, CreateBucketConfiguration=where)
        yield region


@pytest.fixture(scope="module")
def stack(region: Region, tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """The environment with a cluster of its own; it is never deployed."""
    settings = environment.created(region.account.network())
    return region.deployment(tmp_path_factory.mktemp("refusals"), settings)


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A PATH with the project's tools and the system's, and without any `aws` that may be among these."""
    for folder in ("/usr/bin", "/bin"):
        for tool in Path(folder).iterdir():
            if not tool.name.startswith("aws") and not (tmp_path / tool.name).is_symlink():
                (tmp_path / tool.name).symlink_to(tool)
    path = os.pathsep.join([str(PULUMI.parent), str(tmp_path)])
    assert shutil.which("aws", path=path) is None
    assert shutil.which("env", path=path)
    return path


def test_everything_that_aws_shows_to_be_wrong_is_said_at_once(stack: Deployment, region: Region) -> None:
    small = region.account.network("10.8.0.0/24", ("10.8.0.0/28",))
    said = stack.refused(
        (f"{CREATE}.subnets", [small[0], small[0]]),
        (f"{CREATE}.version", "1.29"),
        (
            f"{CREATE}.access",
            [{"principal": "arn:aws:iam::123456789012:role/other", "policy": "clusterAdmin"}],
        ),
        ("layer.logs.store.bucket", TAKEN),
    )
    for expected in (
        f"{CREATE}.subnets",
        "are all in zone eu-central-1a",
        "free addresses, and groups",
        "EKS does not offer Kubernetes 1.29",
        "whose credentials these are, no rights in the cluster",
        f"'{TAKEN}' exists, and stack 'sim' did not make it",
    ):
        assert expected in said, said
    assert region.eks.list_clusters()["clusters"] == []


def test_a_subnet_and_an_add_on_version_that_are_not_there_are_refused(stack: Deployment) -> None:
    said = stack.refused(
        (f"{CREATE}.subnets", ["subnet-00000000", "subnet-11111111"]),
        (f"{CREATE}.addOnVersions", {"coredns": "v9.9.9-eksbuild.1"}),
    )
    assert f"{CREATE}.subnets[0]" in said
    assert "subnet 'subnet-00000000'" in said
    assert "the newest for Kubernetes 1.35 is v1.13.2-eksbuild.4" in said


def test_credentials_of_another_account_are_refused(stack: Deployment) -> None:
    said = stack.refused(("cluster.target.account", "999999999999"))
    assert "cluster.target.account" in said
    assert "123456789012" in said


def test_another_region_does_not_have_the_subnets(stack: Deployment) -> None:
    said = stack.refused(("cluster.target.region", "us-east-1"), ("layer.logs.store.region", "us-east-1"))
    assert "AWS does not tell subnet" in said


def test_without_the_aws_cli_the_first_preview_says_what_it_could_not_check(
    stack: Deployment, bare: str, region: Region
) -> None:
    said = stack.preview(PATH=bare)
    assert "Not checked, since there are no AWS credentials" in said
    assert "the AWS CLI is not installed, or not on PATH" in said
    assert region.eks.list_clusters()["clusters"] == []


def test_without_the_aws_cli_up_makes_nothing(stack: Deployment, bare: str, region: Region) -> None:
    said = stack.refused(command="up", PATH=bare)
    assert "the AWS CLI is not installed, or not on PATH" in said
    assert "Install the AWS CLI 2 and sign in" in said
    assert region.account.holds() == {"buckets": [TAKEN]}


def test_without_credentials_up_makes_nothing(
    stack: Deployment, region: Region, control_plane: ControlPlane
) -> None:
    region.cli.refuses()
    try:
        said = stack.refused(command="up")
    finally:
        region.cli.answers(token_of(control_plane))
    assert NO_CREDENTIALS.split(".", maxsplit=1)[0] in said
    assert region.account.holds() == {"buckets": [TAKEN]}


def test_credentials_that_the_provider_cannot_use_are_an_error_without_a_traceback(
    stack: Deployment, region: Region
) -> None:
    region.account.credentials_work = False
    try:
        said = stack.refused()
    finally:
        region.account.credentials_work = True
    assert "security token included in the request is invalid" in said


def test_a_cluster_that_is_to_be_there_and_is_not_is_refused_with_those_that_are(stack: Deployment) -> None:
    said = stack.refused((CREATE, None), ("cluster.target.existing", "shared"))
    assert f"there is no cluster 'shared' in {REGION}" in said
    assert "To have one made, write `create`" in said
