"""One AWS account, one provider for it and one API server for the whole tier; all of AWS is a stand-in.

The API server is real and answers for every EKS cluster of the account; the nodes of its managed groups are simulated.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from simulator.control_plane import ControlPlane
from tests.eks.aws_cli import AwsCli
from tests.support.aws.account import Account
from tests.support.aws.servicer import attached
from tests.support.kube import Kube

SECONDS = 240  # for one test: the first of a module pays for its fixtures, which deploy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives the tests of this folder more time than others."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.fixture(scope="session")
def aws() -> Iterator[Account]:
    """The account."""
    with Account() as account:
        yield account


@pytest.fixture(scope="session")
def attach(aws: Account) -> Iterator[dict[str, str]]:
    """The variables with which an engine uses the stand-in for the provider."""
    with attached(aws) as variables:
        yield variables


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """The API server, without any node."""
    with ControlPlane(tmp_path_factory.mktemp("control-plane")) as plane:
        yield plane


@pytest.fixture(scope="session")
def kube(control_plane: ControlPlane) -> Kube:
    """Answers of the API server."""
    return Kube(control_plane.kubeconfig)


@pytest.fixture(scope="session")
def cli(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> AwsCli:
    """The stand-in for the AWS CLI, which gives the API server's token."""
    made = AwsCli(tmp_path_factory.mktemp("cli") / "bin")
    made.answers(token_of(control_plane))
    return made


def token_of(plane: ControlPlane) -> str:
    """The administrator's token."""
    return str(yaml.safe_load(plane.kubeconfig.read_text())["users"][0]["user"]["token"])
