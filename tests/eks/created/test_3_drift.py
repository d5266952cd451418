"""What somebody changes in AWS by hand: found by a refresh, and taken back by the next `up`, that and nothing else."""

from tests.eks.deployment import Deployment
from tests.eks.environment import BUCKET, CLUSTER
from tests.eks.region import Region
from tests.eks.steps import of_aws


def test_drift_in_aws_is_found_and_only_that_is_taken_back(deployed: Deployment, region: Region) -> None:
    eks, s3 = region.eks, region.account.client("s3")
    group = {"clusterName": CLUSTER, "nodegroupName": "web"}
    eks.update_nodegroup_config(**group, scalingConfig={"minSize": 1, "maxSize": 4, "desiredSize": 1})
    eks.delete_addon(clusterName=CLUSTER, addonName="metrics-server")
    s3.delete_public_access_block(Bucket=BUCKET)
    deployed.refresh()
    assert sorted(of_aws(deployed.plan())) == [
        ("create", f"{BUCKET}-public-access"),
        ("create", "metrics-server"),
        ("update", "web"),
    ]
    deployed.up()
    assert eks.describe_nodegroup(**group)["nodegroup"]["scalingConfig"]["maxSize"] == 1
    assert s3.get_public_access_block(Bucket=BUCKET)["PublicAccessBlockConfiguration"]["BlockPublicAcls"]


def test_nodes_that_an_autoscaler_adds_are_no_drift(deployed: Deployment, region: Region) -> None:
    group = {"clusterName": CLUSTER, "nodegroupName": "workers"}
    scaled = {"minSize": 2, "maxSize": 3, "desiredSize": 3}
    region.eks.update_nodegroup_config(**group, scalingConfig=scaled)
    assert region.kube.find("nodes", "workers-2")
    deployed.refresh()
    assert deployed.plan() == []
