"""A team joins, then another leaves: no agent rolls, no store restarts, and every list holds who is there."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from components import names
from tests.support.deployment import Deployment
from tests.support.inventory import everything, is_labelled, is_touched
from tests.support.kube import Kube, Object

JOINS, LEAVES = "quagga", "shop"
OVERRIDES = "loki-overrides"
# What may change with a tenant: by these names, Loki's overrides and the gateway with its tables.
MAY_CHANGE = (OVERRIDES, "gateway")
LAYER = (names.LAYER_NAMESPACE, names.NODES_NAMESPACE)


def steady(kube: Kube, *kinds: str) -> list[Object]:
    """Everything of some kinds in the layer's namespaces that no tenant may change."""
    found = [item for kind in kinds for where in LAYER for item in kube.list(kind, where)]
    return [item for item in found if not item["metadata"]["name"].startswith(MAY_CHANGE)]


def texts(kube: Kube) -> dict[str, str]:
    """What all ConfigMaps and Secrets hold, by namespace and name."""
    plain = {name_of(item): list(item.get("data", {}).values()) for item in steady(kube, "configmaps")}
    secret = {
        name_of(item): [base64.b64decode(value).decode() for value in item["data"].values()]
        for item in steady(kube, "secrets")
    }
    return {name: "\n".join(values) for name, values in {**plain, **secret}.items()}


def name_of(item: Object) -> str:
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


@dataclass(frozen=True)
class Moment:
    """What the cluster held at one time."""

    pods: dict[str, str]
    generations: dict[str, int]
    texts: dict[str, str]
    overrides: Object
    namespaces: dict[str, dict[str, str]]

    @classmethod
    def now(cls, kube: Kube) -> "Moment":
        """Asked from the API server."""
        workloads = steady(kube, "daemonsets", "deployments")
        return cls(
            pods={pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in steady(kube, "pods")},
            generations={item["metadata"]["uid"]: item["metadata"]["generation"] for item in workloads},
            texts=texts(kube),
            overrides=kube.get("configmaps", OVERRIDES, LAYER[0]),
            namespaces={ns["metadata"]["name"]: ns["metadata"]["labels"] for ns in kube.list("namespaces")},
        )


@dataclass(frozen=True)
class Story:
    """Before, with one team more, and then without another."""

    before: Moment
    joined: Moment
    left: Moment


@pytest.fixture(scope="module")
def story(deployed: Deployment, kube: Kube) -> Iterator[Story]:
    before = Moment.now(kube)
    with deployed.changed((f"tenants.{JOINS}", {"pods": 20, "namespace": "create", "retention": "3d"})):
        joined = Moment.now(kube)
        deployed.up((f"tenants.{LEAVES}", None))
        yield Story(before, joined, Moment.now(kube))
    kube.remove_namespace(JOINS)  # the program keeps what it created


def test_no_agent_and_no_store_is_replaced(story: Story) -> None:
    assert len(story.before.pods) >= 2 * 19 + 3
    assert story.before.pods == story.joined.pods == story.left.pods


def test_no_agent_and_no_store_is_written(story: Story) -> None:
    assert story.before.generations == story.joined.generations == story.left.generations


def test_no_text_of_an_agent_or_a_store_changes_or_names_a_tenant(story: Story) -> None:
    assert len(story.before.texts) >= 7
    assert story.before.texts == story.joined.texts == story.left.texts
    for name, text in story.left.texts.items():
        assert JOINS not in text, name
        assert LEAVES not in text, name


def test_lokis_overrides_change_in_place_and_hold_exactly_the_live_tenants(story: Story) -> None:
    moments = (story.before, story.joined, story.left)
    assert len({moment.overrides["metadata"]["uid"] for moment in moments}) == 1
    found = [tenants_in(moment.overrides) for moment in moments]
    before = {"shop", "billing", "search", "mobile", "edge", "platform"}  # reports has no logs
    assert found == [before, before | {JOINS}, (before | {JOINS}) - {LEAVES}]


def tenants_in(overrides: Object) -> set[str]:
    (text,) = overrides["data"].values()
    lines = text.splitlines()
    assert lines[0] == "overrides:"
    return {line.strip().rstrip(":") for line in lines if line.startswith("  ") and line[2] != " "}


def test_the_new_namespace_says_its_tenant_and_signals_and_the_old_one_nothing(story: Story) -> None:
    ours = {
        names.TENANT_LABEL: JOINS,
        names.LOGS_LABEL: "node",
        names.METRICS_LABEL: "true",
        names.OWNER_LABEL: "sim",
        names.POD_SECURITY_LABEL: "restricted",
    }
    assert ours.items() <= story.joined.namespaces[JOINS].items()
    assert story.left.namespaces[JOINS] == story.joined.namespaces[JOINS]
    assert story.left.namespaces[LEAVES] == {"kubernetes.io/metadata.name": LEAVES}


def test_nothing_of_ours_is_left_with_the_tenant_that_left(story: Story, kube: Kube) -> None:
    ours = everything(kube, lambda item: is_labelled(item) or is_touched(item))
    assert [key for key in ours if LEAVES in (key.namespace, key.name)] == []
    assert [key for key in ours if JOINS in (key.namespace, key.name)] != []
