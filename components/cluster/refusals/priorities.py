"""Priority classes that tenants may use: below the node agents', and with the cluster's default one. Pure."""

from collections.abc import Iterator

from components import names
from components.cluster.live import Live
from components.settings.mistakes import Mistake
from components.settings.model import Settings

# Known without a cluster: Kubernetes' own classes, and the node agents', which the first deployment is yet to make.
PRIORITIES = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
    names.AGENTS_PRIORITY_CLASS: names.AGENTS_PRIORITY,
    names.AGENTS_PRIORITY_CLASS_WAITING: names.AGENTS_PRIORITY,
}


def mistakes(settings: Settings, live: Live | None) -> Iterator[Mistake]:
    """Classes that would displace the node agents, and a default class that a tenant's quota would refuse."""
    priorities = {**(live.priorities if live else {}), **PRIORITIES}
    default = live.default_priority_class if live else ""
    for name, tenant in settings.tenants.items():
        for i, allowed in enumerate(tenant.priority_classes):
            value = priorities.get(allowed)
            if value is not None and value >= names.AGENTS_PRIORITY:
                yield Mistake(
                    f"tenants.{name}.priorityClasses[{i}]",
                    f"'{allowed}' has priority {value}, not below the "
                    f"node agents' {names.AGENTS_PRIORITY}: its pods would displace them",
                    "Allow a class of lower value",
                )
        if default and default not in tenant.priority_classes:
            yield Mistake(
                f"tenants.{name}.priorityClasses",
                f"does not allow '{default}', which the cluster gives to every "
                "pod that names no class, so the tenant's quota would refuse all its pods",
                f"Write `priorityClasses: [{default}]`",
            )
