"""What AWS shows to be wrong before anything is made: decided from facts, each mistake with its path and remedy."""

from dataclasses import replace
from typing import Any

import pytest

from components.cluster.eks import checks
from components.cluster.eks.facts import (
    Caller,
    ClusterFacts,
    Deployed,
    Facts,
    Failure,
    SubnetFacts,
    TypeFacts,
)
from components.cluster.eks.kubeconfig import identity
from components.cluster.eks.versions import chosen_versions
from components.cluster.instance_types import lookup
from components.settings.eks import EksTarget
from tests.support.environments import changed, parsed
from tests.unit.components import aws

BASE = changed(aws.MADE_HERE, ("layer.logs", {"store": aws.S3}))
TYPES = ("t3.large", "r5a.xlarge")
Change = tuple[str, Any]


def described(name: str) -> TypeFacts:
    """A type as the table has it."""
    row = lookup(name)
    assert row
    return TypeFacts(
        row.enis,
        row.ipv4_per_eni,
        row.vcpus,
        row.memory_mib,
        row.hypervisor,
        row.bare_metal,
        (row.architecture,),
    )


CLUSTER = ClusterFacts(
    aws.NAME, aws.ARN, aws.CREATED_AT, aws.ENDPOINT, aws.AUTHORITY, "1.35", "ACTIVE", aws.ISSUER
)
EMPTY = Facts(
    caller=aws.CALLER,
    zones=dict.fromkeys(TYPES, frozenset(aws.ZONES.values())),
    types={name: described(name) for name in TYPES},
    subnets={subnet: SubnetFacts(zone, "vpc-1", 4000) for subnet, zone in aws.ZONES.items()},
    versions=("1.34", "1.35", "1.36", "1.37"),
    add_ons={"vpc-cni": ("v1.19.0-eksbuild.1", "v1.20.2-eksbuild.1")},
)
GROUPS = {
    name: {
        "instanceTypes": types,
        "amiType": "AL2023_x86_64_STANDARD",
        "capacity": "ON_DEMAND",
        "subnets": aws.SUBNETS,
        "podAddresses": "secondary",
        "maximum": maximum,
    }
    for name, types, maximum in (
        ("web", ["t3.large"], 5),
        ("workers", ["r5a.xlarge"], 9),
        ("batch", ["r5a.xlarge"], 1),
    )
}
OURS = Deployed(
    cluster=aws.IDENTITY,
    name=aws.NAME,
    version="1.35",
    identifier=aws.IDENTITY,
    add_ons={"vpc-cni": ("v1.18.0-eksbuild.1", "1.35")},
    groups=GROUPS,
    buckets=("lines-of-prod",),
)
LIVING = replace(EMPTY, clusters=(aws.NAME,), cluster=CLUSTER, deployed=OURS)


def found(facts: Facts, *changes: Change) -> dict[str, str]:
    """Mistakes by path."""
    settings = parsed(changed(BASE, *changes))
    assert isinstance(settings.cluster.target, EksTarget)
    mistakes = checks.mistakes(settings, settings.cluster.target, facts, "prod")
    assert len({mistake.path for mistake in mistakes}) == len(mistakes)
    return {mistake.path: str(mistake) for mistake in mistakes}


def test_nothing_is_wrong_with_an_empty_account_nor_with_our_own_cluster() -> None:
    assert found(EMPTY) == {}
    assert found(LIVING) == {}


def test_without_credentials_nothing_is_judged() -> None:
    assert found(Facts(why_not="no credentials")) == {}


ADOPTS = [("tenants.mail.namespace", "adopt"), ("tenants.wiki.namespace", None)]


@pytest.mark.parametrize("facts", [EMPTY, Facts(why_not="no credentials")], ids=["seen", "unseen"])
def test_a_cluster_that_is_yet_to_be_made_has_no_namespace_to_adopt(facts: Facts) -> None:
    refused = found(facts, *ADOPTS)
    assert list(refused) == ["tenants.mail", "tenants.wiki"]
    assert "namespaces 'mail-in', 'mail-out' cannot be adopted" in refused["tenants.mail"]
    assert "`namespace: create`" in refused["tenants.wiki"]


UNSEEN = Facts(why_not="no credentials", deployed=OURS)


@pytest.mark.parametrize("facts", [LIVING, UNSEEN], ids=["seen", "unseen"])
def test_on_a_cluster_that_was_made_before_its_namespaces_tell(facts: Facts) -> None:
    assert found(facts, *ADOPTS) == {}


