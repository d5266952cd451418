"""How a cluster is reached: a kubeconfig whose token the AWS CLI gets, and what tells it from others. Pure."""

import json
import re
from datetime import datetime, timedelta, timezone
from typing import Any

from components.settings.eks import EksTarget

CONTEXT = "eks"
"""Name of cluster, context and user; what matters is in the rest."""

EXEC_API = "client.authentication.k8s.io/v1beta1"


def kubeconfig(target: EksTarget, *, name: str, endpoint: str, authority: str) -> str:
    """The kubeconfig as JSON; it holds no secret.

    Region and profile are arguments: the token is of the account that the program uses, whatever the shell says.

    Args:
        target: region and profile.
        name: of the cluster in EKS.
        endpoint: of its API server.
        authority: its certificate, base64.
    """
    cluster = {"server": endpoint, "certificate-authority-data": authority}
    content: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}}],
        "current-context": CONTEXT,
        "users": [{"name": CONTEXT, "user": {"exec": _exec(target, name)}}],
    }
    return json.dumps(content, indent=2)


def aws_arguments(target: EksTarget, *arguments: str) -> list[str]:
    """Arguments of the AWS CLI, with the region and the profile that the settings state."""
    profile = ["--profile", target.profile] if target.profile else []
    return ["--region", target.region, *profile, *arguments, "--output", "json"]


def _exec(target: EksTarget, name: str) -> dict[str, Any]:
    return {
        "apiVersion": EXEC_API,
        "command": "aws",
        "args": aws_arguments(target, "eks", "get-token", "--cluster-name", name),
        "interactiveMode": "Never",
        "provideClusterInfo": False,
    }


_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)?\s*(?:Z|([+-])(\d\d):?(\d\d))?(?:\s+[A-Z]+)?"
)


def identity(arn: str, created_at: str) -> str:
    """What tells a cluster from others: one that is made again under the same name has the same ARN.

    The time is given in one form, since resources and functions of the AWS provider do not write it alike.

    Args:
        arn: of the cluster.
        created_at: as AWS says it: ISO 8601, Go's text, or seconds since 1970.
    """
    return f"{arn}/{_moment(created_at)}"


def _moment(text: str) -> str:
    if text.isdigit():
        return f"{datetime.fromtimestamp(int(text), timezone.utc):%Y-%m-%dT%H:%M:%SZ}"  # noqa: UP017
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return text
    moment = datetime.fromisoformat(f"{match[1]}T{match[2]}+00:00")
    ahead = timedelta(hours=int(match[4] or 0), minutes=int(match[5] or 0))
    return f"{moment + ahead if match[3] == '-' else moment - ahead:%Y-%m-%dT%H:%M:%SZ}"
