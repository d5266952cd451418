"""Which version of each add-on: the settings' own, else the deployed one, else EKS's default. Pure."""

import re

from components.cluster.eks.facts import Facts
from components.settings.eks import EksTarget


def chosen_versions(target: EksTarget, facts: Facts) -> dict[str, str]:
    """The version of each add-on; one that is deployed stays until the Kubernetes version changes.

    EKS's default moves on by itself: followed at each deployment, it would change a cluster in which nothing was asked
    to change.
    """
    create = target.create
    if create is None:
        return {}
    defaults = {name: default for name, (default, _) in facts.add_ons.items()}
    deployed = {
        name: version
        for name, (version, chosen_for) in facts.deployed.add_ons.items()
        if chosen_for == create.version
    }
    return {**defaults, **deployed, **pinned_versions(target)}


def pinned_versions(target: EksTarget) -> dict[str, str]:
    """The versions that the settings state."""
    stated = target.create.add_on_versions.items() if target.create else ()
    return {str(name): version for name, version in stated}


def parts(version: str) -> tuple[int, ...]:
    """The numbers of a version, to compare it: `v1.20.4-eksbuild.1`, `1.35`."""
    return tuple(int(number) for number in re.findall(r"\d+", version))
