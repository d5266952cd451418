"""Why something is not ready, decided from what a cluster says; the messages are real ones of Kubernetes 1.35."""

from typing import Any

import pytest

from components.layer import parts
from components.settings.model import Settings
from components.tenant.signals import own_workloads
from diagnosis.finding import remedy_for
from diagnosis.findings import declared_nodes, findings
from diagnosis.report import WIDTH, report
from diagnosis.snapshot import Snapshot
from tests.support.environments import INCIDENT, changed, parsed

FULL = (
    "0/15 nodes are available: 1 Too many pods, 14 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to "
    "deallocate, preemption: 0/15 nodes are available: 1 No preemption victims found for incoming pod, 14 Preemption "
    "is not helpful for scheduling."
)
REFUSED = 'Error creating: pods "alloy-vzlq5" is forbidden: violates PodSecurity "baseline:latest": hostPath volumes'
GROUPS = {"web": 5, "workers": 9, "batch": 1}


def node(name: str, group: str, *taints: dict[str, str], **labels: str) -> dict[str, Any]:
    own = {"kubernetes.io/os": "linux", "eks.amazonaws.com/nodegroup": group}
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    metadata = {"name": name, "labels": {**own, **labels}}
    return {"metadata": metadata, "spec": {"taints": list(taints)}, "status": ready}


BATCH = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
NODES = [
    node(f"{group}-{i}", group, *([BATCH] if group == "batch" else []))
    for group, n in GROUPS.items()
    for i in range(n)
]


def item(kind: str, namespace: str, name: str, app: str = "", **more: Any) -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": app or name}
    metadata = {"namespace": namespace, "name": name, "uid": f"{kind}-{namespace}-{name}", "labels": labels}
    return {"kind": kind, "metadata": metadata, "spec": {}, **more}


def pod(namespace: str, app: str, on: str = "", **status: Any) -> dict[str, Any]:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    return item("Pod", namespace, f"{app}-{on or 'x'}", app, spec={"nodeName": on}, status=status or ready)


