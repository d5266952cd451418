"""A cluster on EKS, read by kubectl with the kubeconfig that the provider gets, written for as long as it is needed."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typing_extensions import override

from components.cluster.eks import cli
from components.cluster.eks.facts import ClusterFacts
from components.cluster.eks.kubeconfig import CONTEXT, identity, kubeconfig
from components.cluster.kubectl import Answer, ClusterUnreachableError, Kubectl
from components.settings.eks import EksTarget

SYSTEM = "kube-system"
CNI, NODE_AGENT = "aws-node", "aws-eks-nodeagent"
IDENTITY_AGENT = "eks-pod-identity-agent"
EBS_DRIVER = "ebs-csi-node"
ENFORCES = "--enable-network-policy=true"


@dataclass(frozen=True)
class InCluster:
    """What only the cluster itself knows.

    Attributes:
        cni: variables of the VPC CNI; None where it is not there.
        enforces: whether its network policy agent is on.
        identity_agent: whether the EKS Pod Identity agent is there.
        ebs_driver: whether the EBS CSI driver is there.
    """

    cni: Mapping[str, str] | None = None
    enforces: bool = False
    identity_agent: bool = False
    ebs_driver: bool = False


def read(kubectl: Kubectl) -> InCluster:
    """Reads DaemonSets of the cluster's own.

    Raises:
        ClusterUnreachableError: if the cluster does not answer.
    """
    sets = {item["metadata"]["name"]: item for item in kubectl.objects("daemonsets", "--namespace", SYSTEM)}
    containers = _containers(sets[CNI]) if CNI in sets else {}
    variables = containers.get(CNI, {}).get("env") or []
    return InCluster(
        cni={v["name"]: str(v.get("value", "")) for v in variables} if CNI in sets else None,
        enforces=ENFORCES in (containers.get(NODE_AGENT, {}).get("args") or []),
        identity_agent=IDENTITY_AGENT in sets,
        ebs_driver=EBS_DRIVER in sets,
    )


def _containers(item: Mapping[str, Any]) -> dict[str, Any]:
    return {c["name"]: c for c in item["spec"]["template"]["spec"]["containers"]}


@contextmanager
def reader(target: EksTarget, cluster: ClusterFacts) -> Iterator[Kubectl]:
    """Gives a reader; its kubeconfig holds no secret and is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="eks-") as folder:
        path = Path(folder) / "kubeconfig"
        text = kubeconfig(target, name=cluster.name, endpoint=cluster.endpoint, authority=cluster.authority)
        path.write_text(text, encoding="utf-8")
        yield Kubectl(str(path), CONTEXT)


def identity_of(cluster: ClusterFacts) -> str:
    """What tells it from others."""
    return identity(cluster.arn, cluster.created_at)


@dataclass(frozen=True)
class EksKubectl(Kubectl):
    """A reader for commands that run without the engine: it asks the AWS CLI where the cluster is, when it has to know.

    Attributes:
        target: `cluster.target`.
    """

    target: EksTarget
    _found: list[ClusterFacts] = field(default_factory=list)

    @property
    @override
    def probe(self) -> str:
        name, region = _name(self.target), self.target.region
        return f"aws eks update-kubeconfig --name {name} --region {region}, then kubectl get --raw /readyz"

    @override
    def call(
        self, *arguments: str, stdin: str | None = None, environment: Mapping[str, str] | None = None
    ) -> Answer:
        if not self._found:
            self._found.append(_described(self.target))
        with reader(self.target, self._found[0]) as kubectl:
            return kubectl.call(*arguments, stdin=stdin, environment=environment)


def _name(target: EksTarget) -> str:
    return target.create.name if target.create else target.existing or ""


def _described(target: EksTarget) -> ClusterFacts:
    try:
        found = cli.call(target, "eks", "describe-cluster", "--name", _name(target))["cluster"]
    except cli.CliError as error:
        raise ClusterUnreachableError(str(error)) from None
    return ClusterFacts(
        name=found["name"],
        arn=found["arn"],
        created_at=str(found.get("createdAt", "")),
        endpoint=found.get("endpoint", ""),
        authority=found.get("certificateAuthority", {}).get("data", ""),
        version=found.get("version", ""),
        status=found.get("status", ""),
    )
