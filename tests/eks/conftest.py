"""One AWS account and one provider for the whole tier, both stand-ins; a module begins with an empty account."""

from collections.abc import Iterator

import pytest

from tests.support.aws.account import Account
from tests.support.aws.servicer import attached


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
