"""How a stack's objects are found: by their label, else by name; nobody's Secrets are listed but the layer's."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from components.cluster.kubectl import Answer, Kubectl
from diagnosis.declared_objects import KINDS, KINDS_OF_THE_LAYER, labelled, left_behind, live
from diagnosis.drift import Declared, ref
from tests.unit.components.environments import VARIANTS, environment


def manifest(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {}}


@dataclass(frozen=True)
class Cluster(Kubectl):
    """Answers with what a test gives it, and remembers what it was asked."""

    existing: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, ...]] = field(default_factory=list)
    by_name: list[dict[str, Any]] = field(default_factory=list)
    listed: list[dict[str, Any]] = field(default_factory=list)

    @override
    def objects(self, *arguments: str) -> list[dict[str, Any]]:
        self.asked.append(arguments)
        return self.listed

    @override
    def call(
        self, *arguments: str, stdin: str | None = None, environment: Mapping[str, str] | None = None
    ) -> Answer:
        wanted = [ref(item) for item in json.loads(stdin or "")["items"]]
        self.by_name.extend(json.loads(stdin or "")["items"])
        found = [item for item in self.existing if ref(item) in wanted]
        several: dict[str, Any] = {"kind": "List", "items": found}
        one = found[0] if len(found) == 1 else several if found else None
        return Answer(json.dumps(one) if one else "", ())


def declared(*manifests: dict[str, Any]) -> list[Declared]:
    return [Declared(f"urn:{item['metadata']['name']}", item, unfinished=False) for item in manifests]


def test_secrets_and_config_maps_are_listed_in_the_layers_namespaces_alone() -> None:
    cluster = Cluster("kubeconfig", "sim")
    labelled(cluster, "prod")
    everywhere = [asked for asked in cluster.asked if "--all-namespaces" in asked]
    assert all("secrets" not in asked[0] and "configmaps" not in asked[0] for asked in everywhere)
    places = {asked[2] for asked in cluster.asked if "secrets" in asked[0].split(",")}
    assert places == {"observability", "observability-nodes"}
    assert all("shared-observability/owner=prod" in asked for asked in cluster.asked)


def labelled_object(kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **metadata}}


def test_left_behind_is_what_has_the_label_but_for_controllers_objects_and_created_namespaces() -> None:
    made = {"shared-observability/owner": "prod", "shared-observability/created": "true"}
    cluster = Cluster(
        "kubeconfig",
        "sim",
        listed=[
            labelled_object("Namespace", "kept", labels=made),
            labelled_object("ServiceAccount", "x", namespace="n", ownerReferences=[{"name": "y"}]),
            labelled_object("Namespace", "shop", labels={"shared-observability/owner": "prod"}),
            labelled_object("DaemonSet", "alloy", namespace="n"),
        ],
    )
    assert [str(one) for one in left_behind(cluster, "prod")] == ["DaemonSet n/alloy", "Namespace shop"]
    assert len(cluster.asked) == 1, "in a namespace that is gone whoever destroys may list nothing"
    assert "secrets" not in cluster.asked[0][0].split(",")


def test_every_kind_that_the_program_makes_is_looked_for() -> None:
    made = {item.kind for item in environment(VARIANTS["all of a tenant's settings"]).objects}
    looked_for = {kind.partition(".")[0] for kind in (*KINDS, *KINDS_OF_THE_LAYER)}
    irregular = {
        "NetworkPolicy": "networkpolicies",
        "PriorityClass": "priorityclasses",
        "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    }
    assert {irregular.get(kind, f"{kind.lower()}s") for kind in made} <= looked_for


def test_what_has_lost_its_label_is_asked_for_by_name_all_at_once() -> None:
    cluster = Cluster("kubeconfig", "sim", existing=[manifest("b"), manifest("c")])
    a, b, c = manifest("a"), manifest("b"), manifest("c")
    found = live(cluster, declared(a, b, c), [a])
    assert set(found) == {ref(a), ref(b), ref(c)}
    assert [item["metadata"]["name"] for item in cluster.by_name] == ["b", "c"]


def test_one_that_is_found_and_none_that_is_found_are_answers_too() -> None:
    cluster = Cluster("kubeconfig", "sim", existing=[manifest("b")])
    assert set(live(cluster, declared(manifest("b")), [])) == {ref(manifest("b"))}
    assert live(cluster, declared(manifest("gone")), []) == {}
    assert live(cluster, declared(manifest("a")), [manifest("a")]) == {ref(manifest("a")): manifest("a")}
