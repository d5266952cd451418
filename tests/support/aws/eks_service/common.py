"""What all of the EKS service's functions use: moto's request, its errors, and where data is kept."""

import datetime
import os
import uuid
from typing import Any

os.environ.setdefault("MOTO_IAM_LOAD_MANAGED_POLICIES", "true")  # read when moto is imported

from moto.core.responses import ActionResult
from moto.eks.exceptions import (
    InvalidParameterException,
    InvalidRequestException,
    ResourceInUseException,
    ResourceNotFoundException,
)

__all__ = ["ActionResult"]
Request = Any  # moto's EKSResponse: one request, with its parameters, account and region
Object = dict[str, Any]
VERSIONS = ("1.33", "1.34", "1.35", "1.36")


def now() -> datetime.datetime:
    """When something is made or changed."""
    return datetime.datetime.now(datetime.UTC)


def not_found(message: str) -> Exception:
    """AWS's error for what is not there."""
    return _error(ResourceNotFoundException, message, "nodegroupName", "fargateProfileName", "addonName")


def in_use(message: str) -> Exception:
    """AWS's error for a name that is taken, and for what others still need."""
    return _error(ResourceInUseException, message, "nodegroupName", "addonName")


def invalid(message: str) -> Exception:
    """AWS's error for a wrong parameter."""
    return _error(InvalidParameterException, message, "nodegroupName", "fargateProfileName", "addonName")


def refused(message: str) -> Exception:
    """AWS's error for what the cluster's state does not allow."""
    return _error(InvalidRequestException, message, "nodegroupName", "addonName")


def _error(kind: Any, message: str, *fields: str) -> Exception:
    error: Exception = kind(clusterName=None, **dict.fromkeys(fields), message=message)
    return error


def param(request: Request, name: str) -> Any:
    """A parameter of the request; None where it is not given."""
    return request._get_param(name)


def cluster_name(request: Request) -> str:
    """The cluster in the request's path, which each operation calls as it likes."""
    return str(param(request, "name") or param(request, "clusterName"))


def cluster_of(request: Request) -> Any:
    """moto's cluster."""
    return request.eks_backend.describe_cluster(cluster_name(request))


def kept(cluster: Any, kind: str) -> dict[str, Object]:
    """A cluster's things of one kind, kept on moto's own cluster object, so that they go when it goes."""
    things: dict[str, Object] = cluster.__dict__.setdefault(f"_stand_in_{kind}", {})
    return things


def children(request: Request, kind: str) -> dict[str, Object]:
    """The same for the request's cluster."""
    return kept(cluster_of(request), kind)


def one(things: dict[str, Object], key: str) -> Object:
    """A thing by its name."""
    if key not in things:
        raise not_found(f"No such object: {key}")
    return things[key]


def arn(request: Request, kind: str, *parts: str) -> str:
    """A new thing's ARN."""
    path = "/".join((kind, cluster_name(request), *parts, str(uuid.uuid4())))
    return f"arn:aws:eks:{request.region}:{request.current_account}:{path}"


def update(kind: str) -> ActionResult:
    """The answer to an update: it has succeeded."""
    return ActionResult({"update": {"id": str(uuid.uuid4()), "status": "Successful", "type": kind}})
