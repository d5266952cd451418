"""What a tenant's own settings say about each other: its pods, its dashboards and its labels. Reads plain data."""

from collections.abc import Iterator, Mapping
from typing import Any

from components.label_keys import mistaken_for
from components.names import PREFIX
from components.settings.mistakes import Mistake
from components.settings.raw import Raw, is_off, mapping

# Settings of a Grafana that only an Ingress uses.
OF_THE_INGRESS = ("ingressClass", "annotations", "tls", "tlsSecret", "oauth")


def has_dashboards(tenant: Raw) -> bool:
    """Whether a tenant has a Grafana of its own: unless it says no, or has nothing to show."""
    return not is_off(tenant.get("dashboards", True)) and has_signals(tenant)


def has_signals(tenant: Raw) -> bool:
    """Whether there is anything to read."""
    return not (is_off(tenant.get("logs")) and is_off(tenant.get("metrics")))


def _namespaces(name: str, tenant: Raw) -> list[str]:
    return sorted(mapping(tenant.get("namespaces"))) or [name]


def own_pods(name: str, tenant: Raw) -> dict[str, int]:
    """Pods that the tenant stack itself has in each namespace; each is replaced by ending it first.

    A collector in every namespace with `logs: api`, and the Grafana in its home namespace.
    """
    namespaces = _namespaces(name, tenant)
    collectors = int(tenant.get("logs") == "api")
    grafana = int(has_dashboards(tenant))
    home = tenant.get("homeNamespace") or namespaces[0]
    return {namespace: collectors + (grafana if namespace == home else 0) for namespace in namespaces}


def pods(name: str, tenant: Raw) -> Iterator[Mistake]:
    """A quota for each namespace, and room in it for what the tenant stack itself runs there.

    A key without a value is as good as none: `pods:` reaches here as null, and a quota of it would be 0.
    """
    path = f"tenants.{name}"
    total = tenant.get("pods")
    stated = {key: mapping(value).get("pods") for key, value in mapping(tenant.get("namespaces")).items()}
    if total is None and all(number is None for number in stated.values()):
        yield Mistake(
            f"{path}.pods",
            "is missing: it is the tenant's quota and its share of the pod budget",
            "Write the peak, rollouts included",
        )
        return
    unstated = [key for key, number in stated.items() if number is None]
    if unstated and len(stated) > 1:
        yield from (
            Mistake(
                f"{path}.namespaces.{key}.pods",
                "is missing: with several namespaces each has a quota of its own",
                "Write the peak of this namespace",
            )
            for key in unstated
        )
    numbers = [number for number in stated.values() if isinstance(number, int)]
    if isinstance(total, int) and numbers and not unstated and sum(numbers) != total:
        yield Mistake(
            f"{path}.pods",
            f"is {total}, but its namespaces add up to {sum(numbers)}",
            "Leave it out, or make them equal",
        )
    yield from _too_few(name, tenant, stated, total)


def _too_few(name: str, tenant: Raw, stated: Mapping[str, Any], total: Any) -> Iterator[Mistake]:
    for namespace, needed in own_pods(name, tenant).items():
        own = stated.get(namespace)
        path, quota = ("pods", total) if own is None else (f"namespaces.{namespace}.pods", own)
        if isinstance(quota, int) and 0 < quota < needed:
            yield Mistake(
                f"tenants.{name}.{path}",
                f"is a quota of {quota}, but the tenant stack itself needs {needed}",
                f"Write {needed} or more",
            )


def dashboards(name: str, tenant: Raw) -> Iterator[Mistake]:
    """Something to show, and an Ingress for what only an Ingress uses."""
    path, stated = f"tenants.{name}.dashboards", tenant.get("dashboards")
    if stated is not None and not is_off(stated) and not has_signals(tenant):
        yield Mistake(
            path,
            "is on, but the tenant's logs and metrics are off, so there is nothing to show",
            "Turn one of them on, or write `dashboards: off`",
        )
    reached = mapping(stated)
    if reached.get("host") is None:
        yield from (
            Mistake(f"{path}.{key}", "has no effect without a host name", f"Add {path}.host, or take it out")
            for key in OF_THE_INGRESS
            if reached.get(key) or (key == "tls" and reached.get(key) is not None)
        )
    elif is_off(reached.get("tls")) and reached.get("tlsSecret"):
        yield Mistake(
            f"{path}.tlsSecret",
            "is there, but tls is off, so Grafana would send its cookies over http too",
            "Write `tls: on`, or take the Secret out",
        )


def home(name: str, tenant: Raw) -> Iterator[Mistake]:
    """A home namespace that is the tenant's."""
    namespaces = _namespaces(name, tenant)
    if tenant.get("homeNamespace") not in (None, *namespaces):
        yield Mistake(
            f"tenants.{name}.homeNamespace",
            "is none of the tenant's namespaces",
            f"Write one of them: {', '.join(namespaces)}",
        )


def pod_security(path: str, tenant: Raw) -> Iterator[Mistake]:
    """A level for a namespace that has none."""
    if tenant.get("namespace") == "create" and tenant.get("podSecurity") == "keep":
        yield Mistake(
            f"{path}.podSecurity",
            "is keep, but a namespace that is created has no level to keep, and would admit privileged pods",
            "Write restricted or baseline",
        )


def labels(path: str, tenant: Raw) -> Iterator[Mistake]:
    """Labels of a domain that means something to Kubernetes or to us."""
    for key in mapping(tenant.get("labels")):
        domain = key.partition("/")[0] if "/" in key else ""
        if domain == PREFIX or domain.endswith(("kubernetes.io", "k8s.io")):
            yield Mistake(
                f'{path}.labels["{key}"]',
                f"labels of {domain} are not a tenant's to choose",
                "Use a domain of your own",
            )
        elif ours := mistaken_for(str(key)):
            yield Mistake(
                f'{path}.labels["{key}"]',
                f"is read as {ours} by Alloy and Prometheus: which of the two counts is chance",
                "Use a key of another name",
            )
