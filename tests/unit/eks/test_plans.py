"""Add-ons and node groups of a cluster that is made here, as EKS is told."""

import json
from typing import Any

import pytest

from components.cluster import node_groups
from components.cluster.eks import plans
from components.cluster.placement import for_node_agents
from components.settings.eks import EksTarget
from components.settings.model import Settings
from tests.support.environments import changed, parsed
from tests.unit.components import aws

BASE = aws.MADE_HERE
Change = tuple[str, Any]


def on_eks(*changes: Change) -> tuple[Settings, EksTarget]:
    """Settings with a target on EKS."""
    settings = parsed(changed(BASE, *changes))
    assert isinstance(settings.cluster.target, EksTarget)
    return settings, settings.cluster.target


def groups(*changes: Change) -> dict[str, plans.ManagedGroup]:
    """The planned groups by name."""
    settings, target = on_eks(*changes)
    return {group.name: group for group in plans.managed_groups(settings.cluster, target)}


def cni(*changes: Change) -> dict[str, Any]:
    """Configuration of the VPC CNI."""
    settings, target = on_eks(*changes)
    (found,) = (p for p in plans.before_nodes(settings.cluster, target) if p.name == plans.VPC_CNI)
    return dict(json.loads(found.values or "{}"))


PREFIXES: list[Change] = [
    (f"cluster.nodeGroups.{name}.podAddresses", "prefix") for name in ("web", "workers", "batch")
]


def test_what_a_node_needs_comes_before_the_nodes() -> None:
    settings, target = on_eks()
    before = [plan.name for plan in plans.before_nodes(settings.cluster, target)]
    after = [plan.name for plan in plans.after_nodes(settings.cluster)]
    assert before == ["eks-pod-identity-agent", "vpc-cni", "kube-proxy"]
    assert after == ["coredns", "aws-ebs-csi-driver", "metrics-server"]


def test_with_tokens_for_identities_there_is_no_agent_for_them() -> None:
    settings, target = on_eks(("cluster.target.identity", "irsa"))
    assert plans.POD_IDENTITY not in [p.name for p in plans.add_ons(settings.cluster, target)]


def test_the_cni_gives_single_addresses_and_enforces_policies_by_default() -> None:
    assert cni() == {"env": {"ENABLE_PREFIX_DELEGATION": "false"}, "enableNetworkPolicy": "true"}
    assert cni(("cluster.networkPolicies", "notEnforced"))["enableNetworkPolicy"] == "false"


def test_prefixes_come_with_one_kind_of_warm_target_as_texts() -> None:
    assert cni(*PREFIXES)["env"] == {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1"}
    warm = ("cluster.target.create.vpcCni", {"warmIpTarget": 5, "minimumIpTarget": 20})
    assert cni(*PREFIXES, warm)["env"] == {
        "ENABLE_PREFIX_DELEGATION": "true",
        "WARM_IP_TARGET": "5",
        "MINIMUM_IP_TARGET": "20",
    }


def test_the_budget_counts_what_the_cni_is_told() -> None:
    settings, _ = on_eks(*PREFIXES)
    assert node_groups.max_pods(settings.cluster.node_groups["web"]) == 110
    assert node_groups.max_pods(on_eks()[0].cluster.node_groups["web"]) == 35


def test_taints_are_those_that_agents_tolerate() -> None:
    startup = [{"key": "node.example.com/init", "effect": "NoExecute"}]
    settings, _ = on_eks(("cluster.nodeGroups.batch.startupTaints", startup))
    made = groups(("cluster.nodeGroups.batch.startupTaints", startup))
    assert made["batch"].taints == (
        ("dedicated", "batch", "NO_SCHEDULE"),
        ("node.example.com/init", "", "NO_EXECUTE"),
    )
    tolerated = {
        (t.key, t.value, plans.EFFECTS[t.effect]) for t in for_node_agents(settings.cluster).tolerations
    }
    assert tolerated == {taint for group in made.values() for taint in group.taints}


def test_eks_sets_its_own_label_and_is_told_any_other() -> None:
    selector = {"key": "example.com/pool", "values": ["web"]}
    assert groups()["web"].labels == {}
    assert groups(("cluster.nodeGroups.web.selector", selector))["web"].labels == {"example.com/pool": "web"}


def test_a_group_with_bounds_tells_an_autoscaler_what_an_empty_node_would_be() -> None:
    made = groups(("cluster.nodeGroups.batch.nodes", {"min": 0, "max": 4}))
    assert made["batch"].tags == {
        "k8s.io/cluster-autoscaler/node-template/resources/pods": "58",
        "k8s.io/cluster-autoscaler/node-template/label/eks.amazonaws.com/nodegroup": "batch",
        "k8s.io/cluster-autoscaler/node-template/taint/dedicated": "batch:NoSchedule",
    }
    assert (made["batch"].minimum, made["batch"].maximum, made["batch"].is_scaled) == (0, 4, True)
    assert made["web"].tags == {}
    assert not made["web"].is_scaled


@pytest.mark.parametrize(
    ("types", "stated", "expected"),
    [
        (["t3.large"], None, "AL2023_x86_64_STANDARD"),
        (["m7g.large", "m6g.large"], None, "AL2023_ARM_64_STANDARD"),
        (["g5.xlarge"], "AL2023_x86_64_NVIDIA", "AL2023_x86_64_NVIDIA"),
    ],
)
def test_the_ami_type_follows_the_instance_types(types: list[str], stated: str | None, expected: str) -> None:
    changes: list[Change] = [("cluster.nodeGroups.web.instanceTypes", types)]
    if stated:
        changes.append(("cluster.nodeGroups.web.eks", {"amiType": stated}))
    assert groups(*changes)["web"].ami_type == expected


def test_bottlerocket_keeps_its_system_on_a_volume_of_its_own() -> None:
    stated = {"amiType": "BOTTLEROCKET_x86_64", "diskGib": 80}
    assert groups(("cluster.nodeGroups.web.eks", stated))["web"].volumes == {"/dev/xvda": 4, "/dev/xvdb": 80}
    assert groups()["web"].volumes == {"/dev/xvda": 50}
