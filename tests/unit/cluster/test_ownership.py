"""Objects that exist without our label are refused; and how a cluster is read into what these decisions need."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from typing_extensions import override

from components import names
from components.cluster import live
from components.cluster.kubectl import Answer, Kubectl
from components.cluster.live import Live, LiveNamespace, ObjectRef, is_stricter, violations
from components.cluster.ownership import cluster_scoped, foreign_objects, in_tenant_namespace
from components.settings.mistakes import Mistake
from tests.support.environments import INCIDENT, changed, parsed
from tests.unit.components import aws

NAMESPACES = ("shop", "billing", "search", "mail-in", "mail-out", "wiki")


def refused(
    owners: dict[ObjectRef, str], namespaces: dict[str, LiveNamespace] | None = None
) -> list[Mistake]:
    """Mistakes of the stack `dev` on a cluster with these objects."""
    return list(foreign_objects(parsed(INCIDENT), Live("uid", namespaces or {}, owners), "dev"))


@pytest.mark.parametrize("ref", cluster_scoped(), ids=str)
def test_each_cluster_scoped_object_that_exists_without_our_label_is_refused_with_the_command(
    ref: ObjectRef,
) -> None:
    (mistake,) = refused({ref: ""})
    assert mistake.path == "layer"
    assert f"{ref} exists and was not made by this program" in mistake.problem
    assert f"kubectl label {ref.kind.lower()} {ref.name}" in mistake.remedy
    assert f"{names.OWNER_LABEL}=dev" in mistake.remedy


@pytest.mark.parametrize("ref", in_tenant_namespace("mail-out"), ids=str)
def test_each_object_of_a_tenants_namespace_that_exists_without_our_label_is_refused(ref: ObjectRef) -> None:
    (mistake,) = refused({ref: ""})
    assert mistake.path == "tenants.mail"
    assert "--namespace mail-out" in mistake.remedy


@pytest.mark.parametrize("namespace", [names.LAYER_NAMESPACE, names.NODES_NAMESPACE])
def test_the_layers_namespaces_are_refused_if_they_exist_without_our_label(namespace: str) -> None:
    (mistake,) = refused({}, {namespace: LiveNamespace()})
    assert f"Namespace {namespace} exists and was not made by this program" in mistake.problem
    assert refused({}, {namespace: LiveNamespace(owner="dev")}) == []


@pytest.mark.parametrize("ref", [cluster_scoped()[0], in_tenant_namespace("shop")[0]], ids=str)
def test_an_object_of_another_stack_is_refused_with_the_stacks_name_and_our_own_is_not(
    ref: ObjectRef,
) -> None:
    (mistake,) = refused({ref: "prod"})
    assert "belongs to stack 'prod'" in mistake.problem
    assert refused({ref: "dev"}) == []


def test_foreign_objects_beside_ours_are_nobodys_business() -> None:
    beside = {
        ObjectRef("ClusterRole", "", "admin"): "",
        ObjectRef("ResourceQuota", "shop", "theirs"): "",
        ObjectRef("ResourceQuota", "elsewhere", names.PODS_QUOTA): "",
        ObjectRef("Role", "shop", names.PROMETHEUS_ROLE): "",
    }
    assert refused(beside) == []


# --- reading a cluster -----------------------------------------------------------------------------------------------

POD_SECURITY = names.POD_SECURITY_LABEL


@dataclass(frozen=True)
class Recorded(Kubectl):
    """Answers as a cluster would; keeps what was asked."""

    kubeconfig: str = "k"
    context: str = "c"
    answers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    asked: list[tuple[str, ...]] = field(default_factory=list)

    @override
    def objects(self, *arguments: str) -> list[dict[str, Any]]:
        self.asked.append(("get", *arguments))
        return self.answers.get(arguments[0], [])

    @override
    def call(self, *arguments: str, **_: Any) -> Answer:
        self.asked.append(arguments)
        return Answer("", self.warnings)


def namespace(
    name: str, labels: dict[str, str] | None = None, manager: str = "kubectl-label"
) -> dict[str, Any]:
    """A namespace as the API server shows it, its labels set by one field manager."""
    fields: dict[str, Any] = {"f:metadata": {"f:labels": {f"f:{key}": {} for key in labels or {}}}}
    metadata = {"name": name, "uid": f"uid-of-{name}", "labels": labels or {}}
    return {
        "kind": "Namespace",
        "metadata": {**metadata, "managedFields": [{"manager": manager, "fieldsV1": fields}]},
        "status": {"phase": "Active"},
    }


def cluster(
    *namespaces: dict[str, Any],
    warnings: tuple[str, ...] = (),
    answers: dict[str, list[dict[str, Any]]] | None = None,
) -> Recorded:
    """A cluster with these namespaces, kube-system, and the tenants' others."""
    given = {item["metadata"]["name"] for item in namespaces}
    others = [namespace(name) for name in ("kube-system", *NAMESPACES) if name not in given]
    return Recorded(answers={"namespaces": [*others, *namespaces], **(answers or {})}, warnings=warnings)


