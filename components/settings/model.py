"""The tree of settings, as it is written in Pulumi.<env>.yaml: frozen, typed, nothing derived and nothing looked up.

What follows from the settings (which nodes a group selects, what a tenant may use) is decided by pure functions in the
room that needs it; what one part of the tree says about another is checked in `checks.py`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SecretStr,
    Tag,
)
from pydantic.alias_generators import to_camel

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
GROUP_NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$"
DURATION = r"^[1-9][0-9]*(h|d|w|y)$"
SIZE = r"^[1-9][0-9]*(Mi|Gi|Ti)$"
QUALIFIED_NAME = r"^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
LABEL_VALUE = r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"


class Model(BaseModel):
    """What every part of the tree has in common."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        hide_input_in_errors=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )


def _off(value: Any) -> Any:
    """YAML 1.2 leaves `off` a string and YAML 1.1 makes it false: both mean off."""
    return "off" if value is False else value


def _switch(value: Any) -> Any:
    """`on` and `off` are accepted beside true and false."""
    return {"on": True, "off": False}.get(value, value) if isinstance(value, str) else value


def _shape(value: Any) -> str:
    """Which branch of a `scalar or mapping` setting was meant."""
    return "<mapping>" if isinstance(value, Mapping | BaseModel) else "<scalar>"


def _kind(*kinds: str) -> Discriminator:
    """Tells mappings apart by their key `kind`; an unknown kind is judged (and refused) by the first branch."""

    def tag(value: Any) -> str:
        kind = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", None)
        return f"<{kind}>" if kind in kinds else f"<{kinds[0]}>"

    return Discriminator(tag)


Switch = Annotated[bool, BeforeValidator(_switch)]
DnsLabel = Annotated[str, Field(pattern=DNS_LABEL)]
GroupName = Annotated[str, Field(pattern=GROUP_NAME)]
Duration = Annotated[str, Field(pattern=DURATION)]
Size = Annotated[str, Field(pattern=SIZE)]
LabelKey = Annotated[str, Field(pattern=QUALIFIED_NAME)]
LabelValue = Annotated[str, Field(pattern=LABEL_VALUE)]


# --- cluster ---------------------------------------------------------------------------------------------------------


class RenderTarget(Model):
    """Manifests are written to a folder; no cluster and no credentials are needed."""

    kind: Literal["render"]
    directory: str = Field(
        min_length=1,
        description="folder, relative to the project, that the manifests go to",
    )


class KubeconfigTarget(Model):
    """A cluster that exists, reached by exactly this file and context; the ambient kubeconfig is never used."""

    kind: Literal["kubeconfig"]
    path: str = Field(min_length=1, description="kubeconfig file, relative to the project or absolute")
    context: str = Field(min_length=1, description="context in that file")


Target = Annotated[
    Annotated[RenderTarget, Tag("<render>")] | Annotated[KubeconfigTarget, Tag("<kubeconfig>")],
    _kind("render", "kubeconfig"),
]


class Taint(Model):
    """A taint that every node of the group carries."""

    key: LabelKey
    value: LabelValue = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Selector(Model):
    """The label by which a group's nodes are known."""

    key: LabelKey
    values: tuple[LabelValue, ...] = Field(min_length=1)


class NodeRange(Model):
    """Bounds of a group that is scaled automatically."""

    min: int = Field(ge=0, le=5000)
    max: int = Field(ge=1, le=5000)


NodeCount = Annotated[
    Annotated[Annotated[int, Field(ge=1, le=5000)], Tag("<scalar>")] | Annotated[NodeRange, Tag("<mapping>")],
    Discriminator(_shape),
]


