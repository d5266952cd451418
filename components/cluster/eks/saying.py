"""What a preview says of a target on EKS, beside its mistakes."""

import pulumi

from components.cluster import node_groups
from components.cluster.eks import addresses, plans
from components.cluster.eks.checks import subnet_needs
from components.cluster.eks.cloud import Cloud
from components.settings.eks import EksTarget
from components.settings.model import Settings


def say(settings: Settings, target: EksTarget, cloud: Cloud) -> None:
    """Shows what was chosen for the user, and the part of the pod budget that is counted in addresses."""
    if cloud.versions:
        chosen = ", ".join(f"{name} {version}" for name, version in cloud.versions.items())
        pulumi.log.info(f"EKS add-ons: {chosen}. Pin them by cluster.target.create.addOnVersions.")
    needs = subnet_needs(settings, target.create, cloud.facts) if target.create else []
    if needs:
        nodes = sum(node_groups.nodes_max(group) for group in plans.managed(settings.cluster).values())
        pulumi.log.info(addresses.line(needs, nodes))
