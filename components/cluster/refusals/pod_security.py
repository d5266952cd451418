"""Which Pod Security level a tenant's namespace gets. Pure."""

from collections.abc import Iterator

from components import names
from components.cluster.live import Live, LiveNamespace, is_stricter
from components.settings.model import Settings
from components.settings.tenant import namespaces_of


def levels(settings: Settings, live: Live | None) -> Iterator[tuple[str, str]]:
    """Where a level is set. A level of somebody else that is as strict or stricter stays theirs, also when we leave."""
    for name, tenant in settings.tenants.items():
        if tenant.pod_security == "keep":
            continue
        for namespace in namespaces_of(name, tenant):
            found = live.namespaces.get(namespace, LiveNamespace()) if live else LiveNamespace()
            if names.POD_SECURITY_LABEL not in found.foreign_labels or is_stricter(
                tenant.pod_security, found.level
            ):
                yield namespace, tenant.pod_security
