"""Settings that contradict what stands beside them, so that they would have no effect: each is a mistake. Plain data.

What a switch of the layer leaves without effect is no mistake: `leftovers.py` says it.
"""

from collections.abc import Iterator

from components.settings.mistakes import Mistake
from components.settings.raw import Raw, is_off, mapping, texts

# A tenant's settings that only Loki reads, in its overrides.
OF_LOGS = (("retention",), ("limits", "logRateMB"), ("limits", "logBurstMB"), ("limits", "logStreams"))


def mistakes(layer: Raw, tenants: Raw, namespaces: Raw) -> Iterator[Mistake]:
    """All of them.

    Args:
        layer: its settings as written.
        tenants: the tenants', with `off` for the signals that the layer has off.
        namespaces: tenant by namespace.
    """
    yield from _open_to(layer, namespaces)
    for name, tenant in tenants.items():
        yield from _of_a_tenant(f"tenants.{name}", mapping(tenant), layer)
    yield from _hosts(tenants)


def _no_effect(path: str, why: str, remedy: str) -> Mistake:
    return Mistake(path, f"has no effect: {why}", remedy)


def _open_to(layer: Raw, namespaces: Raw) -> Iterator[Mistake]:
    for i, namespace in texts(mapping(layer.get("gateway")).get("openTo")):
        if namespace in namespaces:
            yield _no_effect(
                f"layer.gateway.openTo[{i}]",
                f"'{namespace}' is tenant '{namespaces[namespace]}'s, and tenants' pods may connect anyway",
                "Take it out",
            )


def _of_a_tenant(path: str, tenant: Raw, layer: Raw) -> Iterator[Mistake]:
    if tenant.get("onRemove") == "delete" and tenant.get("namespace") != "create":
        yield _no_effect(
            f"{path}.onRemove",
            "a namespace that is adopted is never deleted",
            "Write `namespace: create` if this program made it, or take it out",
        )
    if is_off(tenant.get("logs")) and not is_off(layer.get("logs")):
        for parents in OF_LOGS:
            section = tenant if len(parents) == 1 else mapping(tenant.get(parents[0]))
            if section.get(parents[-1]) is not None:
                yield _no_effect(
                    ".".join((path, *parents)),
                    "the tenant's logs are off, so it has no lines",
                    "Turn them on, or take it out",
                )


def _hosts(tenants: Raw) -> Iterator[Mistake]:
    """Two Grafanas behind one name: people of one team would be asked for their password by the other's."""
    owners: dict[str, str] = {}
    for name, tenant in tenants.items():
        host = mapping(mapping(tenant).get("dashboards")).get("host")
        if not isinstance(host, str):
            continue
        if host in owners:
            yield Mistake(
                f"tenants.{name}.dashboards.host",
                f"'{host}' is tenant '{owners[host]}'s already, and a name leads to one Grafana",
                "Give each tenant a name of its own",
            )
        owners.setdefault(host, name)
