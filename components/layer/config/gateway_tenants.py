"""Which tenant reads what, as the maps that the gateway's nginx.conf includes: all of it that lists tenants.

They are apart from nginx.conf so that its earlier version, which stays declared for a rollback, names no tenant that is
gone.
"""

from collections.abc import Mapping

from components.settings.model import Settings
from components.settings.tenant import namespaces_of

WITHOUT_LOGS_FILE = "without-logs.map"


def namespaces_file(place: int) -> str:
    """The map from tenants to the namespace at this place, from 1, of their lists."""
    return f"namespaces-{place}.map"


def namespaces(settings: Settings) -> dict[str, tuple[str, ...]]:
    """The namespaces whose metrics each tenant reads: its own. Without the signal there is no entry."""
    if settings.layer.metrics == "off":
        return {}
    return {
        name: tuple(sorted(namespaces_of(name, tenant)))
        for name, tenant in sorted(settings.tenants.items())
        if tenant.metrics
    }


def places(settings: Settings) -> range:
    """From 1 to the length of the longest list: nginx sends one header for each."""
    return range(1, max([1, *map(len, namespaces(settings).values())]) + 1)


def without_logs(settings: Settings) -> tuple[str, ...]:
    """Tenants that have no lines to read."""
    return tuple(name for name, tenant in sorted(settings.tenants.items()) if tenant.logs == "off")


def files(settings: Settings) -> dict[str, str]:
    """Texts by file name; those of a signal that is off for the layer are missing."""
    found = {}
    if settings.layer.logs != "off":
        found[WITHOUT_LOGS_FILE] = _lines(dict.fromkeys(without_logs(settings), "1"))
    if settings.layer.metrics != "off":
        scoped = namespaces(settings)
        for place in places(settings):
            own = {tenant: lists[place - 1] for tenant, lists in scoped.items() if len(lists) >= place}
            found[namespaces_file(place)] = _lines(own)
    return found


def _lines(values: Mapping[str, str]) -> str:
    return "".join(f"{key} {value};\n" for key, value in values.items())
