"""Quotas that would be full from the start. Pure."""

from collections import Counter
from collections.abc import Iterator

from components.cluster.live import Live, ObjectRef
from components.settings.mistakes import Mistake
from components.settings.model import Settings
from components.settings.tenant import pods_by_namespace
from components.tenant.signals import own_workloads


def mistakes(settings: Settings, live: Live) -> Iterator[Mistake]:
    """A quota that is new, or lower than now, and below the pods that run and those that the tenant stack adds.

    It would end none of them, but refuse the next: of a team's Deployment, or the tenant's own Grafana.
    """
    own = Counter(
        namespace
        for namespace, app in own_workloads(settings)
        if ObjectRef("Deployment", namespace, app) not in live.owners
    )
    for name, tenant in settings.tenants.items():
        for namespace, quota in pods_by_namespace(name, tenant).items():
            found, added = live.namespaces.get(namespace), own[namespace]
            if found is None or (found.quota is not None and quota >= found.quota):
                continue
            needed = found.pods + added
            if quota < needed:
                several = namespace in tenant.namespaces and tenant.namespaces[namespace].pods is not None
                adds = f", and the tenant stack adds {added}" if added else ""
                yield Mistake(
                    f"tenants.{name}.{f'namespaces.{namespace}.pods' if several else 'pods'}",
                    f"is a quota of {quota}, but namespace '{namespace}' has {found.pods} pods that have not "
                    f"ended{adds}: the next pod, also in place of one that ends, would be refused",
                    f"Write {needed} or more, and room for a rollout; or have the team run fewer first",
                )
