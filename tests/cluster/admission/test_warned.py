"""Under `warn`, the default, everything goes through, and each rule says by itself what it would refuse."""

from components import names
from simulator.api import Object
from tests.cluster.admission.guarded import AS_LABELLER, account, apply, binding, kubectl, workload
from tests.support.kube import Kube

ACTION = "warn"
AGENT: Object = {
    "hostNetwork": True,
    "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}],
    "volumes": [{"name": "logs", "hostPath": {"path": "/var/log"}}],
}


def test_each_rule_warns_once_and_the_object_is_made(guarded: Kube) -> None:
    answer = apply(guarded, [workload("DaemonSet", "shop", **AGENT)])
    assert answer.done
    assert not answer.refused
    assert sorted(answer.rules) == sorted(
        ["tenant-daemonset", "daemonset-placement", "daemonset-tolerations", "tenant-host-access"]
    )
    assert len(answer.warned) == 4
    assert guarded.find("daemonsets", "agent", "shop")


def test_the_pods_of_what_was_warned_of_run(guarded: Kube) -> None:
    deployment = workload("Deployment", "billing", "app", hostPID=True)
    assert apply(guarded, [deployment]).rules == ["tenant-host-access"]
    guarded.wait_for_pods(1, "billing", "app=app")


def test_a_binding_and_a_label_are_warned_of(guarded: Kube) -> None:
    bound = apply(guarded, [binding("view", account("shop"))], "--dry-run=server")
    assert (bound.done, bound.rules) == (True, ["tenant-cluster-pod-list"])
    everyone = {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:authenticated"}
    # Two tenants, one sentence.
    assert apply(guarded, [binding("view", everyone)], "--dry-run=server").rules == [
        "tenant-cluster-pod-list"
    ]
    label = f"{names.TENANT_LABEL}=shop"
    labelled = kubectl(guarded, "label", "namespace", "agents", label, *AS_LABELLER)
    assert (labelled.done, labelled.rules) == (True, ["tenant-labels"])


def test_what_breaks_no_rule_is_not_spoken_of(guarded: Kube) -> None:
    for kind in ("Pod", "Deployment", "CronJob"):
        assert apply(guarded, [workload(kind, "shop", "quiet")], "--dry-run=server").rules == []
