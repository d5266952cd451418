"""The AWS account of an environment: its one provider, and what was found there."""

from dataclasses import dataclass

import pulumi_aws as aws

from components.cluster.eks.facts import Facts


@dataclass(frozen=True)
class Cloud:
    """What the components of a target on EKS are given.

    Attributes:
        provider: of AWS; every resource and every function names it.
        facts: what was found.
        versions: of each add-on; absent where nobody could be asked.
    """

    provider: aws.Provider
    facts: Facts
    versions: dict[str, str]
