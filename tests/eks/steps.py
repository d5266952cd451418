"""What the engine plans, as `pulumi preview --json` says it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

SAME = "same"


@dataclass(frozen=True)
class Step:
    """One step of a plan.

    Attributes:
        op: `create`, `update`, `replace`, `delete`, ... as the engine calls it.
        type: the resource's type, as `aws:eks/addon:Addon`.
        name: its logical name.
        properties: the paths that differ.
        replaces: those of them that make a new resource.
    """

    op: str
    type: str
    name: str
    properties: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()


def planned(output: str) -> list[Step]:
    """The steps in a preview's output, less those that change nothing."""
    start = output.index("{\n")
    found = json.JSONDecoder().raw_decode(output[start:])[0]["steps"]
    return [
        Step(
            step["op"],
            step["urn"].split("::")[2].rsplit("$", maxsplit=1)[-1],
            step["urn"].split("::")[3],
            tuple(sorted(step.get("detailedDiff") or {})),
            tuple(sorted(step.get("replaceReasons") or [])),
        )
        for step in found
        if step["op"] != SAME
    ]


def of_aws(steps: Sequence[Step]) -> list[tuple[str, str]]:
    """Operation and logical name of the steps that AWS is asked for."""
    return [(step.op, step.name) for step in steps if step.type.startswith("aws:")]
