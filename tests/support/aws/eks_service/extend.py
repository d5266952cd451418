"""Puts these functions into moto.

moto finds the method for a request in botocore's model, so a method with the operation's name and a route that lets the
request through are enough; botocore's output shape makes the answer.
"""

from collections.abc import Callable

from moto.eks import urls
from moto.eks.responses import EKSResponse

from tests.support.aws.eks_service import access, addons, clusters, node_groups

LACKING: tuple[Callable[..., object], ...] = (
    addons.create_addon,
    addons.describe_addon,
    addons.list_addons,
    addons.update_addon,
    addons.delete_addon,
    addons.describe_addon_versions,
    access.create_access_entry,
    access.describe_access_entry,
    access.list_access_entries,
    access.update_access_entry,
    access.delete_access_entry,
    access.associate_access_policy,
    access.list_associated_access_policies,
    access.disassociate_access_policy,
    access.create_pod_identity_association,
    access.describe_pod_identity_association,
    access.list_pod_identity_associations,
    access.update_pod_identity_association,
    access.delete_pod_identity_association,
    clusters.describe_cluster_versions,
    clusters.update_cluster_version,
    node_groups.update_nodegroup_version,
)
STRICTER: tuple[Callable[..., object], ...] = (
    clusters.create_cluster,
    clusters.update_cluster_config,
    clusters.tag_resource,
    clusters.untag_resource,
    node_groups.create_nodegroup,
    node_groups.update_nodegroup_config,
    node_groups.delete_nodegroup,
    node_groups.delete_cluster,
)
# Broad ones: moto turns them into Flask's by a substitution that a nested group breaks, for every call of the service,
# and ARNs in paths hold slashes.
ROUTES = ("/addons/supported-versions$", "/cluster-versions$", "/clusters/(?P<name>[^/]+)/(?P<rest>.+)$")
_done: list[bool] = []


def extend() -> None:
    """Once in a process; what moto has learnt since is an error, as ours would hide it."""
    if _done:
        return
    for function in LACKING:
        if hasattr(EKSResponse, function.__name__):
            raise RuntimeError(f"moto has {function.__name__} now: remove it from {__name__}")
    for function in (*LACKING, *STRICTER):
        setattr(EKSResponse, function.__name__, function)
    for route in ROUTES:
        urls.url_paths["{0}" + route] = EKSResponse.dispatch
    _done.append(True)
