"""What a cluster on EKS says of itself: read from kubectl's answers, and compared with what is declared."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import pytest
from typing_extensions import override

from components.cluster.eks import cli, in_cluster_checks, reading
from components.cluster.eks.reading import EksKubectl, InCluster
from components.cluster.kubectl import Answer, ClusterUnreachableError, Kubectl
from components.settings.eks import EksTarget
from tests.support.environments import INCIDENT, changed, parsed
from tests.unit.components import aws

BASE = changed(INCIDENT, ("cluster.target", aws.EXISTING))
G = "cluster.nodeGroups"


@dataclass(frozen=True)
class Recorded(Kubectl):
    """Answers with these objects, by kind."""

    found: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)

    @override
    def call(
        self, *arguments: str, stdin: str | None = None, environment: Mapping[str, str] | None = None
    ) -> Answer:
        return Answer(json.dumps({"items": self.found[arguments[1]]}), ())


def daemonset(name: str, containers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A DaemonSet with these containers."""
    listed = [{"name": key, **value} for key, value in containers.items()]
    return {"metadata": {"name": name}, "spec": {"template": {"spec": {"containers": listed}}}}


def test_what_matters_is_read_from_daemonsets() -> None:
    cni = daemonset(
        "aws-node",
        {
            "aws-node": {
                "env": [{"name": "ENABLE_PREFIX_DELEGATION", "value": "true"}, {"name": "MY_NODE_NAME"}]
            },
            "aws-eks-nodeagent": {"args": ["--enable-network-policy=true"]},
        },
    )
    others = [daemonset(name, {}) for name in ("eks-pod-identity-agent", "ebs-csi-node")]
    found = reading.read(Recorded("", "", {"daemonsets": [cni, *others]}))
    assert found.cni == {"ENABLE_PREFIX_DELEGATION": "true", "MY_NODE_NAME": ""}
    assert found.enforces
    assert found.identity_agent
    assert found.ebs_driver


def test_a_cluster_without_them_is_read_too() -> None:
    assert reading.read(Recorded("", "", {"daemonsets": []})) == InCluster()


def differs(found: InCluster, *changes: tuple[str, Any]) -> dict[str, str]:
    """Mistakes by path."""
    settings = parsed(changed(BASE, *changes))
    assert isinstance(settings.cluster.target, EksTarget)
    return {m.path: str(m) for m in in_cluster_checks.mistakes(settings, settings.cluster.target, found)}


def test_what_is_as_declared_is_no_mistake() -> None:
    assert differs(aws.IN_CLUSTER) == {}


S3 = ("layer.logs", {"store": {**aws.S3, "madeBy": "others"}})
WRONG: dict[str, tuple[InCluster, list[tuple[str, Any]], set[str], str]] = {
    "no CNI": (
        InCluster(identity_agent=True, ebs_driver=True),
        [],
        {"cluster.target.existing"},
        "has no VPC CNI",
    ),
    "no driver for volumes": (
        replace(aws.IN_CLUSTER, ebs_driver=False),
        [],
        {"layer.storageClass"},
        "Install the add-on aws-ebs-csi-driver",
    ),
    "policies off": (
        replace(aws.IN_CLUSTER, enforces=False),
        [],
        {"cluster.networkPolicies"},
        "accept it by",
    ),
    "prefixes": (
        aws.IN_CLUSTER,
        [(f"{G}.web.podAddresses", "prefix")],
        {f"{G}.web.podAddresses"},
        "`podAddresses: secondary`",
    ),
    "custom networking": (
        replace(aws.IN_CLUSTER, cni={"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}),
        [],
        {f"{G}.{name}.customNetworking" for name in ("web", "workers", "batch")},
        "`customNetworking: true`",
    ),
    "no agent for identities": (
        replace(aws.IN_CLUSTER, identity_agent=False),
        [S3],
        {"cluster.target.identity"},
        "Loki would get no rights",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_differs_is_told(name: str) -> None:
    found, changes, paths, reason = WRONG[name]
    told = differs(found, *changes)
    assert set(told) == paths
    assert all(reason in text for text in told.values())


def test_policies_that_nothing_enforces_can_be_accepted() -> None:
    off = replace(aws.IN_CLUSTER, enforces=False)
    assert differs(off, ("cluster.networkPolicies", "notEnforced")) == {}


def test_a_group_that_was_made_before_prefixes_is_no_mistake() -> None:
    assert differs(replace(aws.IN_CLUSTER, cni={"ENABLE_PREFIX_DELEGATION": "true"})) == {}


def test_with_a_class_of_the_clusters_own_its_driver_is_not_looked_for() -> None:
    assert differs(replace(aws.IN_CLUSTER, ebs_driver=False), ("layer.storageClass", "efs")) == {}


def test_in_auto_mode_cni_and_driver_are_part_of_the_node() -> None:
    groups = {"auto": {"kind": "autoMode", "instanceTypes": ["m5.large"], "nodes": 3}}
    changes = [(G, groups), ("layer.runsOn", None), ("tenants", {})]
    assert differs(InCluster(), *changes) == {}


def test_commands_ask_the_cli_where_the_cluster_is_once_and_when_they_need_it() -> None:
    target = parsed(BASE).cluster.target
    assert isinstance(target, EksTarget)
    kubectl = EksKubectl("", "eks", target)
    described = {"cluster": {"name": "prod", "arn": aws.ARN, "endpoint": aws.ENDPOINT}}
    with (
        mock.patch.object(cli, "call", return_value=described) as asked,
        mock.patch.object(Kubectl, "call", return_value=Answer("{}", ())) as called,
    ):
        assert kubectl.objects("pods") == kubectl.objects("nodes") == []
    assert asked.call_args_list == [mock.call(target, "eks", "describe-cluster", "--name", "prod")]
    assert called.call_count == 2


def test_a_cluster_that_the_cli_does_not_find_cannot_be_read() -> None:
    target = parsed(BASE).cluster.target
    assert isinstance(target, EksTarget)
    refused = mock.patch.object(cli, "call", side_effect=cli.CliError("No cluster found for name: prod."))
    with refused, pytest.raises(ClusterUnreachableError, match="No cluster found"):
        EksKubectl("", "eks", target).objects("pods")
