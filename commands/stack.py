"""The stack of an environment in its backend: made where something is to be deployed, and asked for everywhere else."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from urllib.parse import urlsplit

from commands.environments import CommandError, stack_file, stack_settings

# Of `make`'s commands. A preview deploys nothing, and yet has to show what a first `up` would make.
CREATING = frozenset({"preview", "up"})
# The CLI's own words, version 3.274.
_NO_STACK = "no stack named"
Run = Callable[[Sequence[str], Mapping[str, str]], "CompletedProcess[str]"]


def select(environment: str, variables: Mapping[str, str], run: Run, *, create: bool) -> int:
    """Selects the environment's stack, and shows what the engine says if it cannot; returns its exit status.

    Args:
        environment: which.
        variables: to run the engine with.
        run: runs the engine's CLI and captures what it prints.
        create: whether a stack that does not exist is made. Whoever destroys or refreshes one means a stack that is
            there: made anew it would be empty, and the engine would call an empty destroy a success.

    Raises:
        CommandError: if there is none, and none is to be made.
    """
    made = ["--create", *secrets_provider_arguments(stack_file(environment))] if create else []
    done = run(["stack", "select", environment, *made], variables)
    if done.returncode and not create and _NO_STACK in done.stdout:
        raise CommandError(
            f"there is no stack {environment!r} in {shown(variables['PULUMI_BACKEND_URL'])}: nothing was deployed from "
            "there, and nothing was done. Is PULUMI_BACKEND_URL that of the last deployment? To see what there is: "
            f"make pulumi ENV={environment} ARGS='stack ls --all'"
        )
    sys.stdout.write(done.stdout)
    sys.stdout.flush()
    return done.returncode


def secrets_provider_arguments(file: Path) -> list[str]:
    """Returns what makes a new stack use the secrets provider that its file names, such as a KMS key."""
    provider = stack_settings(file).get("secretsprovider")
    return ["--secrets-provider", str(provider)] if provider else []


def shown(url: str) -> str:
    """A backend's address for a message: without the password that it may hold."""
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url
    return parts._replace(netloc=f"...@{parts.netloc.rpartition('@')[2]}").geturl()
