"""The example that is shipped: it is accepted, its pods fit, and a first preview of it needs no credentials."""

from typing import Any

import yaml

from components.cluster.eks.cli import CliError
from components.cluster.eks.facts import Caller
from tests.support.environments import KEY
from tests.unit.components import aws
from tests.unit.components.environments import ROOT, Environment, environment

ACCOUNT = "111122223333"
CALLER = Caller(ACCOUNT, f"arn:aws:sts::{ACCOUNT}:assumed-role/platform-deployer/a-session")


def example() -> dict[str, Any]:
    """Its settings, with a key of the tests'."""
    written = yaml.safe_load((ROOT / "Pulumi.eks.yaml").read_text(encoding="utf-8"))["config"]
    return {**{key.partition(":")[2]: value for key, value in written.items()}, "gatewayKey": KEY}


def groups(recorded: Environment) -> dict[str, Any]:
    """Inputs of the node groups by name."""
    found = (
        r.inputs for r in recorded.recorder.registered.values() if r.type.startswith("aws:eks/nodeGroup:")
    )
    return {inputs["nodeGroupName"]: inputs for inputs in found}


def test_it_makes_what_its_comments_say() -> None:
    subnets = example()["cluster"]["target"]["create"]["subnets"]
    zones = dict(zip(subnets, aws.ZONES.values(), strict=True))
    answers = aws.answers(
        getSubnet=lambda asked: {
            **asked,
            "availabilityZone": zones[asked["id"]],
            "vpcId": "vpc-0cccccccccccccccc",
            "availableIpAddressCount": 4000,
        }
    )
    recorded = environment(example(), answers=answers, caller=CALLER)
    made = groups(recorded)
    assert made["web"]["scalingConfig"] == {"minSize": 3, "maxSize": 6, "desiredSize": 3}
    assert made["batch"]["capacityType"] == "SPOT"
    assert recorded.outputs["podBudget"]["fits"]
    assert {g["perNode"]["maxPods"] for g in recorded.outputs["podBudget"]["groups"]} == {110}


def test_its_first_preview_needs_no_credentials() -> None:
    recorded = environment(example(), answers={}, caller=CliError("no credentials"), preview=True)
    assert set(groups(recorded)) == {"web", "workers", "batch"}
