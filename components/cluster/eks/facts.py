"""What AWS says before anything is made, as plain data; `checks.py` decides by it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Caller:
    """Whose credentials these are."""

    account: str
    arn: str


@dataclass(frozen=True)
class ClusterFacts:
    """A cluster that is there."""

    name: str
    arn: str
    created_at: str
    endpoint: str
    authority: str
    """Its certificate, base64."""
    version: str
    status: str
    issuer: str = ""
    """URL of its OIDC issuer."""


@dataclass(frozen=True)
class GroupFacts:
    """A managed node group that is there."""

    instance_types: tuple[str, ...]
    minimum: int
    maximum: int
    labels: Mapping[str, str]
    taints: frozenset[tuple[str, str, str]]
    """Key, value and EKS's word for the effect."""


@dataclass(frozen=True)
class TypeFacts:
    """An instance type as EC2 describes it."""

    enis: int
    """Of the default network card."""
    ipv4_per_eni: int
    vcpus: int
    memory_mib: int
    hypervisor: str
    bare_metal: bool
    architectures: tuple[str, ...]


@dataclass(frozen=True)
class SubnetFacts:
    """A subnet."""

    zone: str
    vpc: str
    free: int
    """Addresses that nobody has."""


@dataclass(frozen=True)
class Deployed:
    """What this stack's own state holds: also after a deployment that failed half-way.

    Attributes:
        cluster: identity of the cluster that it made; empty if it made none.
        name: of that cluster.
        version: its Kubernetes version.
        identifier: the identity that the deployed Kubernetes provider has; empty if there is none.
        add_ons: of each add-on its version, and the Kubernetes version for which that was chosen.
        groups: what EKS cannot change of each managed group, and the most nodes of it.
        buckets: names.
    """

    cluster: str = ""
    name: str = ""
    version: str = ""
    identifier: str = ""
    add_ons: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    buckets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """Something that AWS did not tell."""

    path: str
    """Of the setting that it was about."""
    what: str
    reason: str


@dataclass(frozen=True)
class Facts:
    """All of it.

    Attributes:
        caller: None in a preview without credentials; then only `deployed` is known.
        why_not: why there is no caller.
        clusters: names of all clusters of account and region.
        cluster: None where it does not exist.
        groups: managed node groups of an existing cluster, by name.
        zones: zones that offer each instance type; without any the region does not have it.
        types: by name; only those that the region has.
        subnets: by id.
        versions: Kubernetes versions that EKS offers.
        add_ons: per add-on, EKS's default and its newest version for the Kubernetes version.
        bucket: what is known of a bucket of the name that is wanted: free, there, or somebody else's.
        oidc_provider: whether IAM knows an existing cluster's OIDC issuer.
        deployed: this stack's own state.
        failures: what AWS did not tell.
    """

    caller: Caller | None = None
    why_not: str = ""
    clusters: tuple[str, ...] = ()
    cluster: ClusterFacts | None = None
    groups: Mapping[str, GroupFacts] = field(default_factory=dict)
    zones: Mapping[str, frozenset[str]] = field(default_factory=dict)
    types: Mapping[str, TypeFacts] = field(default_factory=dict)
    subnets: Mapping[str, SubnetFacts] = field(default_factory=dict)
    versions: tuple[str, ...] = ()
    add_ons: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    bucket: Literal["free", "there", "foreign"] = "free"
    oidc_provider: bool = False
    deployed: Deployed = Deployed()
    failures: tuple[Failure, ...] = ()
