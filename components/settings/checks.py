"""What one part of the settings says about another: names that must exist, namespaces with one owner, signals.

The checks read the plain data, not the validated tree, so that a malformed value in one place never hides a wrong
reference in another; what has the wrong shape is passed over here, since the model reports it.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from components.cluster import instance_types, node_groups
from components.names import LAYER_NAMESPACE, NODES_NAMESPACE, PLATFORM_TENANT
from components.settings import effects, eks_checks, oauth, tenant_checks
from components.settings.mistakes import THIS_ENVIRONMENT, Mistake, closest
from components.settings.raw import HOURS, Raw, has_hard_taints, hours, is_off, mapping, texts

RESERVED_NAMESPACES = ("default", LAYER_NAMESPACE, NODES_NAMESPACE)
# Tenants of the stores that are not app teams: namespaces without a tenant, and the layer's own credentials.
RESERVED_TENANTS = (PLATFORM_TENANT, "layer")
GATEWAY_KEY_BYTES = 32


def reference_mistakes(raw: Raw) -> list[Mistake]:
    """All mistakes of one environment that its shape alone does not show.

    Args:
        raw: the settings as plain data, with the keys `cluster`, `layer`, `tenants` and the two gateway keys.
    """
    cluster, layer, tenants = (mapping(raw.get(key)) for key in ("cluster", "layer", "tenants"))
    groups = mapping(cluster.get("nodeGroups"))
    return [
        *_node_groups(groups),
        *_overlapping_groups(groups),
        *_runs_on("layer", layer, groups),
        *eks_checks.mistakes(cluster, groups, layer),
        *_log_retention("layer.logs", mapping(layer.get("logs"))),
        *_tenant_names(tenants),
        *_namespaces(tenants),
        *(m for name, tenant in tenants.items() for m in _tenant(name, mapping(tenant), groups, layer)),
        *oauth.mistakes(tenants, layer, mapping(raw.get("oauth"))),
        *effects.mistakes(layer, tenants, {n: tenant for n, tenant, _ in owned_namespaces(tenants)}),
        *_platform_dashboards(layer),
        *_existing_exporter(layer, tenants),
        *_gateway_keys(raw.get("gatewayKey"), raw.get("gatewayKeyPrevious")),
    ]


def _node_groups(groups: Raw) -> Iterator[Mistake]:
    for name, value in groups.items():
        path, group = f"cluster.nodeGroups.{name}", mapping(value)
        for i, type_name in texts(group.get("instanceTypes")):
            if instance_types.lookup(type_name) is None and not group.get("maxPods"):
                near = ", ".join(instance_types.closest(type_name))
                yield Mistake(
                    f"{path}.instanceTypes[{i}]",
                    f"no instance type is called '{type_name}'",
                    f"{f'Closest: {near}. ' if near else ''}For a type newer than the table, set {path}.maxPods",
                )
        if group and not group.get("instanceTypes") and not group.get("maxPods"):
            yield Mistake(
                path,
                "says neither instanceTypes nor maxPods, so its pod slots are unknown",
                "Add one",
            )
        if group.get("kind") == "other" and not group.get("selector"):
            yield Mistake(
                f"{path}.selector",
                "is missing: nodes of kind other have no label of their own",
                "Add {key: LABEL, values: [VALUE]} with a label that exactly these nodes carry",
            )
        nodes = mapping(group.get("nodes"))
        low, high = nodes.get("min"), nodes.get("max")
        if isinstance(low, int) and isinstance(high, int) and low > high >= 1:
            yield Mistake(f"{path}.nodes", f"min {low} is more than max {high}", "Swap them")


def _overlapping_groups(groups: Raw) -> Iterator[Mistake]:
    def nodes(name: str, group: Raw) -> set[tuple[str, str]]:
        selector = mapping(group.get("selector"))
        if selector:
            return {(str(selector.get("key")), value) for _, value in texts(selector.get("values"))}
        key = node_groups.LABELS.get(str(group.get("kind", "managed")))
        return {(key, name)} if key else set()

    selected = {name: nodes(name, mapping(group)) for name, group in groups.items()}
    for one, other in combinations(sorted(selected), 2):
        for key, value in sorted(selected[one] & selected[other]):
            yield Mistake(
                f"cluster.nodeGroups.{other}.selector",
                f"selects the nodes with {key}={value}, which '{one}' selects too, so they would be counted twice",
                "Give each group a label value of its own",
            )


def _runs_on(path: str, section: Raw, groups: Raw) -> Iterator[Mistake]:
    if not groups:
        return  # said once, where the groups are missing
    for i, name in texts(section.get("runsOn")):
        if name not in groups:
            near = closest(name, groups)
            declared = ", ".join(sorted(groups))
            yield Mistake(
                f"{path}.runsOn[{i}]",
                f"no node group is called '{name}'",
                f"Declared: {declared}{f' ({near})' if near else ''}",
            )
    if not section.get("runsOn") and groups and all(has_hard_taints(group) for group in groups.values()):
        yield Mistake(
            f"{path}.runsOn",
            "is missing, and every node group has taints, so nothing is allowed by default",
            f"Name the groups: {', '.join(groups)}",
        )


def _log_retention(path: str, section: Raw, key: str = "retention") -> Iterator[Mistake]:
    kept = hours(section.get(key))
    if kept is not None and kept < HOURS["d"]:
        # Loki's compactor refuses less: docs "retention_period … minimum 24h".
        yield Mistake(
            f"{path}.{key}",
            "is less than the 24h below which Loki refuses to start",
            "Write 24h or more",
        )


def _tenant_names(tenants: Raw) -> Iterator[Mistake]:
    for name in tenants:
        if name in RESERVED_TENANTS:
            yield Mistake(
                f"tenants.{name}",
                f"'{name}' is the layer's own name in the stores",
                "Choose another name",
            )


def owned_namespaces(tenants: Raw) -> Iterator[tuple[str, str, str]]:
    """(namespace, tenant, path of the setting that names it) for each namespace of each tenant."""
    for name, value in tenants.items():
        written = mapping(mapping(value).get("namespaces"))
        if written:
            yield from ((namespace, name, f"tenants.{name}.namespaces.{namespace}") for namespace in written)
        else:
            yield name, name, f"tenants.{name}"


def _namespaces(tenants: Raw) -> Iterator[Mistake]:
    owners: dict[str, str] = {}
    for namespace, tenant, path in owned_namespaces(tenants):
        if namespace in RESERVED_NAMESPACES or namespace.startswith("kube-"):
            yield Mistake(
                path,
                f"namespace '{namespace}' is reserved, so no tenant can own it",
                "Name the team's own namespace under `namespaces`",
            )
        if namespace in owners:
            yield Mistake(
                path,
                f"namespace '{namespace}' belongs to tenant '{owners[namespace]}' already, and data of "
                "a namespace has one owner",
                "Take it from one of them",
            )
        owners.setdefault(namespace, tenant)


def _tenant(name: str, tenant: Raw, groups: Raw, layer: Raw) -> Iterator[Mistake]:
    path = f"tenants.{name}"
    yield from _runs_on(path, tenant, groups)
    yield from tenant_checks.pods(name, tenant)
    yield from tenant_checks.home(name, tenant)
    yield from _log_retention(path, tenant)
    for signal, reason in (("logs", "no log store"), ("metrics", "no metrics store")):
        wanted = tenant.get(signal)
        if is_off(layer.get(signal)) and wanted is not None and not is_off(wanted):
            yield Mistake(
                f"{path}.{signal}",
                f"is on, but layer.{signal} is off, so there is {reason}",
                f"Turn layer.{signal} on, or write `{signal}: off` here",
            )
    yield from tenant_checks.dashboards(name, tenant)
    yield from tenant_checks.pod_security(path, tenant)
    yield from tenant_checks.labels(path, tenant)


def _platform_dashboards(layer: Raw) -> Iterator[Mistake]:
    wanted = layer.get("dashboards") in (True, "on")
    if wanted and is_off(layer.get("logs")) and is_off(layer.get("metrics")):
        yield Mistake(
            "layer.dashboards",
            "is on, but layer.logs and layer.metrics are off, so there is nothing to show",
            "Turn one of them on, or write `dashboards: off`",
        )


def _existing_exporter(layer: Raw, tenants: Raw) -> Iterator[Mistake]:
    namespace = mapping(layer.get("hostMetrics")).get("namespace")
    for owned, tenant, _ in owned_namespaces(tenants):
        if owned == namespace:
            yield Mistake(
                "layer.hostMetrics.namespace",
                f"is tenant '{tenant}'s, and no tenant's pod is believed about nodes, so nothing would be scraped",
                "Name the namespace of the exporter that the platform runs",
            )


def _gateway_keys(key: Any, previous: Any) -> Iterator[Mistake]:
    for name, value in (("gatewayKey", key), ("gatewayKeyPrevious", previous)):
        if isinstance(value, str) and len(value.encode()) < GATEWAY_KEY_BYTES:
            yield Mistake(
                name,
                f"is shorter than {GATEWAY_KEY_BYTES} bytes, and every token derives from it",
                make_key(name),
            )
    if isinstance(key, str) and key == previous:
        yield Mistake(
            "gatewayKeyPrevious",
            "is gatewayKey itself, so nothing is being replaced",
            "Put the old key here and a new one into gatewayKey, or leave it out",
        )


def make_key(name: str = "gatewayKey") -> str:
    """The command that makes a key and stores it encrypted."""
    command = f"make pulumi ENV={THIS_ENVIRONMENT} ARGS='config set --secret {name}'"
    return f"Make one: openssl rand -hex 32 | {command}"
