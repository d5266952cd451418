"""Which field managers are given up: those of the engine that no state knows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from components.cluster.kubectl import Answer, Kubectl
from diagnosis.declared_objects import live
from diagnosis.drift import Declared, Ref
from diagnosis.managers import all_stale, free, give_up, stale

MANIFEST = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "alloy", "namespace": "n"},
    "spec": {"template": {}},
}
REF = Ref("DaemonSet", "n", "alloy")
OWN, OLD = "pulumi-kubernetes-11111111", "pulumi-kubernetes-22222222"


def with_managers(*managers: tuple[str, str]) -> dict[str, Any]:
    fields = [{"manager": name, "operation": operation} for name, operation in managers]
    return {**MANIFEST, "metadata": {**MANIFEST["metadata"], "managedFields": fields}}  # type: ignore[dict-item]


def test_only_the_engines_managers_are_stale_and_never_its_own() -> None:
    live = with_managers(
        (OWN, "Apply"), (OLD, "Apply"), ("kubectl", "Apply"), ("pulumi-kubernetes-3", "Update")
    )
    assert stale(live, OWN) == [OLD]
    assert stale(MANIFEST, OWN) == []


def test_of_an_object_whose_own_manager_is_unknown_none_is_given_up() -> None:
    live = {Ref("DaemonSet", "n", "alloy"): with_managers((OLD, "Apply"))}
    assert list(all_stale([Declared("urn", MANIFEST, unfinished=False)], live)) == []
    assert list(all_stale([Declared("urn", MANIFEST, unfinished=False, manager=OWN)], live)) == [
        (MANIFEST, OLD)
    ]
    assert list(all_stale([Declared("urn", MANIFEST, unfinished=False, manager=OWN)], {})) == []


@dataclass(frozen=True)
class Recorder(Kubectl):
    """Remembers what it was asked to apply."""

    applied: list[tuple[tuple[str, ...], Any]] = field(default_factory=list)
    by_name: dict[str, Any] = field(default_factory=dict)

    @override
    def call(
        self, *arguments: str, stdin: str | None = None, environment: Mapping[str, str] | None = None
    ) -> Answer:
        if arguments[0] == "get":
            return Answer(json.dumps(self.by_name), ())
        self.applied.append((arguments, json.loads(stdin or "")))
        return Answer("", ())


def test_a_manager_is_given_up_by_applying_nothing_but_the_objects_name() -> None:
    kubectl = Recorder("kubeconfig", "sim")
    give_up(kubectl, [(MANIFEST, OLD)])
    (arguments, manifest) = kubectl.applied[0]
    assert f"--field-manager={OLD}" in arguments
    assert manifest == {key: MANIFEST[key] for key in ("apiVersion", "kind", "metadata")}


def test_objects_are_freed_and_counted() -> None:
    kubectl = Recorder("kubeconfig", "sim")
    state = [Declared("urn", MANIFEST, unfinished=False, manager=OWN)]
    assert free(kubectl, state, {REF: with_managers((OWN, "Apply"), (OLD, "Apply"))}) == 1
    assert len(kubectl.applied) == 1
    assert free(kubectl, state, {REF: with_managers((OWN, "Apply"))}) == 0
    assert len(kubectl.applied) == 1


def test_an_object_that_is_not_found_by_its_label_is_freed_too_as_a_secret_in_a_tenants_namespace() -> None:
    kubectl = Recorder("kubeconfig", "sim", by_name=with_managers((OWN, "Apply"), (OLD, "Apply")))
    state = [Declared("urn", MANIFEST, unfinished=False, manager=OWN)]
    assert free(kubectl, state, live(kubectl, state, [])) == 1
    assert len(kubectl.applied) == 1
