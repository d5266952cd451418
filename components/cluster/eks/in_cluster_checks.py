"""What the cluster says against what is declared: VPC CNI, policies and drivers. Pure."""

from collections.abc import Iterator

from components.cluster import pod_slots, storage_classes
from components.cluster.eks.reading import EBS_DRIVER, InCluster
from components.settings.eks import EksTarget
from components.settings.mistakes import Mistake
from components.settings.model import LogStore, NodeGroup, S3Store, Settings

PREFIXES, CUSTOM = "ENABLE_PREFIX_DELEGATION", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"


def mistakes(settings: Settings, target: EksTarget, found: InCluster) -> list[Mistake]:
    """Everything that is otherwise than declared; a cluster that is made here is as this program makes it."""
    if target.create:
        return []
    return [
        *_cni(settings, found),
        *_policies(settings, found),
        *_identity_agent(settings, target, found),
        *_volume_driver(settings, target, found),
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
