"""An environment with a cluster of its own, deployed once for this folder; a test brings back what it changes."""

from collections.abc import Iterator

import pytest

from simulator.control_plane import ControlPlane
from tests.eks import environment
from tests.eks.aws_cli import AwsCli
from tests.eks.deployment import Deployment
from tests.eks.region import Region, opened
from tests.eks.steps import Step
from tests.support.aws.account import Account


@pytest.fixture(scope="package")
def region(
    aws: Account, attach: dict[str, str], cli: AwsCli, control_plane: ControlPlane
) -> Iterator[Region]:
    """EKS at work in an empty account."""
    with opened(aws, attach, cli, control_plane) as region:
        yield region


@pytest.fixture(scope="package")
def stack(region: Region, tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """The environment; the account has its subnets, and nothing else."""
    settings = environment.created(region.account.network())
    return region.deployment(tmp_path_factory.mktemp("created"), settings)


@pytest.fixture(scope="package")
def first_plan(stack: Deployment) -> list[Step]:
    """The preview in an empty account."""
    return stack.plan()


@pytest.fixture(scope="package")
def deployed(stack: Deployment, first_plan: list[Step]) -> Deployment:
    """The environment, deployed."""
    stack.up()
    return stack
