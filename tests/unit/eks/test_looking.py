"""What is asked of AWS, and what happens where it does not answer."""

from dataclasses import replace
from typing import Any
from unittest import mock

import pulumi
import pytest

from components.cluster.eks.cli import CliError
from components.cluster.live_nodes import NodeFacts
from tests.support.environments import INCIDENT, changed
from tests.support.mocks import Inputs, RefusedCall
from tests.unit.components import aws
from tests.unit.components.environments import Environment, empty_cluster, environment

BASE = aws.MADE_HERE
EXISTING = changed(INCIDENT, ("cluster.target", aws.EXISTING))
BLIND = CliError("Unable to locate credentials")
GROUPS: dict[str, Inputs] = {
    name: {
        "instanceTypes": [instance_type],
        "scalingConfigs": [{"minSize": nodes, "maxSize": nodes, "desiredSize": nodes}],
        "labels": {},
        "taints": [{"key": "dedicated", "value": "batch", "effect": "NO_SCHEDULE"}]
        if name == "batch"
        else [],
    }
    for name, instance_type, nodes in (
        ("web", "t3.large", 5),
        ("workers", "r5a.xlarge", 9),
        ("batch", "r5a.xlarge", 1),
    )
}
THERE = aws.answers(
    getClusters=lambda _: {"names": ["prod"]},
    getNodeGroups=lambda asked: {**asked, "names": list(GROUPS)},
    getNodeGroup=lambda asked: {**asked, **GROUPS[asked["nodeGroupName"]]},
)


def refusal(raw: dict[str, Any], **options: Any) -> str:
    """What a refused program says."""
    with mock.patch.object(pulumi.log, "error") as said, pytest.raises(SystemExit) as ended:
        environment(raw, **options)
    assert ended.value.code == 32
    return "\n".join(str(call.args[0]) for call in said.call_args_list)


def aws_provider(recorded: Environment) -> Inputs:
    """What the provider is told."""
    (found,) = (r for r in recorded.recorder.registered.values() if r.type == "pulumi:providers:aws")
    return found.inputs


def test_a_first_preview_needs_no_credentials_and_says_what_it_cannot_check() -> None:
    recorded = environment(BASE, answers={}, caller=BLIND, preview=True)
    (told,) = (text for text in recorded.recorder.warnings if "Not checked" in text)
    assert "Unable to locate credentials" in told
    assert aws_provider(recorded)["skipCredentialsValidation"] == "true"
    add_ons = [r for r in recorded.recorder.registered.values() if r.type.startswith("aws:eks/addon:")]
    assert add_ons
    assert not any("addonVersion" in add_on.inputs for add_on in add_ons)


OWN = {"arn": aws.ARN, "createdAt": aws.CREATED_AT, "name": aws.NAME, "version": "1.35"}
MADE: dict[str, Any] = {"urn": {"type": "aws:eks/cluster:Cluster", "outputs": OWN}}


@pytest.mark.parametrize(
    ("raw", "preview", "state"),
    [(BASE, False, {}), (BASE, True, MADE), (EXISTING, True, {})],
    ids=["up", "a cluster that is there", "an existing one"],
)
def test_nothing_else_goes_on_without_credentials(raw: Any, preview: bool, state: Any) -> None:
    told = refusal(raw, answers={}, caller=BLIND, preview=preview, state=state)
    assert "there are no AWS credentials (Unable to locate credentials)" in told
    assert "aws sts get-caller-identity" in told


def test_an_existing_cluster_is_used_as_it_is() -> None:
    recorded = environment(EXISTING, answers=THERE)
    assert [r.type for r in recorded.recorder.registered.values() if r.type.startswith("aws:")] == []
    (provider,) = (
        r for r in recorded.recorder.registered.values() if r.type == "pulumi:providers:kubernetes"
    )
    assert provider.inputs["clusterIdentifier"] == aws.IDENTITY
    assert recorded.outputs["target"] == {"kind": "eks", "identity": aws.IDENTITY}


def test_another_cluster_than_at_the_last_deployment_is_refused() -> None:
    outputs = {"target": {"kind": "eks", "identity": f"{aws.ARN}/2026-01-01T00:00:00Z"}}
    told = refusal(EXISTING, answers=THERE, outputs=outputs)
    assert (
        "leads to another cluster than at the last deployment (its ARN with the time when it was made" in told
    )


def test_the_kind_of_target_cannot_change_under_a_stack() -> None:
    told = refusal(EXISTING, answers=THERE, outputs={"target": {"kind": "kubeconfig", "identity": "uid"}})
    assert "was kubeconfig at the last deployment and is eks now" in told


def test_a_state_that_knows_the_cluster_by_another_identity_is_refused() -> None:
    provider = {"type": "pulumi:providers:kubernetes", "outputs": {"clusterIdentifier": "uid-of-kube-system"}}
    assert "then delete the originals" in refusal(EXISTING, answers=THERE, state={"urn": provider})


def test_what_aws_does_not_tell_is_told_with_everything_else() -> None:
    def refuse(_: Inputs) -> Inputs:
        raise RefusedCall("reading EC2 Subnet:\n\n* InvalidSubnetID.NotFound: no such subnet")

    told = refusal(BASE, answers=aws.answers(getSubnet=refuse, getClusters=lambda _: {"names": ["prod"]}))
    assert "cluster.target.create.subnets[0]: AWS does not tell subnet 'subnet-0aaaaaaaaaaaaaaaa'" in told
    assert "InvalidSubnetID.NotFound: no such subnet" in told
    assert "cluster.target.create.name: a cluster 'prod' exists" in told


def test_what_only_the_cluster_knows_is_refused_where_others_made_it_and_told_where_we_did() -> None:
    found = replace(aws.IN_CLUSTER, enforces=False)
    there, made = (empty_cluster(raw) for raw in (EXISTING, BASE))
    small = NodeFacts("web-0", there.nodes[0].labels, 29)
    told = refusal(
        EXISTING, answers=THERE, in_cluster=found, live=replace(there, nodes=(small, *there.nodes[1:]))
    )
    assert "node web-0 takes 29" in told
    assert "cluster.networkPolicies" in told
    cluster = {"type": "aws:eks/cluster:Cluster", "outputs": OWN}
    nodes = (small, *made.nodes[1:])
    recorded = environment(
        BASE, answers=THERE, in_cluster=found, state={"urn": cluster}, live=replace(made, nodes=nodes)
    )
    assert any("node web-0 takes 29" in text for text in recorded.recorder.warnings)


def test_versions_and_addresses_are_shown() -> None:
    with mock.patch.object(pulumi.log, "info") as said:
        environment(BASE, answers=aws.answers())
    told = [str(call.args[0]) for call in said.call_args_list]
    assert any("EKS add-ons: eks-pod-identity-agent v1.19.0-eksbuild.1, vpc-cni" in text for text in told)
    assert any(text.startswith("Addresses of subnets, for 15 nodes at their most") for text in told)


@pytest.mark.parametrize(
    ("words", "reason"),
    [("StatusCode: 403", "belongs to somebody else"), ("couldn't find resource", "")],
)
def test_a_bucket_that_may_not_be_read_is_somebody_elses(words: str, reason: str) -> None:
    def refuse(_: Inputs) -> Inputs:
        raise RefusedCall(f"operation error S3: HeadBucket, {words}")

    raw = changed(BASE, ("layer.logs", {"store": aws.S3}))
    if reason:
        assert reason in refusal(raw, answers=aws.answers(getBucket=refuse))
    else:
        assert environment(raw, answers=aws.answers(getBucket=refuse)).objects
