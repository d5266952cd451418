"""Reads a cluster by kubectl: exactly the stated kubeconfig and context, nothing from the environment.

The program never writes by it. Of the commands `make up` and `make repair` do, to free objects of field managers that
an interrupted deployment has left.

kubectl is what every platform engineer's kubeconfig is known to work with: exec plugins, proxies and certificates need
no second implementation here.
"""

import ipaddress
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

SECONDS = 60
"""Longest wait for one answer. Listing 200 namespaces with their quotas takes under 1 s."""


class ClusterUnreachableError(Exception):
    """The cluster could not be read; the text is kubectl's own reason."""


@dataclass(frozen=True)
class Answer:
    """What one call of kubectl gave."""

    text: str
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Kubectl:
    """A reader of one cluster.

    Attributes:
        kubeconfig: path of the file.
        context: context in it.
    """

    kubeconfig: str
    context: str

    @property
    def probe(self) -> str:
        """A command for a person who wants to know why it does not answer."""
        return f"kubectl --kubeconfig {self.kubeconfig} --context {self.context} get --raw /readyz"

    def server(self) -> str:
        """Address of the API server, as the kubeconfig says it; nothing is asked of the cluster.

        Raises:
            ClusterUnreachableError: if there is no such file or context.
        """
        shown = ("config", "view", "--minify", "--output", "jsonpath={.clusters[0].cluster.server}")
        return self.call(*shown).text.strip()

    def objects(self, *arguments: str) -> list[dict[str, Any]]:
        """The items of `kubectl get ARGUMENTS -o json`.

        Raises:
            ClusterUnreachableError: if the cluster does not answer, or refuses.
        """
        listed = json.loads(self.call("get", *arguments, "-o", "json", "--ignore-not-found").text or "{}")
        return list(listed["items"]) if "items" in listed else [listed] if listed else []

    def call(
        self, *arguments: str, stdin: str | None = None, environment: Mapping[str, str] | None = None
    ) -> Answer:
        """Runs kubectl; warnings are what the API server sent beside its answer.

        Raises:
            ClusterUnreachableError: if it fails, or takes more than `SECONDS`.
        """
        command = ["kubectl", f"--kubeconfig={self.kubeconfig}", f"--context={self.context}", *arguments]
        inherited = {key: value for key, value in (environment or os.environ).items() if key != "KUBECONFIG"}
        try:
            done = subprocess.run(  # noqa: S603 - a fixed program; the arguments are ours and no shell reads them
                command,
                input=stdin,
                env=inherited,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except FileNotFoundError:
            raise ClusterUnreachableError("kubectl is not installed, or not on PATH") from None
        except subprocess.TimeoutExpired:
            raise ClusterUnreachableError(f"no answer within {SECONDS} s") from None
        if done.returncode != 0:
            raise ClusterUnreachableError(_reason(done.stderr))
        return Answer(done.stdout, tuple(_warnings(done.stderr.splitlines())))


def is_loopback(server: str) -> bool:
    """Whether an API server is on this machine, as the simulator's is: whatever is deployed there, nobody else reads.

    Args:
        server: its address, as in a kubeconfig.
    """
    try:
        host = urlsplit(server).hostname or ""
    except ValueError:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _warnings(lines: Sequence[str]) -> list[str]:
    return [line.removeprefix("Warning: ") for line in lines if line.startswith("Warning: ")]


def _reason(stderr: str) -> str:
    """The last line says why; the ones before are klog noise of the retries."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return lines[-1] if lines else "kubectl failed without a message"
