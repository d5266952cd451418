"""What the stand-in for the AWS provider refuses, asked as the engine asks it."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2 as proto
from pulumi.runtime.proto import provider_pb2_grpc

from tests.support.aws.account import Account, refuse_what_is_not_loopback
from tests.support.aws.wire import Args, RefusedError, struct

TRUST = '{"Version": "2012-10-17", "Statement": []}'
ARN = "arn:aws:iam::123456789012:role/nodes"
GROUP: Args = {
    "clusterName": "dev",
    "nodeGroupName": "web",
    "nodeRoleArn": ARN,
    "subnetIds": ["subnet-1"],
    "scalingConfig": {"desiredSize": 1, "maxSize": 1, "minSize": 1},
}


@pytest.fixture(scope="module")
def stub(aws: Account, attach: dict[str, str]) -> Iterator[provider_pb2_grpc.ResourceProviderStub]:
    """The provider's protocol."""
    port = attach["PULUMI_DEBUG_PROVIDERS"].removeprefix("aws:")
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = provider_pb2_grpc.ResourceProviderStub(channel)
        stub.Configure(proto.ConfigureRequest(args=struct({"region": "eu-central-1"})))
        yield stub


def failures(stub: Any, token: str, inputs: Args) -> list[tuple[str, str]]:
    """What Check says of inputs."""
    answer = stub.Check(proto.CheckRequest(type=token, name="it", news=struct(inputs), randomSeed=b"seed"))
    return [(failure.property, failure.reason) for failure in answer.failures]


def test_good_inputs_pass(stub: Any) -> None:
    assert failures(stub, "aws:eks/nodeGroup:NodeGroup", GROUP) == []


@pytest.mark.parametrize(
    ("change", "where", "reason"),
    [
        ({"amiType": "AMIX"}, "amiType", "'AMIX' is not one of AL2_x86_64"),
        (
            {"taints": [{"key": "a", "effect": "NoSchedule"}]},
            "taints[0].effect",
            "'NoSchedule' is not one of",
        ),
        ({"taints": [{"key": "a", "efect": "x"}]}, "taints[0].efect", "AWS has no such argument here"),
        ({"scalingConfig": {"desiredSize": "1"}}, "scalingConfig.desiredSize", "expected a number, got '1'"),
        ({"maxPods": 110}, "maxPods", "create_nodegroup has no such argument; it has amiType"),
        ({"launchTemplate": {"version": 1}}, "launchTemplate.version", "expected a text, got 1"),
        ({"nodeRoleArn": None}, "create_nodegroup", "AWS requires nodeRole"),
        ({"labels": ["a"]}, "labels", "expected a mapping"),
        ({"updateConfig": "all"}, "updateConfig", "expected an object"),
    ],
)
def test_a_wrong_argument_of_a_node_group_is_refused_with_its_path(
    stub: Any, change: Args, where: str, reason: str
) -> None:
    found = failures(stub, "aws:eks/nodeGroup:NodeGroup", {**GROUP, **change})
    assert [property_ for property_, _ in found] == [where]
    assert found[0][1].startswith(reason)


def test_a_name_that_aws_would_not_take_is_refused(stub: Any) -> None:
    network = {"subnetIds": ["subnet-1", "subnet-2"]}
    cluster = {
        "name": "a b!",
        "roleArn": ARN,
        "vpcConfig": network,
        "accessConfig": {"authenticationMode": "API"},
    }
    assert failures(stub, "aws:eks/cluster:Cluster", cluster)[0][0] == "name"


def test_an_inline_policy_which_the_sdk_still_has_is_refused(stub: Any) -> None:
    role = {"assumeRolePolicy": TRUST, "inlinePolicies": [{"name": "a", "policy": TRUST}]}
    assert failures(stub, "aws:iam/role:Role", role)[0][0] == "inlinePolicies"


def refusal(call: Any, request: Any) -> str:
    """The text of a call's error."""
    with pytest.raises(grpc.RpcError) as caught:
        call(request)
    return str(caught.value.details())


def test_types_and_functions_that_it_does_not_know_are_refused_by_name(stub: Any) -> None:
    queue = proto.CheckRequest(type="aws:sqs/queue:Queue", name="it")
    assert refusal(stub.Check, queue).startswith("aws:sqs/queue:Queue is not known")
    zones = "aws:index/getAvailabilityZones:getAvailabilityZones"
    assert refusal(stub.Invoke, proto.InvokeRequest(tok=zones)).startswith(f"{zones} is not known")
    subnet = proto.InvokeRequest(tok="aws:ec2/getSubnet:getSubnet", args=struct({"id": "a", "vpcId": "b"}))
    assert refusal(stub.Invoke, subnet).endswith("not known to the stand-in for AWS: vpcId")


def test_provider_settings_that_it_does_not_know_are_refused(stub: Any) -> None:
    settings = proto.CheckRequest(news=struct({"region": "eu-central-1", "assumeRoles": "[]"}))
    assert refusal(stub.CheckConfig, settings).endswith("not known to the stand-in for AWS: assumeRoles")
    assert refusal(stub.Configure, proto.ConfigureRequest(args=struct({}))).startswith("no region")


def test_another_account_is_refused(stub: Any, aws: Account) -> None:
    args = struct({"region": "eu-central-1", "allowedAccountIds": '["999999999999"]'})
    assert refusal(stub.Configure, proto.ConfigureRequest(args=args)).startswith("AWS account ID not allowed")
    aws.credentials_work = False
    try:
        asked = proto.ConfigureRequest(args=struct({"region": "eu-central-1"}))
        assert "security token" in refusal(stub.Configure, asked)
    finally:
        aws.credentials_work = True


def test_what_the_stack_did_not_make_cannot_be_read(stub: Any) -> None:
    asked = proto.ReadRequest(type="aws:eks/cluster:Cluster", id="dev")
    assert "reads only what the stack has made" in refusal(stub.Read, asked)


@pytest.mark.parametrize(
    "endpoint", ["https://eks.eu-central-1.amazonaws.com", "http://10.0.0.1:80", "nowhere"]
)
def test_an_endpoint_that_is_not_on_loopback_is_refused(endpoint: str) -> None:
    with pytest.raises(RefusedError, match="is not on loopback"):
        refuse_what_is_not_loopback(endpoint)
