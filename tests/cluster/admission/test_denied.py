"""Under `deny` each defect of the incident is refused, whoever sends it, with all that is wrong said at once."""

import pytest

from components import names
from policies.pods import CRON_KINDS, TEMPLATE_KINDS
from simulator.api import ApiError, Object
from tests.cluster.admission.guarded import (
    AS_LABELLER,
    EXEMPT,
    LABELLERS,
    SECONDS,
    TENANTS,
    TRUSTED,
    account,
    apply,
    binding,
    kubectl,
    workload,
)
from tests.policies.test_incident import APP
from tests.support import manifests
from tests.support.kube import Kube, wait_until

ACTION = "deny"
BUILT_IN = sorted(
    (TEMPLATE_KINDS | CRON_KINDS | {"Pod", "PodTemplate"}) - {"CloneSet", "Rollout", "AdvancedCronJob"}
)
KEYLESS = [{"operator": "Exists", "effect": "NoSchedule"}, {"operator": "Exists", "effect": "NoExecute"}]


def incident(app: str) -> str:
    """The pack's own look-alike of what was deployed for each app, with what the API server asks of objects beside."""
    text = APP.replace("APP", app).replace("  template:\n    spec:", "  selector: {matchLabels: {a: b}}\n"
        "  template:\n    metadata: {labels: {a: b}}\n    spec:")  # fmt: skip
    return text.replace("{name: app, resources:", "{name: app, image: a, resources:")


def test_of_the_incidents_manifests_exactly_the_defects_are_refused(guarded: Kube) -> None:
    answer = apply(guarded, incident("shop").partition("---\napiVersion: apps/v1")[2].join(
        ["apiVersion: apps/v1", ""]), "--dry-run=server")  # fmt: skip
    assert len(answer.refused) == 3  # two DaemonSets and a binding; role, Deployment and HPA pass
    exporter, alloy, bound = answer.refused
    for agent in (exporter, alloy):
        for rule in (
            "tenant-daemonset",
            "daemonset-placement",
            "daemonset-tolerations",
            "tenant-host-access",
        ):
            assert agent.count(f"{rule}: ") == 1
    assert "it gives tenant shop the node's network" in exporter
    assert "it gives tenant shop files of the node" in alloy
    assert "every NoSchedule taint" in alloy
    assert bound.startswith("tenant-cluster-pod-list: it gives an account of tenant shop a cluster-wide role")


@pytest.mark.parametrize("kind", BUILT_IN)
def test_each_kind_of_workload_is_kept_off_the_node(guarded: Kube, kind: str) -> None:
    refused = apply(
        guarded,
        [
            workload(
                kind,
                "shop",
                hostPID=True,
                tolerations=KEYLESS,
                priorityClassName="system-node-critical",
                nodeSelector={"pool": "a"},
            )
        ],
        "--dry-run=server",
    )
    tolerations = "daemonset-tolerations" if kind == "DaemonSet" else "workload-tolerations"
    expected = {"tenant-host-access", "tenant-priority", tolerations}
    assert set(refused.rules) == expected | ({"tenant-daemonset"} if kind == "DaemonSet" else set())
    (said,) = refused.refused
    assert "every NoSchedule taint" in said
    assert "every NoExecute taint" in said
    assert apply(guarded, [workload(kind, "agents", hostPID=True)], "--dry-run=server").rules == (
        ["daemonset-placement"] if kind == "DaemonSet" else []
    )