class NodeGroup(Model):
    """Nodes that share labels, taints and max-pods."""

    kind: Literal["managed", "nodePool", "autoMode", "other"] = Field(
        default="managed",
        description="EKS managed node group, Karpenter NodePool, EKS Auto Mode node pool, or other",
    )
    selector: Selector | None = Field(
        default=None,
        description="label key and values of the group's nodes; by default the kind's own label with the group's name "
        "(`eks.amazonaws.com/nodegroup` or `karpenter.sh/nodepool`); required for kind `other`",
    )
    instance_types: tuple[str, ...] = Field(
        default=(),
        description="EC2 instance types; with several, the smallest max-pods counts",
    )
    nodes: NodeCount = Field(description="number of nodes, or {min, max} for an autoscaled group")
    taints: tuple[Taint, ...] = Field(default=(), description="taints of the group's nodes")
    startup_taints: tuple[Taint, ...] = Field(
        default=(),
        description="taints that nodes carry until something removes them; node agents tolerate them too",
    )
    max_pods: int | None = Field(
        default=None,
        ge=1,
        le=2000,
        description="max-pods of the group's nodes; wins over the instance types'",
    )
    pod_addresses: Literal["secondary", "prefix"] | None = Field(
        default=None,
        description="how the VPC CNI gives pods addresses: secondary IPs, or prefix delegation (nitro types only); "
        "by default prefix in Auto Mode, secondary elsewhere",
    )
    custom_networking: Switch = Field(
        default=False,
        description="pods take addresses of other subnets (ENIConfig), so the primary interface gives none",
    )
    system_pods: int | None = Field(
        default=None,
        ge=0,
        le=500,
        description="pods of the cluster's own per node: 5 by default, 0 in Auto Mode",
    )


class Cluster(Model):
    """The cluster that this environment belongs to."""

    name: DnsLabel = Field(description="label `cluster` on every sample, line and alert")
    target: Target = Field(description="where the objects go: {kind: render, ...} or {kind: kubeconfig, ...}")
    node_groups: Mapping[GroupName, NodeGroup] = Field(
        min_length=1, description="every group that agents run on"
    )


# --- layer -----------------------------------------------------------------------------------------------------------


class ExistingExporter(Model):
    """A node exporter that somebody else runs: it is found by label and scraped, and none is deployed."""

    kind: Literal["existing"]
    selector: Mapping[LabelKey, LabelValue] = Field(min_length=1, description="labels of the exporter's pods")
    namespace: DnsLabel | None = Field(
        default=None, description="namespace of its pods; by default any but a tenant's"
    )
    port: int = Field(default=9100, ge=1, le=65535, description="port of the metrics, path /metrics")


HostMetrics = Annotated[
    Annotated[
        Annotated[Literal["node-exporter", "none", "off"], BeforeValidator(_off)],
        Tag("<scalar>"),
    ]
    | Annotated[ExistingExporter, Tag("<mapping>")],
    Discriminator(_shape),
]


class MetricsStore(Model):
    """One Prometheus."""

    retention: Duration = Field(default="15d", description="how long samples are kept")
    storage: Size = Field(default="50Gi", description="size of the volume; it can grow, never shrink")
    scrape_interval: Annotated[str, Field(pattern=r"^[1-9][0-9]*(s|m)$")] = Field(
        default="60s", description="time between two scrapes of a target"
    )
    samples_per_target: int = Field(
        default=20_000,
        ge=100,
        le=10_000_000,
        description="a tenant's target with more samples fails its scrape",
    )


class FilesystemStore(Model):
    """Chunks on the log store's own volume."""

    kind: Literal["filesystem"]
    size: Size = Field(default="50Gi", description="size of the volume; it can grow, never shrink")


class S3Store(Model):
    """Chunks in an S3 bucket; a small volume holds the index cache and the write-ahead log."""

    kind: Literal["s3"]
    bucket: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")]
    region: Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")]
    size: Size = Field(
        default="10Gi",
        description="size of the volume beside the bucket; it can grow, never shrink",
    )


class LogStore(Model):
    """One Loki."""

    retention: Duration = Field(default="7d", description="how long lines are kept; at least 24h")
    store: Annotated[
        Annotated[FilesystemStore, Tag("<filesystem>")] | Annotated[S3Store, Tag("<s3>")],
        _kind("filesystem", "s3"),
    ] = FilesystemStore(kind="filesystem")


class Agents(Model):
    """How the node agents are scheduled and rolled out."""

    preempt: bool = Field(
        default=True,
        description="a Pending agent evicts pods of lower priority: it is silent, an evicted pod is not",
    )
    max_unavailable: int = Field(
        default=2,
        ge=1,
        le=100,
        description="nodes without agent at a time in a rollout",
    )
    timeout: Annotated[str, Field(pattern=r"^[1-9][0-9]*(s|m)$")] | None = Field(
        default=None,
        description="longest wait for all agents; by default 60s + 30s x nodes / maxUnavailable, 5m for 15 nodes",
    )


