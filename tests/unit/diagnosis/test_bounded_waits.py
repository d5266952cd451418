"""How long a deployment waits for its agents at most."""

import pytest

from components.layer.rollout import agents_seconds, notes, within
from tests.support.environments import INCIDENT, changed, parsed


def seconds(*changes: tuple[str, object]) -> int:
    return agents_seconds(parsed(changed(INCIDENT, *changes)))


def test_fifteen_nodes_have_five_minutes() -> None:
    assert seconds() == 300


@pytest.mark.parametrize(
    ("workers", "unavailable", "expected"),
    [(1, 2, 60 + 30 * 4), (14, 2, 60 + 30 * 10), (94, 2, 60 + 30 * 50), (94, 10, 60 + 30 * 10), (9, 100, 90)],
)
def test_the_bound_grows_with_the_nodes_and_shrinks_with_how_many_roll_at_a_time(
    workers: int, unavailable: int, expected: int
) -> None:
    nodes, at_a_time = "cluster.nodeGroups.workers.nodes", "layer.agents.maxUnavailable"
    assert seconds((nodes, workers), (at_a_time, unavailable)) == expected


def test_of_an_autoscaled_group_the_most_nodes_count() -> None:
    assert seconds(("cluster.nodeGroups.workers.nodes", {"min": 1, "max": 94})) == 60 + 30 * 50


@pytest.mark.parametrize(("stated", "expected"), [("20s", 20), ("7m", 420)])
def test_a_stated_bound_wins(stated: str, expected: int) -> None:
    assert seconds(("layer.agents.timeout", stated)) == expected


def test_the_bound_holds_for_a_first_deployment_and_for_a_rollout() -> None:
    limits = within(300)
    assert (limits.create, limits.update) == ("300s", "300s")


CLUSTER = ("cluster.target", {"kind": "kubeconfig", "path": "kubeconfig", "context": "dev"})
LOGS_ALONE = [
    ("layer.metrics", "off"),
    *((f"tenants.{name}.metrics", None) for name in ("shop", "billing", "search", "mail")),
]


def test_an_update_of_a_cluster_names_the_command_that_explains_a_failure_and_nothing_else_does() -> None:
    on_cluster = parsed(changed(INCIDENT, CLUSTER))
    (line,) = notes(on_cluster, "dev", preview=False)
    assert "make why ENV=dev" in line
    assert notes(on_cluster, "dev", preview=True) == []
    assert notes(parsed(INCIDENT), "dev", preview=False) == []


def test_without_metrics_a_preview_says_where_a_missing_agent_shows() -> None:
    (line,) = notes(parsed(changed(INCIDENT, CLUSTER, *LOGS_ALONE)), "dev", preview=True)
    assert line == (
        "layer.metrics is off, so nothing counts the node agents: one that is missing shows at deploy and by "
        "make why ENV=dev only"
    )
