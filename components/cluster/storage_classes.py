"""Which StorageClass the layer's volumes have: the cluster's default, a stated one, or on EKS one of ours. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from components import names
from components.cluster.live import Live
from components.cluster.node_groups import allowed_groups
from components.settings.mistakes import Mistake, closest
from components.settings.model import KubeconfigTarget, Settings

PATH = "layer.storageClass"
NO_CLASS = (
    "There is none: install a driver for volumes (on EKS the add-on aws-ebs-csi-driver), make a StorageClass with it, "
    "and name that"
)


@dataclass(frozen=True)
class VolumeClass:
    """A StorageClass of ours.

    Attributes:
        name: its name. A class keeps its driver, as a volume does, so each driver has a class.
        driver: the CSI driver that makes the volumes and attaches them.
        takes_tags: whether volumes get the environment's tags.
        compute_type: value of EKS' label of that name on the nodes that can attach them; empty: nodes without it.
    """

    name: str
    driver: str
    takes_tags: bool
    compute_type: str = ""


EBS = VolumeClass(names.VOLUME_CLASS, "ebs.csi.aws.com", takes_tags=True)
# EKS user guide, "Create a storage class": Auto Mode makes no class and needs this driver; nodes of neither kind can
# attach the other's volumes. "Amazon EKS Auto Mode cluster IAM role": with AWS's own policies the cluster's role may
# set no tags of a user's, so a class with tags would get no volume.
AUTO_MODE = VolumeClass(
    names.AUTO_MODE_VOLUME_CLASS, "ebs.csi.eks.amazonaws.com", takes_tags=False, compute_type="auto"
)


def claims(settings: Settings) -> tuple[str, ...]:
    """Names of the stores' volume claims."""
    stores = {names.PROMETHEUS: settings.layer.metrics, names.LOKI: settings.layer.logs}
    return tuple(name for name, store in stores.items() if store != "off")


def of_ours(settings: Settings) -> VolumeClass | None:
    """The class that has to be made; None where the cluster's default does, or the settings name one.

    Nodes of both kinds together are refused by the settings.
    """
    layer = settings.layer
    if settings.cluster.target.kind != "eks" or layer.storage_class or not claims(settings):
        return None
    groups = settings.cluster.node_groups
    kinds = {groups[name].kind for name in allowed_groups(settings.cluster, layer.runs_on)}
    return AUTO_MODE if kinds == {"autoMode"} else EBS


def mistakes(settings: Settings, live: Live) -> Iterator[Mistake]:
    """A class that is stated and is not there, or none where the cluster has no default: claims would stay Pending.

    The latter is how clusters on EKS are made since 1.30. What has its volume already needs no class.
    """
    stated, there = settings.layer.storage_class, live.storage_classes
    wanted = set(claims(settings)) - live.bound_claims.keys()
    listed = ", ".join(sorted(there)) or "none"
    if stated and stated not in there and claims(settings):
        near = closest(stated, there)
        yield Mistake(
            PATH,
            f"the cluster has no StorageClass '{stated}', so volumes of the stores would stay Pending",
            f"There are: {listed}{f' ({near})' if near else ''}",
        )
    by_default = isinstance(settings.cluster.target, KubeconfigTarget) and not stated
    if by_default and wanted and not any(there.values()):
        yield Mistake(
            PATH,
            "is not stated, and the cluster has no default StorageClass, so the volumes of "
            f"{' and '.join(sorted(wanted))} would stay Pending",
            f"Name one of those that there are: {listed}" if there else NO_CLASS,
        )
