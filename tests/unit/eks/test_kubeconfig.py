"""How a cluster on EKS is reached, and by what it is told from others."""

import json
from typing import Any

import pytest

from components.cluster.eks.kubeconfig import CONTEXT, identity, kubeconfig
from components.settings.eks import EksTarget

ARN = "arn:aws:eks:eu-central-1:123456789012:cluster/prod"
MOMENT = f"{ARN}/2026-11-30T08:00:00Z"


def user_of(**target: Any) -> dict[str, Any]:
    """What the kubeconfig says of the user."""
    settings = EksTarget(kind="eks", region="eu-central-1", existing="prod", **target)
    found = json.loads(kubeconfig(settings, name="prod", endpoint="https://here", authority="Q0E="))
    assert found["current-context"] == CONTEXT
    assert found["clusters"][0]["cluster"] == {"server": "https://here", "certificate-authority-data": "Q0E="}
    return dict(found["users"][0]["user"]["exec"])


def test_the_token_is_the_clis_and_nobody_is_asked_for_anything() -> None:
    told = user_of()
    assert told["command"] == "aws"
    assert told["args"] == (
        ["--region", "eu-central-1", "eks", "get-token", "--cluster-name", "prod", "--output", "json"]
    )
    assert told["interactiveMode"] == "Never"
    assert told["apiVersion"] == "client.authentication.k8s.io/v1beta1"
    assert "env" not in told


def test_the_tokens_account_is_the_programs_whatever_the_shell_says() -> None:
    assert user_of(profile="platform")["args"][2:4] == ["--profile", "platform"]


@pytest.mark.parametrize(
    "created_at",
    [
        "2026-11-30T08:00:00Z",
        "2026-11-30T08:00:00.125Z",
        "2026-11-30T09:00:00+01:00",
        "2026-11-30T03:00:00-0500",
        "2026-11-30 08:00:00.5 +0000 UTC",
        "2026-11-30 08:00:00+00:00",
        "1796025600",
    ],
)
def test_the_identity_is_the_same_however_the_time_is_written(created_at: str) -> None:
    assert identity(ARN, created_at) == MOMENT


def test_a_cluster_that_is_made_again_under_the_same_name_is_another_one() -> None:
    assert identity(ARN, "2026-11-30T08:00:01Z") != MOMENT
    assert identity(ARN, "in words") == f"{ARN}/in words"
