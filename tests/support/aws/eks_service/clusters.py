"""EKS clusters: their versions, networks and access, and the API server that answers for all of them."""

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moto.ec2.models import ec2_backends
from moto.eks.responses import EKSResponse

from tests.support.aws.eks_service.common import (
    VERSIONS,
    ActionResult,
    Request,
    cluster_of,
    invalid,
    kept,
    param,
    update,
)

PUBLIC = {"endpointPublicAccess": True, "endpointPrivateAccess": False, "publicAccessCidrs": ["0.0.0.0/0"]}
ZONES = 2
ARN_FIELDS = {"addons": "addonArn", "access": "accessEntryArn", "pod_identity": "associationArn"}
_moto = {name: getattr(EKSResponse, name) for name in ("create_cluster", "update_cluster_config")}
_moto_tags = {name: getattr(EKSResponse, name) for name in ("tag_resource", "untag_resource")}


@dataclass(frozen=True)
class ApiServer:
    """Where the API server of every cluster of the stand-in listens, and the authority of its certificate."""

    endpoint: str
    authority: Path


@dataclass
class Settings:
    """What tests say of the clusters to come; None gives them moto's endpoint, where nothing listens."""

    api_server: ApiServer | None = None


settings = Settings()


def create_cluster(request: Request) -> ActionResult:
    version, network = param(request, "version"), param(request, "resourcesVpcConfig")
    _check_version(version)
    subnets = known_subnets(request, network.get("subnetIds", []))
    if len({subnet.availability_zone for subnet in subnets}) < ZONES:
        raise invalid("Subnets specified must be in at least two different AZs")
    answer = _moto["create_cluster"](request)
    cluster = cluster_of(request)
    cluster.version = version or VERSIONS[-1]
    cluster.access_config = param(request, "accessConfig") or {"authenticationMode": "CONFIG_MAP"}
    cluster.self_managed_addons = param(request, "bootstrapSelfManagedAddons") is not False
    cluster.deletion_protection = bool(param(request, "deletionProtection"))
    cluster.resources_vpc_config = {
        **PUBLIC,
        **network,
        "vpcId": subnets[0].vpc_id,
        "clusterSecurityGroupId": "sg-0123456789abcdef0",
    }
    _set_endpoint(cluster)
    return answer


def _set_endpoint(cluster: Any) -> None:
    if settings.api_server:
        cluster.endpoint = settings.api_server.endpoint
        authority = settings.api_server.authority.read_bytes()
        cluster.certificate_authority = {"data": b64encode(authority).decode()}


def update_cluster_config(request: Request) -> ActionResult:
    cluster = cluster_of(request)
    if access := param(request, "accessConfig"):
        cluster.access_config = {**cluster.access_config, **access}
    if param(request, "deletionProtection") is not None:
        cluster.deletion_protection = param(request, "deletionProtection")
    before = cluster.resources_vpc_config
    answer = _moto["update_cluster_config"](request)
    cluster.resources_vpc_config = {**before, **(param(request, "resourcesVpcConfig") or {})}
    return answer


def update_cluster_version(request: Request) -> ActionResult:
    _check_version(param(request, "version"))
    cluster_of(request).version = param(request, "version")
    return update("VersionUpdate")


def describe_cluster_versions(_request: Request) -> ActionResult:
    listed = [
        {"clusterVersion": version, "defaultVersion": version == VERSIONS[-1], "status": "STANDARD_SUPPORT"}
        for version in VERSIONS
    ]
    return ActionResult({"clusterVersions": listed})


def _check_version(version: str | None) -> None:
    if version and version not in VERSIONS:
        raise invalid(f"unsupported Kubernetes version {version}")


def known_subnets(request: Request, identifiers: list[str]) -> list[Any]:
    """moto's subnets by their ids; AWS looks them up, moto's EKS does not."""
    backend = ec2_backends[request.current_account][request.region]
    subnets = {subnet.id: subnet for zone in backend.subnets.values() for subnet in zone.values()}
    if gone := [identifier for identifier in identifiers if identifier not in subnets]:
        raise invalid(f"The subnet ID '{gone[0]}' does not exist")
    return [subnets[identifier] for identifier in identifiers]


# --- tags, which moto has for clusters alone ---


def tag_resource(request: Request) -> ActionResult:
    tags = _tags_of(request)
    if tags is None:
        return _moto_tags["tag_resource"](request)
    tags.update(param(request, "tags"))
    return ActionResult({})


def untag_resource(request: Request) -> ActionResult:
    tags = _tags_of(request)
    if tags is None:
        return _moto_tags["untag_resource"](request)
    for key in param(request, "tagKeys"):
        tags.pop(key, None)
    return ActionResult({})


def _tags_of(request: Request) -> dict[str, str] | None:
    """The tags of what a cluster has; None where the ARN is none of those."""
    wanted = request._extract_arn_from_path()
    for cluster in request.eks_backend.clusters.values():
        tags = {group.arn: group.tags for group in cluster.nodegroups.values()}
        for kind, field in ARN_FIELDS.items():
            tags |= {thing[field]: thing["tags"] for thing in kept(cluster, kind).values()}
        if wanted in tags:
            found: dict[str, str] = tags[wanted]
            return found
    return None
