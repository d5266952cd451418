"""Mistakes in the settings of a target on EKS: each with its path and what to do, none of them a look at AWS."""

from typing import Any

import pytest

from components.settings.mistakes import SettingsError
from tests.support.environments import INCIDENT, NULL, changed, parsed
from tests.unit.components import aws

CREATE = aws.MADE_HERE
EXISTING = changed(INCIDENT, ("cluster.target", aws.EXISTING))
ON_CLUSTER = changed(INCIDENT, ("cluster.target", {"kind": "kubeconfig", "path": "k", "context": "c"}))
Change = tuple[str, Any]


def refused(base: dict[str, Any], *changes: Change) -> dict[str, str]:
    """Mistakes by path."""
    with pytest.raises(SettingsError) as caught:
        parsed(changed(base, *changes))
    return {mistake.path: str(mistake) for mistake in caught.value.mistakes}


@pytest.mark.parametrize("base", [CREATE, EXISTING])
def test_the_plain_ones_are_accepted(base: dict[str, Any]) -> None:
    assert parsed(base).cluster.enforces_network_policies
    assert not parsed(
        changed(base, ("cluster.networkPolicies", "notEnforced"))
    ).cluster.enforces_network_policies
    assert not parsed(INCIDENT).cluster.enforces_network_policies


T, C, G = "cluster.target", "cluster.target.create", "cluster.nodeGroups"
WRONG: dict[str, tuple[list[Change], str, str]] = {
    "both": ([(f"{T}.existing", "prod")], T, "says both"),
    "neither": ([(C, None)], T, "says neither"),
    "neither has a value": ([(C, NULL), (f"{T}.existing", NULL)], T, "says neither"),
    "other groups": ([(f"{T}.otherGroups", ["x"])], f"{T}.otherGroups", "exactly those declared"),
    "region": ([(f"{T}.region", "Frankfurt")], f"{T}.region", "is not an AWS region"),
    "account": ([(f"{T}.account", "42")], f"{T}.account", "is not an AWS account"),
    "one subnet": ([(f"{C}.subnets", aws.SUBNETS[:1])], f"{C}.subnets", "is too short"),
    "subnet": ([(f"{C}.subnets", [aws.SUBNETS[0], "net"])], f"{C}.subnets[1]", "is not the id of a subnet"),
    "version": ([(f"{C}.version", "1.35.4")], f"{C}.version", "is not a minor version"),
    "no access": ([(f"{C}.access", [])], f"{C}.access", "is too short"),
    "nobody's principal": (
        [(f"{C}.access", [{"principal": "arn:aws:sts::123456789012:assumed-role/a/b"}])],
        f"{C}.access[0].principal",
        "is not the ARN of an IAM role or user",
    ),
    "a principal twice": (
        [(f"{C}.access", [{"principal": aws.DEPLOYER}, {"principal": aws.DEPLOYER}])],
        f"{C}.access[1].principal",
        "has an entry already",
    ),
    "an admin of a part": (
        [(f"{C}.access", [{"principal": aws.DEPLOYER, "policy": "clusterAdmin", "namespaces": ["a"]}])],
        f"{C}.access[0].policy",
        "for the whole cluster only",
    ),
    "public to all": (
        [(f"{C}.endpoint", {"public": True})],
        f"{C}.endpoint.publicCidrs",
        "the whole internet",
    ),
    "no endpoint": ([(f"{C}.endpoint", {"private": False})], f"{C}.endpoint", "nobody reaches it"),
    "add-on": (
        [(f"{C}.addOnVersions", {"vpc-cni": "1.20"})],
        f"{C}.addOnVersions.vpc-cni",
        "not a version of an EKS",
    ),
    "unknown add-on": ([(f"{C}.addOnVersions", {"cni": "v1.0.0-eksbuild.1"})], f"{C}.addOnVersions.cni", ""),
    "warm": ([(f"{C}.vpcCni", {"minimumIpTarget": 4})], f"{C}.vpcCni.minimumIpTarget", "needs warmIpTarget"),
    "key": ([(f"{C}.secretsKey", "alias/mine")], f"{C}.secretsKey", "is not the ARN of a KMS key"),
    "maxPods": ([(f"{G}.web.maxPods", 110)], f"{G}.web.maxPods", "cannot be chosen"),
    "custom networking": ([(f"{G}.web.customNetworking", True)], f"{G}.web.customNetworking", "ENIConfigs"),
    "no types": (
        [(f"{G}.web", {"nodes": 1, "maxPods": 30})],
        f"{G}.web.instanceTypes",
        "EKS has to know what to start",
    ),
    "two architectures": (
        [(f"{G}.web.instanceTypes", ["m5.large", "m7g.large"])],
        f"{G}.web.instanceTypes",
        "mix arm64 and x86_64",
    ),
    "ami of another architecture": (
        [(f"{G}.web.eks", {"amiType": "AL2023_ARM_64_STANDARD"})],
        f"{G}.web.eks.amiType",
        "is for arm64",
    ),
    "windows": (
        [(f"{G}.web.eks", {"amiType": "WINDOWS_CORE_2022_x86_64"})],
        f"{G}.web.eks.amiType",
        "for Linux",
    ),
    "EKS's own label": (
        [(f"{G}.web.selector", {"key": "eks.amazonaws.com/x", "values": ["a"]})],
        f"{G}.web.selector",
        "one label that EKS can put",
    ),
    "Auto Mode": ([(f"{G}.web.kind", "autoMode")], f"{G}.web.kind", "do not have Auto Mode"),
    "nothing for CoreDNS": (
        [(f"{G}.web.nodes", {"min": 0, "max": 5}), (f"{G}.workers.nodes", {"min": 0, "max": 9})],
        G,
        "CoreDNS would run nowhere",
    ),
    "more than all at a time": (
        [(f"{G}.batch.nodes", {"min": 1, "max": 2}), (f"{G}.batch.eks", {"maxUnavailable": 3})],
        f"{G}.batch.eks.maxUnavailable",
        "more than the 2 nodes",
    ),
    "bucket elsewhere": (
        [("layer.logs", {"store": {**aws.S3, "region": "us-east-1"}})],
        "layer.logs.store.region",
        "would cross regions",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_has_a_path_and_a_reason(name: str) -> None:
    changes, path, reason = WRONG[name]
    assert reason in refused(CREATE, *changes)[path]


def test_all_mistakes_are_told_at_once() -> None:
    changes = [
        change for name in ("region", "maxPods", "public to all", "no access") for change in WRONG[name][0]
    ]
    assert set(refused(CREATE, *changes)) == {
        f"{T}.region",
        f"{G}.web.maxPods",
        f"{C}.endpoint.publicCidrs",
        f"{C}.access",
    }


@pytest.mark.parametrize("base", [EXISTING, ON_CLUSTER])
def test_how_nodes_are_made_is_refused_where_none_are(base: dict[str, Any]) -> None:
    assert "has no effect" in refused(base, (f"{G}.web.eks", {"diskGib": 80}))[f"{G}.web.eks"]


def test_a_render_takes_the_settings_of_an_environment_that_makes_its_nodes() -> None:
    assert INCIDENT["cluster"]["target"]["kind"] == "render"
    settings = parsed(changed(INCIDENT, (f"{G}.web.eks", {"diskGib": 80})))
    assert settings.cluster.target.kind == "render"
