"""A state that is lost: a deployment is refused; taken over from the cluster or brought back, it goes on as before."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.names import ALLOY, NODES_NAMESPACE, TENANT_LABEL
from tests.cluster.failures import load
from tests.cluster.failures.checkout import Checkout
from tests.cluster.failures.environment import (
    TEAM,
    declared_objects,
    engines_managers,
    new_config,
    one_agent_on_each_node,
)
from tests.support.inventory import everything, is_labelled, versions
from tests.support.kube import Kube

DELETE = re.compile(r"^  (kubectl delete .*)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def _state_for_the_next_test(checkout: Checkout, tmp_path: Path) -> Iterator[None]:
    """The state as it was, where a test has failed between losing it and having one again."""
    kept = shutil.copytree(checkout.backend, tmp_path / "kept")
    yield
    if not checkout.state_file.exists():
        shutil.rmtree(checkout.backend, ignore_errors=True)
        shutil.copytree(kept, checkout.backend)


def uids(kube: Kube) -> set[str]:
    """Of the node agents."""
    return {pod["metadata"]["uid"] for pod in kube.list("pods", NODES_NAMESPACE)}


def test_objects_without_a_state_are_refused_taken_over_on_demand_and_owned_by_one_manager_afterwards(
    checkout: Checkout, kube: Kube
) -> None:
    checkout.up(new_config())  # so that there is an earlier configuration, which only the state knows
    before, pods, objects = versions(everything(kube, is_labelled)), uids(kube), declared_objects(kube)
    shutil.rmtree(checkout.backend)
    for _ in range(2):  # the first refusal leaves the stack itself in the state
        said = checkout.fails()
        assert "the cluster holds objects with this stack's label (Namespace observability, " in said
        assert "the stack's state is empty" in said
        assert "make take-over ENV=sim" in said
    assert versions(everything(kube, is_labelled)) == before

    done = checkout.run("repair", "--take-over")
    assert "All of the layer's objects are ready." in done.said
    assert uids(kube) == pods
    commands = DELETE.findall(done.said)
    forgotten = [command for command in commands if f"configmap {ALLOY}-" in command]
    assert len(forgotten) == 1, done.said
    for command in commands:
        arguments = command.split()[1:]
        deleted = kube.kubectl(*arguments)
        assert deleted.returncode == 0, deleted.stderr
    assert checkout.drift().status == 0
    assert declared_objects(kube) == {ref: objects[ref] for ref in declared_objects(kube)}
    assert engines_managers(kube) == {}

    checkout.up((f"tenants.{TEAM}", None))
    assert set(kube.get("namespaces", TEAM)["metadata"]["labels"]) == {"kubernetes.io/metadata.name"}
    assert one_agent_on_each_node(kube)


def test_a_destroy_without_the_state_removes_nothing_and_is_no_success(
    checkout: Checkout, kube: Kube, tmp_path: Path
) -> None:
    before = versions(everything(kube, is_labelled))
    kept = checkout.backend.rename(tmp_path / "elsewhere")
    try:
        done = checkout.run("engine", "destroy")
        assert done.status == 2
        assert "there is no stack 'sim' in file://" in done.said
        assert not checkout.state_file.exists()
        checkout.fails()  # which leaves the stack itself, without any object
        done = checkout.run("engine", "destroy")
        assert done.status == 1, done.said
        assert "objects with this stack's label are left in the cluster" in done.said
        assert f"  DaemonSet {NODES_NAMESPACE}/{ALLOY}\n" in done.said
    finally:
        shutil.rmtree(checkout.backend, ignore_errors=True)
        kept.rename(checkout.backend)
    assert versions(everything(kube, is_labelled)) == before


def test_an_older_state_that_is_brought_back_takes_up_what_was_deployed_after_it(
    checkout: Checkout, kube: Kube, tmp_path: Path
) -> None:
    load.namespaces(kube)
    backup = tmp_path / "backup.json"
    exported = checkout.pulumi("stack", "export", "--file", str(backup))
    assert exported.status == 0, exported.said
    new = [
        *load.NAMES,
        *([] if TENANT_LABEL in kube.get("namespaces", TEAM)["metadata"]["labels"] else [TEAM]),
    ]
    checkout.up(*load.come(), (f"tenants.{TEAM}", {"pods": 40, "dashboards": False}))
    shutil.rmtree(checkout.backend)

    assert checkout.pulumi("stack", "select", "--create").status == 0
    imported = checkout.pulumi("stack", "import", "--file", str(backup))
    assert imported.status == 0, imported.said
    told = checkout.drift().said
    # Labels and two quotas of each, and the gateway's list and tokens of them.
    unknown = "it carries this stack's label, and its state does not know it"
    assert told.count(unknown) == len(new) * 3 + 2
    assert "kubectl delete namespace" not in told
    checkout.repair()
    assert load.all_there(kube)
    assert engines_managers(kube) == {}
    checkout.up(*load.go())
    assert load.all_gone(kube)
