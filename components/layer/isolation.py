"""What keeps tenants apart, in one line of every preview: what credentials do, and what rests on network policies."""

import pulumi

from components import names
from components.layer import parts
from components.settings.model import Settings

# They have no credential of their own: who reaches the port reads what is there.
_OPEN = {
    names.KUBE_STATE_METRICS: "kube-state-metrics (names and state of every object)",
    names.ALLOY: "the node agents' pages",
}


def summary(settings: Settings) -> str:
    """The line; empty where there is nothing to read."""
    apps = parts.all_apps(settings)
    if names.GATEWAY not in apps:
        return ""
    kept = (
        "Isolation: stores and gateway answer nobody without a credential, whatever the network lets through."
    )
    open_apps = " and ".join(_OPEN[app] for app in sorted(_OPEN) if app in apps)
    exporter = (
        " node-exporter uses the nodes' network, which no policy covers."
        if names.NODE_EXPORTER in apps
        else ""
    )
    if settings.cluster.enforces_network_policies:
        return f"{kept} Network policies, enforced here, keep other pods from {open_apps}.{exporter}"
    return (
        f"{kept} Network policies are declared, but cluster.networkPolicies is notEnforced: every pod reaches "
        f"{open_apps}.{exporter}"
    )


def say(settings: Settings) -> None:
    """Shows the line."""
    if line := summary(settings):
        pulumi.log.info(line)
