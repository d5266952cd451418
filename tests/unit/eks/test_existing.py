"""A cluster that is there against its declaration."""

from dataclasses import replace
from typing import Any

import pytest

from components.cluster.eks import existing
from components.cluster.eks.facts import Facts, GroupFacts
from components.settings.eks import EksTarget
from tests.support.environments import INCIDENT, changed, parsed
from tests.unit.components import aws
from tests.unit.eks.test_checks import CLUSTER

BASE = changed(INCIDENT, ("cluster.target", aws.EXISTING))
WEB = GroupFacts(("t3.large",), 5, 5, {}, frozenset())
WORKERS = GroupFacts(("r5a.xlarge",), 9, 9, {}, frozenset())
BATCH = GroupFacts(("r5a.xlarge",), 1, 1, {}, frozenset({("dedicated", "batch", "NO_SCHEDULE")}))
GROUPS = {"web": WEB, "workers": WORKERS, "batch": BATCH}
FACTS = Facts(caller=aws.CALLER, clusters=(aws.NAME,), cluster=CLUSTER, groups=GROUPS)
G = "cluster.nodeGroups"


def found(facts: Facts, *changes: tuple[str, Any]) -> dict[str, str]:
    """Mistakes by path."""
    settings = parsed(changed(BASE, *changes))
    assert isinstance(settings.cluster.target, EksTarget)
    return {m.path: str(m) for m in existing.mistakes(settings, settings.cluster.target, facts)}


def with_web(**changes: Any) -> Facts:
    """The cluster with a changed group `web`."""
    return replace(FACTS, groups={**GROUPS, "web": replace(WEB, **changes)})


def test_what_is_as_declared_is_no_mistake() -> None:
    assert found(FACTS) == {}


TAINT = frozenset({("gpu", "", "NO_EXECUTE")})
MORE = replace(FACTS, groups={**GROUPS, "gpu": WEB})
DIFFERENT: dict[str, tuple[Facts, list[tuple[str, Any]], str, str]] = {
    "no cluster": (
        replace(FACTS, clusters=("prod-2",), cluster=None),
        [],
        "cluster.target.existing",
        "There are: prod-2 (closest: prod-2)",
    ),
    "no group": (
        replace(FACTS, groups={"web": WEB, "workers": WORKERS}),
        [],
        f"{G}.batch",
        "has no managed node group 'batch'",
    ),
    "undeclared group": (MORE, [], G, "otherGroups: [gpu]"),
    "types": (
        with_web(instance_types=("m5.large",)),
        [],
        f"{G}.web.instanceTypes",
        "Write instanceTypes: [m5.large]",
    ),
    "bounds": (with_web(minimum=1, maximum=7), [], f"{G}.web.nodes", "Write nodes: {min: 1, max: 7}"),
    "taint that no agent tolerates": (with_web(taints=TAINT), [], f"{G}.web.taints", "no agent tolerates"),
    "taint that is not there": (
        replace(FACTS, groups={**GROUPS, "batch": replace(BATCH, taints=frozenset())}),
        [],
        f"{G}.batch.taints",
        "the group does not have",
    ),
    "label": (
        FACTS,
        [(f"{G}.web.selector", {"key": "example.com/pool", "values": ["web"]})],
        f"{G}.web.selector",
        "the group's nodes have example.com/pool=",
    ),
    "no OIDC provider": (
        FACTS,
        [("cluster.target.identity", "irsa")],
        "cluster.target.identity",
        "eksctl utils associate-iam-oidc-provider",
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_is_told_with_what_to_write(name: str) -> None:
    facts, changes, path, reason = DIFFERENT[name]
    told = found(facts, *changes)
    assert reason in told[path]
    assert set(told) == {path}


def test_a_group_can_be_left_out_and_an_oidc_provider_can_be_there() -> None:
    assert found(MORE, ("cluster.target.otherGroups", ["gpu"])) == {}
    assert found(replace(FACTS, oidc_provider=True), ("cluster.target.identity", "irsa")) == {}


def test_groups_that_eks_does_not_manage_are_not_looked_for() -> None:
    pool = {"kind": "nodePool", "instanceTypes": ["m5.large"], "nodes": {"min": 0, "max": 9}}
    assert found(FACTS, (f"{G}.general", pool)) == {}