def pending(app: str, on: str, message: str) -> dict[str, Any]:
    """A DaemonSet's pod without a node: which it is meant for is told by its affinity alone."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [on]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return item("Pod", "observability-nodes", f"{app}-p", app, spec={"affinity": {"nodeAffinity": required}},
                status={"phase": "Pending", "conditions": [unscheduled]})  # fmt: skip


def healthy() -> list[dict[str, Any]]:
    agents = [
        made
        for app in ("alloy", "node-exporter")
        for made in (
            item("DaemonSet", "observability-nodes", app),
            *(pod("observability-nodes", app, n["metadata"]["name"]) for n in NODES),
        )
    ]
    stores = [
        made
        for app in parts.deployments(parsed(INCIDENT))
        for made in (item("Deployment", "observability", app), pod("observability", app, "workers-0"))
    ]
    own = [
        made
        for namespace, app in own_workloads(parsed(INCIDENT))
        for made in (item("Deployment", namespace, app), pod(namespace, app, "workers-0"))
    ]
    assert len(own) == 2 * 5
    return [*agents, *stores, *own]


def snapshot(
    objects: list[dict[str, Any]],
    events: tuple[dict[str, Any], ...] = (),
    nodes: list[dict[str, Any]] | None = None,
) -> Snapshot:
    namespaces = frozenset({"observability", "observability-nodes"})
    return Snapshot(NODES if nodes is None else nodes, objects, events, namespaces)


def event(about: dict[str, Any], message: str, reason: str = "FailedCreate") -> dict[str, Any]:
    reference = {"kind": about["kind"], **{k: about["metadata"][k] for k in ("namespace", "name", "uid")}}
    times = {"lastTimestamp": "2026-11-30T17:00:00Z"}
    namespace = about["metadata"]["namespace"]
    return {
        "involvedObject": reference,
        "reason": reason,
        "message": message,
        "metadata": {"namespace": namespace},
        **times,
    }


def without(objects: list[dict[str, Any]], kind: str, name: str) -> list[dict[str, Any]]:
    kept = [o for o in objects if (o["kind"], o["metadata"]["name"]) != (kind, name)]
    assert len(kept) == len(objects) - 1
    return kept


@pytest.fixture
def settings() -> Settings:
    return parsed(INCIDENT)


def test_a_healthy_cluster_has_no_findings(settings: Settings) -> None:
    assert findings(settings, snapshot(healthy())) == []


def test_an_agent_that_waits_for_a_slot_is_named_with_its_node_and_the_schedulers_reason(
    settings: Settings,
) -> None:
    objects = [*without(healthy(), "Pod", "alloy-web-3"), pending("alloy", "web-3", FULL)]
    (found,) = findings(settings, snapshot(objects))
    assert (found.subject, found.node, found.reason) == ("DaemonSet observability-nodes/alloy", "web-3", FULL)
    assert "spec.nodeName=web-3" in found.remedy
    assert "agents.preempt" in found.remedy


def test_agents_that_fail_for_the_same_reason_are_told_once_with_their_nodes(settings: Settings) -> None:
    def crashing(on: str, seconds: int) -> dict[str, Any]:
        message = f"back-off {seconds}s restarting failed container=alloy pod=alloy-{on}_observability-nodes"
        state = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
        containers = [{"name": "alloy", "ready": False, "state": state}]
        return pod("observability-nodes", "alloy", on, phase="Running", containerStatuses=containers)

    objects = without(without(healthy(), "Pod", "alloy-web-3"), "Pod", "alloy-web-4")
    (found,) = findings(settings, snapshot([*objects, crashing("web-3", 20), crashing("web-4", 40)]))
    assert found.node == "web-3, web-4"
    assert "back-off 20s" in found.reason
    assert "kubectl logs -n observability-nodes alloy-web-3" in found.remedy


def test_a_declared_node_that_desired_forgets_is_found_by_its_undeclared_taint(settings: Settings) -> None:
    tainted = [
        node("web-3", "web", {"key": "x", "value": "y", "effect": "NoSchedule"}) if n is NODES[3] else n
        for n in NODES
    ]
    objects = without(without(healthy(), "Pod", "alloy-web-3"), "Pod", "node-exporter-web-3")
    found = findings(settings, snapshot(objects, nodes=tainted))
    assert [(f.subject, f.node) for f in found] == [
        ("DaemonSet observability-nodes/alloy", "web-3"),
        ("DaemonSet observability-nodes/node-exporter", "web-3"),
    ]
    assert all("x=y:NoSchedule" in f.reason and "cluster.nodeGroups.web.taints" in f.remedy for f in found)


def test_a_node_that_is_not_ready_is_not_called_a_missing_taint(settings: Settings) -> None:
    taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
    gone = [node("web-3", "web", taint) if n is NODES[3] else n for n in NODES]
    (found,) = findings(settings, snapshot(without(healthy(), "Pod", "alloy-web-3"), nodes=gone))
    assert "not ready" in found.remedy
    assert "cluster.nodeGroups" not in found.remedy


def test_a_refused_agent_is_told_once_and_not_per_node(settings: Settings) -> None:
    objects = [
        o for o in healthy() if not (o["kind"] == "Pod" and o["metadata"]["name"].startswith("alloy-"))
    ]
    owner = next(o for o in objects if o["metadata"]["name"] == "alloy")
    (found,) = findings(settings, snapshot(objects, (event(owner, REFUSED),)))
    assert found.reason == REFUSED
    assert "Pod Security" in found.remedy


def test_a_rollout_of_which_the_next_pods_are_refused_is_found_although_the_old_pods_run(
    settings: Settings,
) -> None:
    objects = without(without(healthy(), "Pod", "alloy-web-3"), "Pod", "alloy-web-4")
    owner = next(o for o in objects if o["metadata"]["name"] == "alloy")
    combined = f"(combined from similar events): {REFUSED}"
    (found,) = findings(settings, snapshot(objects, (event(owner, combined),)))
    assert (found.node, found.reason) == ("web-3, web-4", REFUSED)


def test_of_many_refused_nodes_only_the_first_are_named(settings: Settings) -> None:
    objects = [o for o in healthy() if not o["metadata"]["name"].startswith("alloy-")]
    owner = next(o for o in objects if o["metadata"]["name"] == "alloy")
    (found,) = findings(settings, snapshot(objects, (event(owner, REFUSED),)))
    assert found.node == "batch-0, web-0, web-1, web-2, web-3 and 10 more"


def test_a_refused_pod_of_a_store_is_found_beside_the_old_pod(settings: Settings) -> None:
    short = item(
        "ReplicaSet", "observability", "loki-2", "loki", spec={"replicas": 1}, status={"replicas": 0}
    )
    (found,) = findings(settings, snapshot([*healthy(), short], (event(short, REFUSED),)))
    assert (found.subject, found.reason) == ("Deployment observability/loki", REFUSED)


def test_an_old_refusal_of_a_replica_set_that_has_its_pods_is_no_finding(settings: Settings) -> None:
    full = item("ReplicaSet", "observability", "loki-2", "loki", spec={"replicas": 1}, status={"replicas": 1})
    assert findings(settings, snapshot([*healthy(), full], (event(full, REFUSED),))) == []


def test_a_pod_that_goes_away_is_a_finding_only_while_no_other_does_its_work(settings: Settings) -> None:
    going = pod("observability", "loki", "workers-1")
    going["metadata"]["deletionTimestamp"] = "2026-11-30T17:00:00Z"
    assert findings(settings, snapshot([*healthy(), going])) == []
    (found,) = findings(settings, snapshot([*without(healthy(), "Pod", "loki-workers-0"), going]))
    assert found.reason.startswith("is being deleted since 2026-11-30T17:00:00Z")


def test_an_old_refusal_of_agents_that_run_now_is_no_finding(settings: Settings) -> None:
    owner = next(o for o in healthy() if o["metadata"]["name"] == "alloy")
    assert findings(settings, snapshot(healthy(), (event(owner, REFUSED),))) == []


def test_a_missing_daemon_set_and_a_missing_store_are_findings(settings: Settings) -> None:
    objects = without(without(healthy(), "DaemonSet", "alloy"), "Deployment", "loki")
    assert {f.subject for f in findings(settings, snapshot(objects))} == {
        "DaemonSet observability-nodes/alloy",
        "Deployment observability/loki",
    }


def test_of_a_layer_that_is_not_deployed_no_single_object_is_missed(settings: Settings) -> None:
    (found,) = findings(settings, Snapshot(NODES, [], (), frozenset()))
    assert found.reason == "it is not deployed: its namespaces do not exist"


def test_an_image_that_cannot_be_pulled_is_told_in_the_kubelets_words(settings: Settings) -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "quay.io/x"'}}
    containers = [{"name": "prometheus", "ready": False, "state": waiting}]
    broken = pod("observability", "prometheus", "workers-0", phase="Pending", containerStatuses=containers)
    (found,) = findings(settings, snapshot([*without(healthy(), "Pod", "prometheus-workers-0"), broken]))
    assert found.reason == 'container prometheus: ImagePullBackOff: Back-off pulling image "quay.io/x"'
    assert "registry" in found.remedy


def test_a_claim_that_is_not_bound_is_told_with_its_event(settings: Settings) -> None:
    claim = item("PersistentVolumeClaim", "observability", "loki", status={"phase": "Pending"})
    message = "no persistent volumes available for this claim and no storage class is set"
    (found,) = findings(settings, snapshot([*healthy(), claim], (event(claim, message, "FailedBinding"),)))
    assert (found.subject, found.reason) == ("PersistentVolumeClaim observability/loki", message)
    assert "layer.storageClass" in found.remedy


def test_a_tenants_refused_pod_is_told_apart(settings: Settings) -> None:
    about = item("DaemonSet", "shop", "legacy")
    message = 'daemonsets.apps "legacy" is forbidden: exceeded quota: shared-observability-pods'
    (found,) = findings(settings, snapshot(healthy(), (event(about, message),)))
    assert found.tenant
    assert "no fault of the deployment" in report([found], "prod")
    assert report([found], "prod").startswith("All of the layer's objects are ready.")


def test_windows_fargate_and_undeclared_nodes_need_no_agent(settings: Settings) -> None:
    others = [
        node("w", "web", **{"kubernetes.io/os": "windows"}),
        node("f", "web", **{"eks.amazonaws.com/compute-type": "fargate"}),
        node("o", "other"),
    ]
    assert set(declared_nodes(settings, [*NODES, *others])) == {n["metadata"]["name"] for n in NODES}


def test_a_signal_that_is_off_is_not_missed() -> None:
    settings = parsed(changed(INCIDENT, ("layer.logs", "off")))
    gone = [
        o for o in healthy() if o["metadata"]["labels"]["app.kubernetes.io/name"] not in ("alloy", "loki")
    ]
    assert findings(settings, snapshot(gone)) == []


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        (FULL, "max-pods"),
        ("1 node(s) had untolerated taint(s) {x: y}", "cluster.nodeGroups.<group>.taints"),
        ("0/3 nodes are available: 1 Insufficient memory.", "describe node web-0"),
        ("1 node(s) didn't have free ports for the requested pod ports", "kind: existing"),
        (
            "ValidatingAdmissionPolicy 'shared-observability-tenant-workloads' with binding 'b' denied request: x",
            "layer.admission.exemptions",
        ),
        ("exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4", "resourcequota -n shop"),
        ("container c: CrashLoopBackOff: back-off 40s", "kubectl logs -n shop p --all-containers --previous"),
        ("pod has unbound immediate PersistentVolumeClaims", "StorageClass"),
        ("0/9 nodes are available: 9 node(s) didn't match Pod's node affinity/selector", "layer.runsOn"),
        ("something else entirely", "kubectl describe pod -n shop p"),
    ],
)
def test_each_reason_has_a_remedy_that_names_object_and_node(reason: str, says: str) -> None:
    text = remedy_for(reason, "Pod shop/p", "web-0")
    assert says in text
    assert "{" not in text.replace("{kind: existing, selector: ...}", "")


def test_the_report_is_at_most_as_wide_as_a_terminal(settings: Settings) -> None:
    objects = [*without(healthy(), "Pod", "alloy-web-3"), pending("alloy", "web-3", FULL)]
    text = report(findings(settings, snapshot(objects)), "prod")
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.startswith("1 of the layer's objects is not ready:")


def test_a_command_in_a_remedy_names_the_environment_or_it_would_act_on_dev(settings: Settings) -> None:
    gone = without(healthy(), "DaemonSet", "alloy")
    text = report(findings(settings, snapshot(gone)), "prod")
    assert "make repair ENV=prod" in text
    assert "make up ENV=prod" in text
