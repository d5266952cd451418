"""`destroy`, the last of this folder: nothing of ours is left, in AWS or in the cluster."""

from tests.eks.deployment import Deployment
from tests.eks.region import Region


def test_destroy_leaves_nothing(deployed: Deployment, region: Region) -> None:
    deployed.destroy()
    assert region.account.holds() == {}
    assert region.kube.list("nodes") == []
    assert region.kube.list("persistentvolumes") == []
    left = {one["metadata"]["name"] for one in region.kube.list("namespaces")}
    assert left == {"default", "kube-node-lease", "kube-public", "kube-system"}
    assert [resource["type"] for resource in deployed.resources()] == []
