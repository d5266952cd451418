"""Settings of a cluster on EKS: one that is there, or one that this program makes on given subnets."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from components.settings.base import DnsLabel, Model, Switch

AMI_TYPE = r"^(AL2023|BOTTLEROCKET)_(x86_64|ARM_64)[A-Z0-9_]*$"
BUCKET = r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$"
ACCOUNT = r"^[0-9]{12}$"
ADD_ON_VERSION = r"^v[0-9]+\.[0-9]+\.[0-9]+-eksbuild\.[0-9]+$"
CIDR = r"^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$"
CLUSTER_NAME = r"^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$"
KEY_ARN = r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/.+$"
KUBERNETES_VERSION = r"^1\.[0-9]{2}$"
PRINCIPAL = r"^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/.+$"
REGION = r"^[a-z]{2}(-[a-z]+)+-[0-9]$"
SUBNET = r"^subnet-[0-9a-f]{8,17}$"

AddOn = Literal[
    "vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns", "aws-ebs-csi-driver", "metrics-server"
]
LogType = Literal["api", "audit", "authenticator", "controllerManager", "scheduler"]
Key = Annotated[str, Field(pattern=KEY_ARN)]
Subnet = Annotated[str, Field(pattern=SUBNET)]


class EksEndpoint(Model):
    """Where the API server answers."""

    private: Switch = Field(default=True, description="inside the cluster's VPC")
    public: Switch = Field(default=False, description="on the internet, to `publicCidrs`")
    public_cidrs: tuple[Annotated[str, Field(pattern=CIDR)], ...] = Field(
        default=(), description="address ranges that may connect to the public endpoint"
    )


class EksAccess(Model):
    """An access entry: an IAM role or user, and what it may do by an EKS access policy."""

    principal: Annotated[str, Field(pattern=PRINCIPAL)] = Field(description="ARN of the IAM role or user")
    policy: Literal["clusterAdmin", "admin", "edit", "adminView", "view"] = Field(
        default="view", description="EKS access policy"
    )
    namespaces: tuple[DnsLabel, ...] = Field(
        default=(), description="where it holds; by default in the whole cluster"
    )


class EksControlPlaneLogs(Model):
    """Logs of the control plane, in a CloudWatch log group that goes with the cluster."""

    types: tuple[LogType, ...] = Field(
        default=("api", "audit", "authenticator"), description="what is logged"
    )
    retention_days: Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731] = Field(
        default=30, description="days that CloudWatch keeps it"
    )


class EksVpcCni(Model):
    """How many addresses the VPC CNI keeps ready on a node; whether they are prefixes is said by the node groups."""

    warm_prefix_target: int | None = Field(
        default=None, ge=1, le=16, description="free prefixes; by default 1 where pods get prefixes"
    )
    warm_ip_target: int | None = Field(
        default=None, ge=1, le=250, description="free addresses; wins over warmPrefixTarget"
    )
    minimum_ip_target: int | None = Field(
        default=None, ge=1, le=250, description="addresses from the node's start on; needs warmIpTarget"
    )


class EksCreate(Model):
    """A cluster that this program makes, with its add-ons and the managed groups among `cluster.nodeGroups`."""

    name: Annotated[str, Field(pattern=CLUSTER_NAME)] = Field(
        description="of the cluster in EKS; it cannot change"
    )
    version: Annotated[str, Field(pattern=KUBERNETES_VERSION)] = Field(
        description="Kubernetes version of control plane, add-ons and nodes; one minor version up at a time"
    )
    subnets: tuple[Subnet, ...] = Field(
        min_length=2, description="subnets of control plane and nodes, in two zones at least"
    )
    endpoint: EksEndpoint = EksEndpoint()
    access: tuple[EksAccess, ...] = Field(
        min_length=1, description="who may do what; whoever deploys needs the policy clusterAdmin"
    )
    control_plane_logs: EksControlPlaneLogs = EksControlPlaneLogs()
    secrets_key: Key | None = Field(
        default=None, description="KMS key that encrypts Kubernetes Secrets; once set it cannot change"
    )
    vpc_cni: EksVpcCni = EksVpcCni()
    add_on_versions: Mapping[AddOn, Annotated[str, Field(pattern=ADD_ON_VERSION)]] = Field(
        default={},
        description="versions of add-ons; of the others, EKS's default for the Kubernetes version when they are first "
        "made, kept until the Kubernetes version changes",
    )


class EksTarget(Model):
    """A cluster on EKS, reached by the AWS CLI's token: one that is there, or one that this program makes."""

    kind: Literal["eks"]
    region: Annotated[str, Field(pattern=REGION)] = Field(description="AWS region")
    profile: str | None = Field(
        default=None,
        min_length=1,
        description="profile of the AWS configuration; by default the shell's credentials",
    )
    account: Annotated[str, Field(pattern=ACCOUNT)] | None = Field(
        default=None, description="AWS account; credentials for another one are refused"
    )
    existing: Annotated[str, Field(pattern=CLUSTER_NAME)] | None = Field(
        default=None, description="name of a cluster that is there; this or `create`"
    )
    create: EksCreate | None = Field(default=None, description="a cluster to make; this or `existing`")
    other_groups: tuple[str, ...] = Field(
        default=(), description="managed node groups of an existing cluster on which no agent shall run"
    )
    identity: Literal["podIdentity", "irsa"] = Field(
        default="podIdentity",
        description="how a pod becomes an IAM role: by the EKS Pod Identity agent, or by the cluster's OIDC provider",
    )
    data_key: Key | None = Field(
        default=None, description="KMS key of volumes and bucket; by default AWS's own keys encrypt them"
    )
    tags: Mapping[str, str] = Field(default={}, description="AWS tags of everything made here")


class EksNodes(Model):
    """How EKS makes a managed group's nodes; only where this program makes the cluster."""

    ami_type: Annotated[str, Field(pattern=AMI_TYPE)] | None = Field(
        default=None,
        description="EKS's AMI type; by default AL2023_x86_64_STANDARD or AL2023_ARM_64_STANDARD, as the types are",
    )
    capacity: Literal["onDemand", "spot"] = Field(default="onDemand", description="how the nodes are bought")
    disk_gib: int = Field(default=50, ge=20, le=16384, description="root volume, encrypted gp3, in GiB")
    max_unavailable: int = Field(
        default=1, ge=1, le=100, description="nodes that an update replaces at a time"
    )
    subnets: tuple[Subnet, ...] = Field(default=(), description="by default the cluster's")
