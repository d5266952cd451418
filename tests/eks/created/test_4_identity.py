"""Whether the cluster is the one that was deployed to: another one is refused, and nothing is deleted."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from moto.eks.models import eks_backends

from tests.eks.aws_cli import ACCOUNT
from tests.eks.deployment import Deployment
from tests.eks.environment import CLUSTER
from tests.eks.region import Region
from tests.support.aws.account import REGION


def clusters() -> dict[str, Any]:
    """moto's clusters: what AWS would never let anybody change can be changed here."""
    found: dict[str, Any] = eks_backends[ACCOUNT][REGION].clusters
    return found


def objects(region: Region) -> dict[str, str]:
    """Namespaces and DaemonSets by their UIDs: a made-again one has another."""
    listed = [*region.kube.list("namespaces"), *region.kube.list("daemonsets.apps")]
    return {one["metadata"]["uid"]: one["metadata"]["name"] for one in listed}


@contextmanager
def made_again_elsewhere() -> Iterator[None]:
    """A cluster of the same name, and so of the same ARN, that was made an hour later."""
    cluster = clusters()[CLUSTER]
    before = cluster.created_at
    cluster.created_at = before + timedelta(hours=1)
    try:
        yield
    finally:
        cluster.created_at = before


@contextmanager
def gone() -> Iterator[None]:
    """No cluster."""
    cluster = clusters().pop(CLUSTER)
    try:
        yield
    finally:
        clusters()[CLUSTER] = cluster


def test_a_cluster_made_again_under_the_same_name_is_refused_and_nothing_is_deleted(
    deployed: Deployment, region: Region
) -> None:
    before = objects(region)
    with made_again_elsewhere():
        assert "is another one than this stack made" in deployed.refused(command="up")
    assert objects(region) == before


def test_a_cluster_that_is_gone_is_not_made_again_by_itself(deployed: Deployment, region: Region) -> None:
    with gone():
        assert f"cluster '{CLUSTER}' is gone, though this stack made it" in deployed.refused(command="up")
    assert region.eks.list_clusters()["clusters"] == [CLUSTER]


def test_another_address_of_the_same_cluster_replaces_no_object(deployed: Deployment, region: Region) -> None:
    before, cluster = objects(region), clusters()[CLUSTER]
    cluster.endpoint = cluster.endpoint.replace("127.0.0.1", "localhost")
    deployed.refresh()
    plan = deployed.plan()
    assert {(step.op, step.type) for step in plan} == {("update", "pulumi:providers:kubernetes")}
    deployed.up()
    assert objects(region) == before
