"""The AWS CLI: what the kubeconfig calls for tokens, and who we are to AWS. Nothing is written by it."""

import json
import shutil
import subprocess
from typing import Any

from components.cluster.eks.facts import Caller
from components.cluster.eks.kubeconfig import aws_arguments
from components.settings.eks import EksTarget

SECONDS = 60
MISSING = "the AWS CLI is not installed, or not on PATH"


class CliError(Exception):
    """The CLI gave no answer; the text is its own reason."""


def is_there() -> bool:
    """Whether there is a program `aws`."""
    return shutil.which("aws") is not None


def caller(target: EksTarget) -> Caller:
    """Whose credentials are in use.

    Raises:
        CliError: if there are none, or they are not good.
    """
    answer = call(target, "sts", "get-caller-identity")
    return Caller(account=str(answer["Account"]), arn=str(answer["Arn"]))


def call(target: EksTarget, *arguments: str) -> dict[str, Any]:
    """The answer to `aws ARGUMENTS` in the target's region and profile.

    Raises:
        CliError: if it fails, or takes more than `SECONDS`.
    """
    command = ["aws", *aws_arguments(target, *arguments)]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program; the arguments are ours and no shell reads them
            command, capture_output=True, text=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise CliError(MISSING) from None
    except subprocess.TimeoutExpired:
        raise CliError(f"no answer within {SECONDS} s") from None
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise CliError(lines[-1] if lines else "the AWS CLI failed without a message")
    answer = json.loads(done.stdout)
    if not isinstance(answer, dict):
        raise CliError("the AWS CLI answered something else than an object")
    return answer
