"""One app team in the settings' tree: its share of the cluster, its signals and how it reads them."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from components.settings.base import (
    DnsLabel,
    Duration,
    GroupName,
    LabelKey,
    LabelValue,
    Model,
    ObjectName,
    Switch,
    off,
    shape,
)
from components.settings.dashboards import Dashboards


class TenantNamespace(Model):
    """One namespace of a tenant."""

    pods: int | None = Field(default=None, ge=1, le=100_000, description="peak of pods in this namespace")


class LogLimits(Model):
    """What one tenant may send to the log store; above it, it alone is refused (429), and its lines are lost.

    Loki has a bucket for each tenant: `logBurstMB` large, full when Loki starts, filled by `logRateMB` a second. A push
    that is larger than what is in the bucket is refused whole (Loki 3.7.6, pkg/distributor/distributor.go, AllowN).

    - The rate protects the volume, since it is what a tenant can add for long. The default is 21 GiB of lines a day,
      what one Loki is recommended for in all; lines that compress 5:1 fill 30 GiB of a volume with it in 7 d.
    - The burst is for peaks, and for what waits on all nodes while Loki is away, which comes at once. It bridges an
      absence of burst / usual rate seconds: by default 1,024 s at the full rate, and a rollout of Loki may take 600 s.
    - Loki's memory is bounded by neither: each agent has one push of 1 MiB under way, and what is taken is compressed
      into chunks that are written when they have 1.5 MB, so memory goes by the number of streams.

    A MB is 2^20 bytes, as Loki counts.
    """

    log_rate_mb: float = Field(
        default=0.25,
        ge=0.01,
        le=1024,
        allow_inf_nan=False,
        alias="logRateMB",
        description="MB of log lines per second, for long",
    )
    log_burst_mb: int = Field(
        default=256,
        ge=2,  # a push of an agent is 1 MiB and a line
        le=1024,
        alias="logBurstMB",
        description="MB of log lines at once: peaks, and what waited while the log store was away",
    )
    log_streams: int = Field(default=5000, ge=100, le=1_000_000, description="active log streams")


class PlatformLimits(LogLimits):
    """What all namespaces without a tenant may send together, as `platform`: the cluster's own, the layer's, others."""

    log_burst_mb: int = Field(
        default=512,
        ge=2,
        le=1024,
        alias="logBurstMB",
        description="MB of log lines at once; in the first deployment it is what is kept of earlier lines",
    )
    log_streams: int = Field(default=10_000, ge=100, le=1_000_000, description="active log streams")


class Tenant(Model):
    """One app team's slice of the cluster."""

    pods: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="peak of pods, rollouts and own pods included; its quota",
    )
    namespaces: Mapping[DnsLabel, TenantNamespace] = Field(
        default={},
        description="by default one, of the tenant's name; with several, each states its pods",
    )
    home_namespace: DnsLabel | None = Field(
        default=None,
        description="which of its namespaces has its Grafana, its read token and its Ingress; by default the first by "
        "name",
    )
    namespace: Literal["adopt", "create"] = Field(
        default="adopt", description="adopt namespaces that exist, or create them"
    )
    on_remove: Literal["keep", "delete"] = Field(
        default="keep",
        description="what happens to a created namespace when the tenant is removed",
    )
    logs: Annotated[Literal["node", "api", "off"], BeforeValidator(off)] = Field(
        default="node",
        description="collected by the node agents, by the tenant's own collector, or not",
    )
    metrics: Switch = Field(default=True, description="annotated pods are scraped")
    dashboards: Annotated[
        Annotated[Switch, Tag("<scalar>")] | Annotated[Dashboards, Tag("<mapping>")], Discriminator(shape)
    ] = Field(
        default=True,
        description="a Grafana of the tenant's own, one of its pods: true, false, or a mapping that says how it is "
        "reached; without any signal there is none",
    )
    runs_on: tuple[GroupName, ...] = Field(
        default=(),
        description="node groups of the tenant's pods; by default all groups without taints",
    )
    pod_security: Literal["restricted", "baseline", "keep"] = Field(
        default="restricted",
        description="Pod Security level that is enforced; keep leaves the namespace's own",
    )
    priority_classes: tuple[ObjectName, ...] = Field(
        default=(),
        description="PriorityClasses that the tenant's pods may name, each below the node agents'",
    )
    retention: Duration | None = Field(
        default=None, description="how long log lines are kept; by default the layer's"
    )
    labels: Mapping[LabelKey, LabelValue] = Field(
        default={}, description="further labels of the tenant's namespaces"
    )
    limits: LogLimits = LogLimits()
    token_generation: int = Field(
        default=1,
        ge=1,
        le=1_000_000,
        description="raised by one, it revokes the tenant's tokens and no other's",
    )


def pods_by_namespace(name: str, tenant: Tenant) -> dict[str, int]:
    """Quota of each namespace of a tenant: as written, or all of it for the only one.

    Args:
        name: of the tenant; also of its namespace, if it names none.
        tenant: whose pods add up, as the settings have checked.

    Raises:
        ValueError: if a namespace has no number, which the settings refuse.
    """
    stated = {namespace: tenant.namespaces[namespace].pods for namespace in tenant.namespaces} or {name: None}
    return {
        namespace: _quota(namespace, tenant.pods if own is None else own) for namespace, own in stated.items()
    }


def _quota(namespace: str, pods: int | None) -> int:
    if pods is None:
        raise ValueError(f"namespace '{namespace}' has no number of pods, and would get a quota of 0")
    return pods


def namespaces_of(name: str, tenant: Tenant) -> tuple[str, ...]:
    """A tenant's namespaces, as written; one of its own name if it names none."""
    return tuple(tenant.namespaces) or (name,)


def all_namespaces(tenants: Mapping[str, Tenant]) -> set[str]:
    """The namespaces of all tenants."""
    return {namespace for name, tenant in tenants.items() for namespace in namespaces_of(name, tenant)}