def test_of_a_cluster_that_aws_does_not_tell_of_nothing_is_said_about_namespaces() -> None:
    silent = replace(EMPTY, failures=(Failure("cluster.target", "which clusters there are", "denied"),))
    assert list(found(silent, *ADOPTS)) == ["cluster.target"]


T, C, G = "cluster.target", "cluster.target.create", "cluster.nodeGroups"
SMALL = {subnet: SubnetFacts(zone, "vpc-1", 200) for subnet, zone in aws.ZONES.items()}
WRONG: dict[str, tuple[Facts, list[Change], str, str]] = {
    "account": (
        replace(EMPTY, caller=Caller("210987654321", "arn:aws:sts::210987654321:assumed-role/deployer/x")),
        [
            (
                f"{C}.access",
                [{"principal": "arn:aws:iam::210987654321:role/deployer", "policy": "clusterAdmin"}],
            )
        ],
        f"{T}.account",
        "credentials are of account 210987654321",
    ),
    "deployer": (
        replace(EMPTY, caller=Caller(aws.ACCOUNT, f"arn:aws:sts::{aws.ACCOUNT}:assumed-role/other/x")),
        [],
        f"{C}.access",
        "role/other, policy: clusterAdmin",
    ),
    "exists": (replace(EMPTY, clusters=(aws.NAME,), cluster=CLUSTER), [], f"{C}.name", "did not make it"),
    "gone": (replace(EMPTY, deployed=OURS), [], C, "is gone, though this stack made it"),
    "renamed": (LIVING, [(f"{C}.name", "other")], f"{C}.name", "it is another cluster"),
    "made again": (
        replace(LIVING, cluster=replace(CLUSTER, created_at="2026-12-01T00:00:00Z")),
        [],
        T,
        "is another one than this stack made",
    ),
    "another identity": (
        replace(LIVING, deployed=replace(OURS, identifier=aws.ARN)),
        [],
        T,
        "then delete the originals",
    ),
    "deleting": (replace(LIVING, cluster=replace(CLUSTER, status="DELETING")), [], T, "is DELETING"),
    "version": (EMPTY, [(f"{C}.version", "1.99")], f"{C}.version", "Offered: 1.34, 1.35, 1.36, 1.37"),
    "two steps": (LIVING, [(f"{C}.version", "1.37")], f"{C}.version", "Write '1.36' first"),
    "back": (LIVING, [(f"{C}.version", "1.34")], f"{C}.version", "never goes back"),
    "add-on": (
        EMPTY,
        [(f"{C}.addOnVersions", {"vpc-cni": "v1.21.0-eksbuild.1"})],
        f"{C}.addOnVersions.vpc-cni",
        "the newest for Kubernetes 1.35 is v1.20.2-eksbuild.1",
    ),
    "one zone": (
        replace(EMPTY, subnets=dict.fromkeys(aws.SUBNETS, SubnetFacts("eu-central-1a", "vpc-1", 4000))),
        [],
        f"{C}.subnets",
        "are all in zone eu-central-1a",
    ),
    "two VPCs": (
        replace(EMPTY, subnets={s: SubnetFacts(z, f"vpc-{z}", 4000) for s, z in aws.ZONES.items()}),
        [],
        f"{C}.subnets",
        "are of several VPCs",
    ),
    "addresses": (replace(EMPTY, subnets=SMALL), [], f"{C}.subnets", "have 400 free addresses"),
    "no such type": (
        replace(EMPTY, zones={**EMPTY.zones, "t3.large": frozenset()}),
        [],
        f"{G}.web.instanceTypes[0]",
        "eu-central-1 has no instance type 't3.large'",
    ),
    "not in these zones": (
        replace(EMPTY, zones={**EMPTY.zones, "t3.large": frozenset({"eu-central-1c"})}),
        [],
        f"{G}.web.instanceTypes[0]",
        "it is offered in eu-central-1c",
    ),
    "another type": (
        replace(EMPTY, types={**EMPTY.types, "t3.large": replace(described("t3.large"), enis=4)}),
        [],
        f"{G}.web.instanceTypes[0]",
        "network interfaces 4, in the table 3",
    ),
    "architecture": (
        replace(
            EMPTY, types={**EMPTY.types, "t3.large": replace(described("t3.large"), architectures=("arm64",))}
        ),
        [],
        f"{G}.web.instanceTypes[0]",
        "AL2023_x86_64_STANDARD is x86_64",
    ),
    "types of a living group": (
        LIVING,
        [(f"{G}.web.instanceTypes", ["m5.large"])],
        f"{G}.web.instanceTypes",
        "all nodes of the group would go at once",
    ),
    "capacity of a living group": (
        LIVING,
        [(f"{G}.web.eks", {"capacity": "spot"})],
        f"{G}.web.eks.capacity",
        "was ON_DEMAND and is SPOT",
    ),
    "prefixes for a living group": (
        LIVING,
        [(f"{G}.web.podAddresses", "prefix")],
        f"{G}.web.podAddresses",
        "Leave `podAddresses: secondary` on it, add a group of another name",
    ),
    "two ways from the start": (
        EMPTY,
        [(f"{G}.web.podAddresses", "prefix"), (f"{G}.batch.podAddresses", "prefix")],
        f"{G}.workers.podAddresses",
        "a group that is made now gets prefixes",
    ),
    "a bucket of somebody": (
        replace(EMPTY, bucket="foreign"),
        [],
        "layer.logs.store.bucket",
        "unique in all of AWS",
    ),
    "a bucket of ours": (replace(EMPTY, bucket="there"), [], "layer.logs.store.bucket", "madeBy: others"),
    "no bucket": (
        EMPTY,
        [("layer.logs", {"store": {**aws.S3, "madeBy": "others"}})],
        "layer.logs.store.bucket",
        "does not exist",
    ),
    "not told": (
        replace(EMPTY, failures=(Failure(f"{C}.subnets[0]", "subnet 'subnet-1'", "not found"),)),
        [],
        f"{C}.subnets[0]",
        "docs/eks-deployer-policy.json",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_with_what_to_do(name: str) -> None:
    facts, changes, path, reason = WRONG[name]
    told = found(facts, *changes)
    assert reason in told[path]
    assert set(told) == {path}


def test_all_of_it_is_told_at_once() -> None:
    facts = replace(
        EMPTY,
        subnets=SMALL,
        bucket="foreign",
        zones={**EMPTY.zones, "t3.large": frozenset()},
        clusters=(aws.NAME,),
    )
    assert set(found(facts, (f"{C}.version", "1.99"))) == {
        f"{C}.name",
        f"{C}.subnets",
        f"{C}.version",
        f"{G}.web.instanceTypes[0]",
        "layer.logs.store.bucket",
    }


def test_a_group_that_grows_needs_addresses_for_what_it_grows_by() -> None:
    none = {subnet: SubnetFacts(zone, "vpc-1", 10) for subnet, zone in aws.ZONES.items()}
    assert found(replace(LIVING, subnets=none)) == {}
    assert set(found(replace(LIVING, subnets=none), (f"{G}.web.nodes", 6))) == {f"{C}.subnets"}


def test_a_group_with_prefixes_can_stand_beside_those_that_were_made_without() -> None:
    more = {"instanceTypes": ["t3.large"], "nodes": 1, "podAddresses": "prefix"}
    assert found(LIVING, (f"{G}.web-2", more)) == {}


def test_without_credentials_the_state_is_judged() -> None:
    blind = Facts(why_not="no credentials", deployed=OURS)
    assert set(found(blind, (f"{G}.web.podAddresses", "prefix"))) == {f"{G}.web.podAddresses"}


def test_a_group_of_another_name_is_no_change_of_the_old_one() -> None:
    more = {"instanceTypes": ["m5.large"], "nodes": 1}
    types = {**LIVING.types, "m5.large": described("m5.large")}
    assert found(replace(LIVING, types=types), (f"{G}.web-2", more)) == {}


def versions(facts: Facts, *changes: Change) -> dict[str, str]:
    """The chosen versions."""
    target = parsed(changed(BASE, *changes)).cluster.target
    assert isinstance(target, EksTarget)
    return chosen_versions(target, facts)


def test_an_add_on_keeps_its_version_until_kubernetes_changes_or_one_is_stated() -> None:
    assert versions(EMPTY)["vpc-cni"] == "v1.19.0-eksbuild.1"
    assert versions(LIVING)["vpc-cni"] == "v1.18.0-eksbuild.1"
    assert versions(LIVING, (f"{C}.version", "1.36"))["vpc-cni"] == "v1.19.0-eksbuild.1"
    stated = (f"{C}.addOnVersions", {"vpc-cni": "v1.20.1-eksbuild.1"})
    assert versions(LIVING, stated)["vpc-cni"] == "v1.20.1-eksbuild.1"


def test_the_identity_in_these_tests_is_the_clusters() -> None:
    assert identity(aws.ARN, aws.CREATED_AT) == aws.IDENTITY
