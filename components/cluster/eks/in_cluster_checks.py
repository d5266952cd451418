"""What the cluster says against what is declared: VPC CNI, policies, drivers, and what nodes really got. Pure."""

from collections.abc import Iterator

from components.cluster import node_groups, pod_slots, storage_classes
from components.cluster.eks.reading import EBS_DRIVER, InCluster, NodeFacts
from components.settings.eks import EksTarget
from components.settings.mistakes import Mistake
from components.settings.model import LogStore, NodeGroup, S3Store, Settings
from components.taints import HARD_EFFECTS

PREFIXES, CUSTOM = "ENABLE_PREFIX_DELEGATION", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"
# Kubernetes itself sets them for a time, and its own controller gives DaemonSets their tolerations.
TRANSIENT = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
# What makes way for others: a node that is being replaced.
GOING = ("karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler")
SHOWN = 3


def mistakes(settings: Settings, target: EksTarget, found: InCluster) -> list[Mistake]:
    """Everything that is otherwise than declared; of a cluster that is made here only what its nodes have."""
    if target.create:
        return list(_nodes(settings, found))
    return [
        *_cni(settings, found),
        *_policies(settings, found),
        *_identity_agent(settings, target, found),
        *_volume_driver(settings, target, found),
        *_nodes(settings, found),
    ]


def _on_cni(settings: Settings) -> dict[str, NodeGroup]:
    """Groups whose pods get their addresses from the VPC CNI; in Auto Mode it is part of the node."""
    return {name: group for name, group in settings.cluster.node_groups.items() if group.kind != "autoMode"}


def _cni(settings: Settings, found: InCluster) -> Iterator[Mistake]:
    groups = _on_cni(settings)
    if not groups:
        return
    if found.cni is None:
        yield Mistake(
            "cluster.target.existing",
            "has no VPC CNI (DaemonSet kube-system/aws-node), from which pod slots and addresses are counted",
            "Install the add-on vpc-cni; for another network plug-in use the target kubeconfig, and state maxPods",
        )
        return
    prefixes, custom = (found.cni.get(name, "").lower() == "true" for name in (PREFIXES, CUSTOM))
    for name, group in groups.items():
        path = f"cluster.nodeGroups.{name}"
        # The other way round it may be a group that was made before, whose nodes have kept their max-pods.
        if pod_slots.uses_prefixes(group) and not prefixes:
            yield Mistake(
                f"{path}.podAddresses",
                f"is prefix, but the VPC CNI has {PREFIXES}=false",
                "Write `podAddresses: secondary`",
            )
        if group.custom_networking != custom:
            yield Mistake(
                f"{path}.customNetworking",
                f"is {str(group.custom_networking).lower()}, but the VPC CNI has {CUSTOM}={str(custom).lower()}",
                f"Write `customNetworking: {str(custom).lower()}`",
            )


def _policies(settings: Settings, found: InCluster) -> Iterator[Mistake]:
    if found.cni is not None and settings.cluster.enforces_network_policies and not found.enforces:
        yield Mistake(
            "cluster.networkPolicies",
            "the VPC CNI enforces no network policies: every pod would reach what only credentials do not guard",
            'Set {"enableNetworkPolicy": "true"} in the add-on vpc-cni, or accept it by `networkPolicies: notEnforced`',
        )


def _identity_agent(settings: Settings, target: EksTarget, found: InCluster) -> Iterator[Mistake]:
    logs = settings.layer.logs
    in_s3 = isinstance(logs, LogStore) and isinstance(logs.store, S3Store)
    auto = all(group.kind == "autoMode" for group in settings.cluster.node_groups.values())
    if in_s3 and target.identity == "podIdentity" and not found.identity_agent and not auto:
        yield Mistake(
            "cluster.target.identity",
            "is podIdentity, but the cluster has no EKS Pod Identity agent, so Loki would get no rights on its bucket",
            "Install the add-on eks-pod-identity-agent, or write `identity: irsa`",
        )


def _volume_driver(settings: Settings, target: EksTarget, found: InCluster) -> Iterator[Mistake]:
    """EKS installs no driver by itself; that of Auto Mode is part of the control plane, where nothing shows it."""
    if storage_classes.of_ours(settings) == storage_classes.EBS and not found.ebs_driver:
        yield Mistake(
            storage_classes.PATH,
            f"is not stated, and cluster '{target.existing}' has no EBS CSI driver (DaemonSet kube-system/"
            f"{EBS_DRIVER}) for the class that is made then, so the stores' volumes would stay Pending",
            "Install the add-on aws-ebs-csi-driver with a role for it, or name a StorageClass of another driver",
        )


def _nodes(settings: Settings, found: InCluster) -> Iterator[Mistake]:
    for name, group in settings.cluster.node_groups.items():
        selector = node_groups.selector(name, group)
        nodes = [node for node in found.nodes if node.labels.get(selector.key) in selector.values]
        wanted = node_groups.max_pods(group)
        few = [node for node in nodes if 0 < node.max_pods < wanted]
        if few:
            yield Mistake(
                f"cluster.nodeGroups.{name}",
                f"counts {wanted} pods per node, but {_named(few)} takes {min(node.max_pods for node in few)}: a node "
                "keeps the max-pods that it started with",
                "Replace the nodes (docs/runbooks/node-replacement.md), or state what they have by maxPods",
            )
        declared = {(t.key, t.value, t.effect) for t in (*group.taints, *group.startup_taints)}
        for taint in sorted({t for node in nodes for t in node.taints if _keeps_agents_out(t)} - declared):
            yield Mistake(
                f"cluster.nodeGroups.{name}.taints",
                f"lack {taint[0]}={taint[1]}:{taint[2]}, which {_named([n for n in nodes if taint in n.taints])} has "
                "and no agent tolerates",
                f"Add {{key: {taint[0]}, value: '{taint[1]}', effect: {taint[2]}}}, or take it off the node",
            )


def _keeps_agents_out(taint: tuple[str, str, str]) -> bool:
    return taint[2] in HARD_EFFECTS and not taint[0].startswith(TRANSIENT) and taint[0] not in GOING


def _named(nodes: list[NodeFacts]) -> str:
    names = ", ".join(node.name for node in nodes[:SHOWN])
    return f"node {names}" + (f" and {len(nodes) - SHOWN} more" if len(nodes) > SHOWN else "")