REACHES: dict[str, Object] = {
    "hostNetwork": {"hostNetwork": True},
    "hostIPC": {"hostIPC": True},
    "hostPath": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]},
    "privileged": {"containers": [{"name": "c", "image": "c", "securityContext": {"privileged": True}}]},
    "capability": {
        "containers": [
            {"name": "c", "image": "c", "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}
        ]
    },
    "of an init container": {
        "initContainers": [{"name": "i", "image": "c", "securityContext": {"privileged": True}}]
    },
    "hostPort": {
        "containers": [{"name": "c", "image": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    },
    "procMount": {
        "hostUsers": False,
        "containers": [{"name": "c", "image": "c", "securityContext": {"procMount": "Unmasked"}}],
    },
    "Windows": {
        "hostNetwork": True,
        "securityContext": {"windowsOptions": {"hostProcess": True}},
    },
}


@pytest.mark.parametrize("reach", REACHES)
def test_each_way_to_the_node_is_refused(guarded: Kube, reach: str) -> None:
    answer = apply(guarded, [workload("Deployment", "billing", **REACHES[reach])], "--dry-run=server")
    assert answer.rules == ["tenant-host-access"]
    assert not apply(
        guarded, [workload("Deployment", "agents", **REACHES[reach])], "--dry-run=server"
    ).refused


def test_an_ephemeral_container_cannot_reach_the_node_either(guarded: Kube) -> None:
    guarded.apply(workload("Pod", "shop", "debugged"))
    added = {"name": "debug", "image": "d", "securityContext": {"privileged": True}}
    change = {"spec": {"ephemeralContainers": [added]}}
    with pytest.raises(ApiError, match="tenant-host-access: it gives tenant shop the whole node"):
        guarded.patch("pods", "debugged", change, "shop", sub="ephemeralcontainers", strategic=True)


@pytest.mark.parametrize(
    "subject",
    [
        account("shop"),
        {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "system:serviceaccount:shop:app"},
        {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:serviceaccounts:shop"},
        {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:serviceaccounts"},
        {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:authenticated"},
    ],
    ids=lambda subject: f"{subject['kind']} {subject['name']}",
)
def test_each_spelling_of_a_tenants_account_is_known(guarded: Kube, subject: Object) -> None:
    for role, words in (("view", "read the pods of the whole cluster"), ("theirs", "nobody has looked into")):
        answer = apply(guarded, [binding(role, subject)], "--dry-run=server")
        assert answer.rules == ["tenant-cluster-pod-list"]
        assert words in answer.refused[0]
    for role in ("system:auth-delegator", "system:discovery", TRUSTED):
        assert apply(guarded, [binding(role, subject)], "--dry-run=server").done, role


def test_accounts_that_are_no_tenants_are_bound_as_before(guarded: Kube) -> None:
    for subject in (
        account("agents"),
        account("shop-2"),
        {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "people"},
    ):
        assert apply(guarded, [binding("view", subject)], "--dry-run=server").done


def test_a_new_tenant_is_guarded_by_its_label_alone(guarded: Kube) -> None:
    before = {p["metadata"]["name"]: p["metadata"]["resourceVersion"] for p in _policies(guarded)}
    assert apply(guarded, [binding("view", account("late"))], "--dry-run=server").done
    guarded.apply(
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "late", "labels": {names.TENANT_LABEL: "late"}},
        }
    )
    wait_until(
        lambda: apply(guarded, [binding("view", account("late"))], "--dry-run=server").rules,
        20,
        "it is not guarded",
    )
    assert apply(guarded, [workload("Pod", "late", hostNetwork=True)], "--dry-run=server").rules
    assert {p["metadata"]["name"]: p["metadata"]["resourceVersion"] for p in _policies(guarded)} == before


def _policies(kube: Kube) -> list[Object]:
    return kube.list("validatingadmissionpolicies") + kube.list("validatingadmissionpolicybindings")


def test_an_exemption_lets_exactly_its_object_pass(guarded: Kube) -> None:
    _, namespace, name = EXEMPT
    assert apply(guarded, [workload("DaemonSet", namespace, name)], "--dry-run=server").done
    assert apply(guarded, [workload("DaemonSet", namespace, "other")], "--dry-run=server").refused
    assert apply(guarded, [workload("DaemonSet", "agents", name)], "--dry-run=server").refused
    tolerant = workload("DaemonSet", namespace, name, tolerations=KEYLESS)
    assert apply(guarded, [tolerant], "--dry-run=server").rules == ["daemonset-tolerations"]


@pytest.mark.parametrize("key", [names.TENANT_LABEL, names.LOGS_LABEL, "shared.observability/tenant"])
def test_only_whoever_has_the_right_sets_a_tenants_label(guarded: Kube, key: str) -> None:
    for namespace in ("agents", "kube-system"):
        asked = ("label", "namespace", namespace, f"{key}=shop", "--overwrite")
        assert kubectl(guarded, *asked, *AS_LABELLER).rules == ["tenant-labels"]
        assert kubectl(guarded, *asked, "--dry-run=server").done  # an administrator


def test_a_tenants_label_is_neither_changed_nor_removed_nor_born(guarded: Kube) -> None:
    for change in (f"{names.TENANT_LABEL}=billing", f"{names.TENANT_LABEL}-"):
        asked = ("label", "namespace", "shop", change, "--overwrite")
        assert kubectl(guarded, *asked, *AS_LABELLER).rules == ["tenant-labels"]
    born = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "born", "labels": {names.TENANT_LABEL: "shop"}},
    }
    assert apply(guarded, [born], *AS_LABELLER).rules == ["tenant-labels"]


@pytest.mark.parametrize("sub", ["status", "finalize"])
def test_a_subresource_sets_no_tenants_label_either(guarded: Kube, sub: str) -> None:
    with pytest.raises(ApiError, match="tenant-labels: "):
        write_labels(guarded, sub, {names.TENANT_LABEL: "billing"})
    with pytest.raises(ApiError, match="tenant-host-access: it gives tenant shop a namespace"):
        write_labels(guarded, sub, {names.POD_SECURITY_LABEL: "privileged"})
    write_labels(guarded, sub, {"by": sub})
    labels = guarded.get("namespaces", "shop")["metadata"]["labels"]
    assert labels["by"] == sub, "it is no way to write labels, so nothing was tested"
    assert labels[names.TENANT_LABEL] == "shop"


def write_labels(kube: Kube, sub: str, labels: dict[str, str]) -> None:
    """Somebody without the right sets labels of a tenant's namespace by a subresource."""
    namespace = kube.get("namespaces", "shop")
    namespace["metadata"]["labels"] |= labels
    somebody = kube.as_user("somebody", ["system:authenticated", LABELLERS])
    somebody.request("PUT", f"/api/v1/namespaces/shop/{sub}", namespace)


def test_a_tenants_namespace_is_deleted_as_before(guarded: Kube) -> None:
    """The namespace controller ends it by `finalize`, with the labels as they are."""
    guarded.apply(manifests.namespace("leaving", **{names.TENANT_LABEL: "leaving"}))
    guarded.delete("namespaces", "leaving")
    wait_until(lambda: guarded.find("namespaces", "leaving") is None, SECONDS, "it stays")


def test_other_labels_are_anybodys(guarded: Kube) -> None:
    for namespace in ("shop", "agents"):
        assert kubectl(guarded, "label", "namespace", namespace, "team=a", "--overwrite", *AS_LABELLER).done


def test_a_tenants_namespace_is_not_opened_to_everything(guarded: Kube) -> None:
    label = f"{names.POD_SECURITY_LABEL}=privileged"
    for namespace in TENANTS:
        answer = kubectl(guarded, "label", "namespace", namespace, label, "--overwrite", "--dry-run=server")
        assert answer.rules == ["tenant-host-access"]
    assert kubectl(guarded, "label", "namespace", "agents", label, "--overwrite", "--dry-run=server").done


def test_a_large_object_stays_within_what_an_expression_may_cost(guarded: Kube) -> None:
    """Over the API server's bounds a guard fails, and then refuses under `deny`, whatever the object says."""
    capabilities = {"capabilities": {"add": ["CHOWN"] * 40}}
    many = [
        {"name": f"c{i}", "image": "c", "securityContext": capabilities, "ports": [{"containerPort": 80}]}
        for i in range(60)
    ]
    tolerations = [{"key": f"k{i}", "operator": "Exists"} for i in range(100)]
    guarded.create(
        workload("Deployment", "shop", "large", containers=many, tolerations=tolerations), dry_run=True
    )
    many[-1]["securityContext"] = {"privileged": True}
    large = workload("Deployment", "shop", "large", containers=many, tolerations=tolerations)
    with pytest.raises(ApiError, match="tenant-host-access: it gives tenant shop the whole node"):
        guarded.create(large, dry_run=True)
    subjects = [{**account("agents"), "name": f"app-{i}"} for i in range(2000)]
    guarded.create(binding("view", *subjects), dry_run=True)
    with pytest.raises(ApiError, match="tenant-cluster-pod-list"):
        guarded.create(binding("view", *subjects, account("shop")), dry_run=True)