class Gateway(Model):
    """How tenants read: one proxy for all of them, in a few pods."""

    replicas: int = Field(default=2, ge=1, le=20, description="pods; one more while they are replaced")
    requests_per_second: int = Field(
        default=50,
        ge=1,
        le=10_000,
        description="of one tenant's reads or pushes, at each pod; twice as many at once; above it 429",
    )
    concurrent_requests: int = Field(
        default=20,
        ge=1,
        le=1_000,
        description="of one tenant's reads or pushes, at each pod; above it 429",
    )


class ExternalSecrets(Model):
    """Rendered secrets are references for the External Secrets Operator."""

    kind: Literal["externalSecret"]
    store: DnsLabel = Field(description="name of the ClusterSecretStore")


RenderedSecrets = Annotated[
    Annotated[Literal["placeholder"], Tag("<scalar>")] | Annotated[ExternalSecrets, Tag("<mapping>")],
    Discriminator(_shape),
]

Metrics = Annotated[
    Annotated[Annotated[Literal["off"], BeforeValidator(_off)], Tag("<scalar>")]
    | Annotated[MetricsStore, Tag("<mapping>")],
    Discriminator(_shape),
]
Logs = Annotated[
    Annotated[Annotated[Literal["off"], BeforeValidator(_off)], Tag("<scalar>")]
    | Annotated[LogStore, Tag("<mapping>")],
    Discriminator(_shape),
]


class Layer(Model):
    """What runs once per cluster."""

    host_metrics: HostMetrics = Field(
        default="node-exporter",
        description="node-exporter | {kind: existing, selector: ...} | none",
    )
    metrics: Metrics = Field(default=MetricsStore(), description="a mapping, or off")
    logs: Logs = Field(default=LogStore(), description="a mapping, or off")
    runs_on: tuple[GroupName, ...] = Field(
        default=(),
        description="node groups of the layer's own pods; by default all groups without taints",
    )
    storage_class: DnsLabel | None = Field(
        default=None, description="of the volumes; by default the cluster's default"
    )
    agents: Agents = Agents()
    gateway: Gateway = Gateway()
    protection: Switch = Field(
        default=True,
        description="on: `destroy`, and turning a store off, are refused; off: they delete the volumes",
    )
    rendered_secrets: RenderedSecrets = Field(
        default="placeholder", description="what stands for a secret in rendered files"
    )


# --- tenants ---------------------------------------------------------------------------------------------------------


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
    namespace: Literal["adopt", "create"] = Field(
        default="adopt", description="adopt namespaces that exist, or create them"
    )
    on_remove: Literal["keep", "delete"] = Field(
        default="keep",
        description="what happens to a created namespace when the tenant is removed",
    )
    logs: Annotated[Literal["node", "api", "off"], BeforeValidator(_off)] = Field(
        default="node",
        description="collected by the node agents, by the tenant's own collector, or not",
    )
    metrics: Switch = Field(default=True, description="annotated pods are scraped")
    dashboards: Switch = Field(default=False, description="a Grafana of the tenant's own; needs the gateway")
    runs_on: tuple[GroupName, ...] = Field(
        default=(),
        description="node groups of the tenant's pods; by default all groups without taints",
    )
    pod_security: Literal["restricted", "baseline", "keep"] = Field(
        default="restricted",
        description="Pod Security level that is enforced; keep leaves the namespace's own",
    )
    priority_classes: tuple[DnsLabel, ...] = Field(
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


class Settings(Model):
    """One environment."""

    cluster: Cluster
    layer: Layer = Layer()
    tenants: Mapping[DnsLabel, Tenant] = Field(default={}, description="the app teams, by name")
    gateway_key: SecretStr = Field(
        min_length=32,
        description="secret, at least 32 bytes; all tokens derive from it",
    )
    gateway_key_previous: SecretStr | None = Field(
        default=None,
        min_length=32,
        description="secret; the key before this one, whose tokens are good too while it is being replaced",
    )
