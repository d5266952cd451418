"""AWS tags of everything made here. Pure."""

from components.names import OWNER_LABEL, PREFIX
from components.settings.eks import EksTarget
from components.settings.model import Settings

CLUSTER_TAG = f"{PREFIX}/cluster"
# On an add-on: for which version of Kubernetes its own was chosen.
KUBERNETES_TAG = f"{PREFIX}/kubernetes"
# On a managed group: the way of addresses for which its max-pods was computed.
POD_ADDRESSES_TAG = f"{PREFIX}/pod-addresses"


def aws_tags(settings: Settings, target: EksTarget, stack: str) -> dict[str, str]:
    """The settings' own, and whose they are: the stack and its cluster."""
    return {**target.tags, OWNER_LABEL: stack, CLUSTER_TAG: settings.cluster.name}
