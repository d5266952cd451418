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


class TenantLimits(Model):
    """What one tenant may do to the stores; above it, it alone is refused (429)."""

    log_rate_mb: int = Field(
        default=4,
        ge=1,
        le=1024,
        alias="logRateMB",
        description="MB of log lines per second",
    )
    log_burst_mb: int = Field(
        default=6,
        ge=1,
        le=1024,
        alias="logBurstMB",
        description="MB of log lines at once",
    )
    log_streams: int = Field(default=5000, ge=100, le=1_000_000, description="active log streams")


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
    limits: TenantLimits = TenantLimits()
    token_generation: int = Field(
        default=1,
        ge=1,
        le=1_000_000,
        description="raised by one, it revokes the tenant's tokens and no other's",
    )


def namespaces_of(name: str, tenant: Tenant) -> tuple[str, ...]:
    """A tenant's namespaces, as written; one of its own name if it names none."""
    return tuple(tenant.namespaces) or (name,)