def test_a_cluster_is_known_by_its_kube_system_and_objects_by_their_label() -> None:
    quota = {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "shop"}}
    ours = {"kind": "ClusterRole", "metadata": {"name": "r", "labels": {names.OWNER_LABEL: "dev"}}}
    urgent = {"kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 7, "globalDefault": True}
    size = {"resources": {"requests": {"storage": "50Gi"}}}
    claims = [
        {"metadata": {"name": "loki"}, "spec": {**size, "volumeName": "pvc-1", "storageClassName": "gp3"}},
        {"metadata": {"name": "prometheus"}, "spec": size},
    ]
    found = live.read(
        cluster(
            answers={
                live.CLUSTER_SCOPED: [ours, urgent],
                "resourcequotas,roles,rolebindings,serviceaccounts": [quota],
                "persistentvolumeclaims": claims,
            }
        ),
        parsed(INCIDENT),
    )
    assert found.identity == "uid-of-kube-system"
    assert found.owners[ObjectRef("ResourceQuota", "shop", "q")] == ""
    assert found.owners[ObjectRef("ClusterRole", "", "r")] == "dev"
    assert (found.priorities, found.default_priority_class) == ({"urgent": 7}, "urgent")
    assert found.claims == {"loki": "50Gi", "prometheus": "50Gi"}
    assert found.bound_claims == {"loki": "gp3"}


@pytest.mark.parametrize("of_eks", [True, False])
def test_storage_classes_are_read_everywhere_and_are_ours_on_eks_only(of_eks: bool) -> None:
    default = "storageclass.kubernetes.io/is-default-class"
    classes = [
        {"kind": "StorageClass", "metadata": {"name": "gp2", "annotations": {default: "false"}}},
        {"kind": "StorageClass", "metadata": {"name": "gp3", "annotations": {default: "true"}}},
        {"kind": "StorageClass", "metadata": {"name": names.VOLUME_CLASS}},
    ]
    target = aws.EXISTING if of_eks else {"kind": "kubeconfig", "path": "k", "context": "c"}
    settings = parsed(changed(INCIDENT, ("cluster.target", target)))
    found = live.read(cluster(answers={live.CLUSTER_SCOPED: classes}), settings)
    assert found.storage_classes == {"gp2": False, "gp3": True, names.VOLUME_CLASS: False}
    assert (ObjectRef("StorageClass", "", names.VOLUME_CLASS) in found.owners) is of_eks


@pytest.mark.parametrize("allowed", [True, False])
def test_the_right_to_label_is_asked_of_the_authorizer_only_where_a_guard_refuses(allowed: bool) -> None:
    class Asked(Recorded):
        @override
        def call(self, *arguments: str, **given: Any) -> Answer:
            if arguments[0] == "create":
                right = json.loads(given["stdin"])["spec"]["resourceAttributes"]
                assert right == {"group": "shared-observability", "resource": "tenants", "verb": "label"}
                return Answer(json.dumps({"status": {"allowed": allowed}}), ())
            return super().call(*arguments, **given)

    answers = {"namespaces": [namespace(name) for name in ("kube-system", *NAMESPACES)]}
    denying = parsed(changed(INCIDENT, ("layer.admission", "deny")))
    assert live.read(Asked(answers=answers), denying).may_label == allowed
    assert live.read(Recorded(answers=answers), parsed(INCIDENT)).may_label


@pytest.mark.parametrize(
    ("manager", "foreign"),
    [("kubectl-label", True), ("pulumi-kubernetes-82fb124c", True), (names.FIELD_MANAGER, False)],
)
def test_a_label_is_foreign_unless_our_own_field_manager_set_it(manager: str, foreign: bool) -> None:
    found = live.read(cluster(namespace("shop", {POD_SECURITY: "baseline"}, manager)), parsed(INCIDENT))
    assert found.namespaces["shop"].level == "baseline"
    assert (POD_SECURITY in found.namespaces["shop"].foreign_labels) == foreign
    assert found.namespaces["billing"] == LiveNamespace()


@pytest.mark.parametrize(("labels", "created"), [({names.CREATED_LABEL: "true"}, True), ({}, False)])
def test_a_namespace_is_known_to_be_ours_by_the_label_that_creating_it_gave_it(
    labels: dict[str, str], created: bool
) -> None:
    found = live.read(cluster(namespace("shop", {**labels, names.OWNER_LABEL: "dev"})), parsed(INCIDENT))
    assert (found.namespaces["shop"].created, found.namespaces["shop"].owner) == (created, "dev")


def test_a_namespace_that_is_being_deleted_is_seen_so() -> None:
    going = {**namespace("shop", {names.OWNER_LABEL: "dev"}), "status": {"phase": "Terminating"}}
    found = live.read(cluster(going), parsed(INCIDENT)).namespaces["shop"]
    assert (found.terminating, found.owner) == (True, "dev")


def test_only_levels_that_are_stricter_than_now_are_tried_and_only_by_a_dry_run() -> None:
    raw = changed(
        INCIDENT,
        ("tenants.billing.podSecurity", "keep"),
        ("tenants.search.podSecurity", "baseline"),
        ("tenants.wiki.namespaces", {"not-there-yet": {}}),
    )
    asked = cluster(namespace("shop", {POD_SECURITY: "restricted"}))
    live.read(asked, parsed(raw))
    written = [arguments for arguments in asked.asked if arguments[0] not in ("get", "config")]
    assert {arguments[2:-3]: arguments[-3] for arguments in written} == {
        ("mail-in", "mail-out"): f"{POD_SECURITY}=restricted",
        ("search",): f"{POD_SECURITY}=baseline",
    }
    assert all("--dry-run=server" in arguments for arguments in written)


# Texts as API servers 1.32 to 1.35 send them and kubectl prints them, without its `Warning: `.
VIOLATED = 'existing pods in namespace "{}" violate the new PodSecurity enforce level "restricted:latest"'
WEB = "web-0 (and 2 other pods): allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true"
DB = "db-0: hostPath volumes, seccompProfile"


def test_the_servers_warnings_name_a_namespace_and_then_its_pods() -> None:
    warnings = (VIOLATED.format("shop"), WEB, DB, VIOLATED.format("mail-in"), "smtp-0: runAsNonRoot != true")
    assert violations(warnings) == {"shop": (WEB, DB), "mail-in": ("smtp-0: runAsNonRoot != true",)}


def test_warnings_about_other_things_before_a_namespace_is_named_are_no_pods() -> None:
    assert violations(["v1 Something is deprecated", VIOLATED.format("shop"), WEB]) == {"shop": (WEB,)}
    assert violations(["v1 Something is deprecated"]) == {}


def test_a_namespace_whose_lines_kubectl_left_out_as_repeated_is_violated_all_the_same() -> None:
    """kubectl prints each warning once: of two namespaces with equally named pods the second shows no pod."""
    found = violations((VIOLATED.format("shop"), WEB, VIOLATED.format("mail-in")))
    assert found["shop"] == (WEB,)
    assert found["mail-in"]


def test_unfit_pods_reach_the_namespace_that_has_them() -> None:
    found = live.read(cluster(warnings=(VIOLATED.format("shop"), WEB)), parsed(INCIDENT))
    assert found.namespaces["shop"].unfit_pods == (WEB,)
    assert found.namespaces["wiki"].unfit_pods == ()


def test_secrets_and_workloads_are_asked_for_by_our_names_alone() -> None:
    """A cluster has many, and nobody has to read others' Secrets to deploy."""
    secret = {"kind": "Secret", "metadata": {"name": names.READ_SECRET, "namespace": "shop"}}
    asked = cluster(answers={"secrets": [secret]})
    found = live.read(asked, parsed(INCIDENT))
    assert found.owners[ObjectRef("Secret", "shop", names.READ_SECRET)] == ""
    by_name = [arguments for arguments in asked.asked if "secrets" in arguments[1]]
    assert {arguments[-1] for arguments in by_name} == {
        f"metadata.name={name}" for name in (names.COLLECTOR, names.TENANT_GRAFANA, names.READ_SECRET)
    }
    kinds = {kind for arguments in asked.asked if arguments[0] == "get" for kind in arguments[1].split(",")}
    made = {ref.kind.lower() for ref in in_tenant_namespace("any")}
    assert {kind if kind in kinds else f"{kind}s" for kind in made} - kinds <= {"ingresss"}
    assert "ingresses" in kinds


def test_levels_are_ordered_and_none_is_as_loose_as_privileged() -> None:
    assert is_stricter("restricted", "baseline")
    assert is_stricter("baseline", "privileged")
    assert is_stricter("baseline", "")
    assert not is_stricter("privileged", "")
    assert not is_stricter("restricted", "restricted")
