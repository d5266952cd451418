"""What is still written and does nothing, or is still good and should not be for long: said once at each preview.

Not refused, as what `effects.py` finds is: a tenant's record can then be removed without the rest of the file.
"""

from components.settings.dashboards import Dashboards
from components.settings.model import Settings


def lines(settings: Settings, stack: str) -> list[str]:
    """One line for each, with what to do in this stack."""
    layer, found = settings.layer, []
    if layer.logs == "off" and layer.metrics == "off":
        found.append(
            "layer.logs and layer.metrics are off: nothing is collected, and tenants get labels and quotas only"
        )
    clients = _clients(settings)
    if layer.oauth and not clients:
        found.append("layer.oauth has no effect: no tenant names a client under dashboards.oauth")
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


def _clients(settings: Settings) -> set[str]:
    """Those that a tenant names."""
    stated = (tenant.dashboards for tenant in settings.tenants.values())
    return {found.oauth.client_id for found in stated if isinstance(found, Dashboards) and found.oauth}
