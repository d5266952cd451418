"""What is still written and does nothing, or is still good and should not be for long: said once at each preview.

Not refused, as what `effects.py` finds is: a signal can be turned off, or a tenant removed, by one line of the file.
"""

from collections.abc import Iterator

from components.settings.dashboards import Dashboards
from components.settings.model import ExistingExporter, Settings


def lines(settings: Settings, stack: str) -> list[str]:
    """One line for each, with what to do in this stack."""
    layer, found = settings.layer, []
    if layer.logs == "off" and layer.metrics == "off":
        found.append(
            "layer.logs and layer.metrics are off: nothing is collected, and tenants get labels and quotas only"
        )
    if idle := list(_without_effect(settings)):
        found.append(f"without effect now: {', '.join(idle)}")
    clients = _clients(settings)
    found += [
        f"the secret of the identity provider's client '{client}' has no effect: no tenant names it. Remove it: "
        f'make pulumi ENV={stack} ARGS="config rm --path \'oauth[\\"{client}\\"]\'"'
        for client in sorted(set(settings.oauth) - clients)
    ]
    if settings.gateway_key_previous:
        found.append(
            "gatewayKeyPrevious is set, so tokens of the old key are good too. When everybody has new ones: "
            f"make pulumi ENV={stack} ARGS='config rm gatewayKeyPrevious'"
        )
    return found


def _without_effect(settings: Settings) -> Iterator[str]:
    """Settings that somebody has written, each with what keeps it from having an effect."""
    layer = settings.layer
    no_logs, no_metrics = layer.logs == "off", layer.metrics == "off"
    if no_metrics and "host_metrics" in layer.model_fields_set and layer.host_metrics != "none":
        yield "layer.hostMetrics (layer.metrics is off)"
    theirs = layer.host_metrics == "none" or isinstance(layer.host_metrics, ExistingExporter)
    if no_logs and (no_metrics or theirs) and "agents" in layer.model_fields_set:
        yield "layer.agents (there are no node agents)"
    if no_logs and no_metrics:
        stated = {"gateway": "gateway", "storage_class": "storageClass"}
        yield from (
            f"layer.{key} (both signals are off)"
            for name, key in stated.items()
            if name in layer.model_fields_set
        )
    if layer.oauth and not _clients(settings):
        yield "layer.oauth (no tenant names a client under dashboards.oauth)"
    if no_logs:
        for name, tenant in settings.tenants.items():
            of_lines = [key for key in ("retention", "limits") if key in tenant.model_fields_set]
            yield from (f"tenants.{name}.{key} (layer.logs is off)" for key in of_lines)


def _clients(settings: Settings) -> set[str]:
    """Those that a tenant names."""
    stated = (tenant.dashboards for tenant in settings.tenants.values())
    return {found.oauth.client_id for found in stated if isinstance(found, Dashboards) and found.oauth}
