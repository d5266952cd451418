"""The tree of settings, as it is written in Pulumi.<env>.yaml: frozen, typed, nothing derived and nothing looked up.

What follows from the settings (which nodes a group selects, what a tenant may use) is decided by pure functions in the
room that needs it; what one part of the tree says about another is checked in `checks.py`.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, SecretStr, Tag

from components.settings.admission import AdmissionSetting
from components.settings.base import (
    IMAGE_REGISTRY,
    DnsLabel,
    Duration,
    GroupName,
    LabelKey,
    LabelValue,
    Model,
    ObjectName,
    Size,
    Switch,
    kind,
    off,
    shape,
)
from components.settings.dashboards import OAuth
from components.settings.eks import BUCKET, REGION, EksNodes, EksTarget
from components.settings.tenant import PlatformLimits, Tenant

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
    Annotated[RenderTarget, Tag("<render>")]
    | Annotated[KubeconfigTarget, Tag("<kubeconfig>")]
    | Annotated[EksTarget, Tag("<eks>")],
    kind("render", "kubeconfig", "eks"),
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
    Discriminator(shape),
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
    eks: EksNodes = EksNodes()


class Cluster(Model):
    """The cluster that this environment belongs to."""

    name: DnsLabel = Field(description="label `cluster` on every sample, line and alert")
    target: Target = Field(description="where the objects go: {kind: render | kubeconfig | eks, ...}")
    network_policies: Literal["enforced", "notEnforced"] | None = Field(
        default=None,
        description="whether the cluster's network plug-in enforces network policies; the VPC CNI does so only with "
        "`enableNetworkPolicy`. By default enforced on EKS, which is then seen to, and notEnforced elsewhere. Preview "
        "says what rests on it",
    )
    node_groups: Mapping[GroupName, NodeGroup] = Field(
        min_length=1, description="every group that agents run on"
    )

    @property
    def enforces_network_policies(self) -> bool:
        """As stated, else on EKS only."""
        return (
            self.network_policies or ("enforced" if self.target.kind == "eks" else "notEnforced")
        ) == "enforced"


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
        Annotated[Literal["node-exporter", "alloy", "none", "off"], BeforeValidator(off)],
        Tag("<scalar>"),
    ]
    | Annotated[ExistingExporter, Tag("<mapping>")],
    Discriminator(shape),
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
    bucket: Annotated[str, Field(pattern=BUCKET)]
    region: Annotated[str, Field(pattern=REGION)]
    size: Size = Field(
        default="10Gi",
        description="size of the volume beside the bucket; it can grow, never shrink",
    )
    made_by: Literal["program", "others"] = Field(
        default="program",
        description="who makes the bucket where the target is eks: with others it has to exist, and gets nothing but a "
        "role that may use it",
    )


class LogStore(Model):
    """One Loki."""

    retention: Duration = Field(default="7d", description="how long lines are kept; at least 24h")
    store: Annotated[
        Annotated[FilesystemStore, Tag("<filesystem>")] | Annotated[S3Store, Tag("<s3>")],
        kind("filesystem", "s3"),
    ] = FilesystemStore(kind="filesystem")
    limits: PlatformLimits = PlatformLimits()


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
        description="of one tenant's reads or pushes, at each pod; above it 429. Of these at most 4 are pushes, and at "
        "most 20 over all pods read metrics",
    )
    open_to: tuple[DnsLabel, ...] = Field(
        default=(),
        description="namespaces, beside the tenants', whose pods may connect: that of a central Grafana; a token is "
        "asked for all the same",
    )


class ExternalSecrets(Model):
    """Rendered secrets are references for the External Secrets Operator."""

    kind: Literal["externalSecret"]
    store: ObjectName = Field(description="name of the ClusterSecretStore")


RenderedSecrets = Annotated[
    Annotated[Literal["placeholder"], Tag("<scalar>")] | Annotated[ExternalSecrets, Tag("<mapping>")],
    Discriminator(shape),
]

Metrics = Annotated[
    Annotated[Annotated[Literal["off"], BeforeValidator(off)], Tag("<scalar>")]
    | Annotated[MetricsStore, Tag("<mapping>")],
    Discriminator(shape),
]
Logs = Annotated[
    Annotated[Annotated[Literal["off"], BeforeValidator(off)], Tag("<scalar>")]
    | Annotated[LogStore, Tag("<mapping>")],
    Discriminator(shape),
]


class Layer(Model):
    """What runs once per cluster."""

    host_metrics: HostMetrics = Field(
        default="node-exporter",
        description="node-exporter | alloy | {kind: existing, selector: ...} | none; with alloy the log agent measures "
        "the node too: one agent less on each node, and some metrics less",
    )
    metrics: Metrics = Field(default=MetricsStore(), description="a mapping, or off")
    logs: Logs = Field(default=LogStore(), description="a mapping, or off")
    runs_on: tuple[GroupName, ...] = Field(
        default=(),
        description="node groups of the layer's own pods; by default all groups without taints",
    )
    storage_class: ObjectName | None = Field(
        default=None,
        description="of the volumes; by default the cluster's default, which has to exist then; with the target eks an "
        "encrypted class that is made",
    )
    agents: Agents = Agents()
    gateway: Gateway = Gateway()
    dashboards: Switch = Field(
        default=False,
        description="a Grafana of the platform's own, which reads the whole cluster and every tenant's lines",
    )
    admission: AdmissionSetting = Field(
        default="warn",
        description="what the API server does with objects that break the rules, whoever sends them: deny | warn | "
        "off, or a mapping with exemptions; needs Kubernetes 1.30",
    )
    oauth: OAuth | None = Field(
        default=None, description="identity provider by which people sign in to their team's Grafana"
    )
    image_registry: Annotated[str, Field(pattern=IMAGE_REGISTRY)] | None = Field(
        default=None,
        description="registry, with a path if it has one, before the full name of every image: "
        "registry.example.com/mirror gives registry.example.com/mirror/docker.io/grafana/loki",
    )
    protection: Switch = Field(
        default=True,
        description="on: `destroy`, and turning a store off, are refused; off: they delete the volumes",
    )
    rendered_secrets: RenderedSecrets = Field(
        default="placeholder", description="what stands for a secret in rendered files"
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
    oauth: Mapping[str, SecretStr] = Field(
        default={},
        description="secret; the secret of each client of the identity provider, by the client's ID",
    )
