"""Which of the layer's objects are not as declared. Pure: decides from a snapshot, and counts agents by node.

DESIRED of a DaemonSet is not asked: it forgets nodes that are not ready or carry an undeclared taint, and then looks
healthy.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from components import names
from components.cluster import live_nodes
from components.cluster.placement import for_node_agents
from components.layer import parts
from components.settings.model import Settings
from components.taints import is_hard
from components.tenant.signals import own_workloads
from components.wording import listed
from diagnosis.finding import Finding, remedy_for
from diagnosis.groups import group_findings
from diagnosis.pods import is_going, is_ready, node_of, reason_of
from diagnosis.snapshot import REFUSED, Object, Snapshot, is_own, when

SHOWN_NODES = 5
# How long the kubelet waits before it tries again: the same reason, at another moment.
_TIMES = re.compile(r"\b(\d+m)?\d+s\b")


def findings(settings: Settings, snapshot: Snapshot) -> list[Finding]:
    """Everything that is not ready, the layer's first.

    Args:
        settings: what was declared.
        snapshot: what is there.
    """
    if not snapshot.namespaces:
        remedy = "Deploy it: make up. What kept a deployment from it is in the engine's own message"
        return [Finding("The layer", "", "it is not deployed: its namespaces do not exist", remedy)]
    found = [
        *group_findings(settings, [live_nodes.facts(node) for node in snapshot.nodes]),
        *(f for app in parts.node_agents(settings) for f in _agents(app, settings, snapshot)),
        *(
            f
            for app in parts.deployments(settings)
            for f in _deployment(names.LAYER_NAMESPACE, app, snapshot)
        ),
        *(f for namespace, app in own_workloads(settings) for f in _deployment(namespace, app, snapshot)),
        *_claims(snapshot),
    ]
    return [*dict.fromkeys(found), *dict.fromkeys(_tenants(snapshot))]


def declared_nodes(settings: Settings, nodes: Iterable[Object]) -> dict[str, str]:
    """Group of each node that must have agents, by the node's name; Windows and Fargate nodes are left out."""
    members = live_nodes.by_group(settings, [live_nodes.facts(node) for node in nodes])
    return {node.name: name for name, found in members.items() for node in found}


def _agents(app: str, settings: Settings, snapshot: Snapshot) -> Iterator[Finding]:
    subject = f"DaemonSet {names.NODES_NAMESPACE}/{app}"
    owner = _named(snapshot, "DaemonSet", names.NODES_NAMESPACE, app)
    if owner is None:
        yield _missing(subject)
        return
    pods = [pod for pod in snapshot.of_kind("Pod") if _app(pod, names.NODES_NAMESPACE) == app]
    refusals = snapshot.events_of(owner, REFUSED)
    by_node = {node_of(pod): pod for pod in sorted(pods, key=is_ready)}
    nodes = {node["metadata"]["name"]: node for node in snapshot.nodes}
    refused: list[str] = []
    unready: list[Object] = []
    for node, group in sorted(declared_nodes(settings, list(snapshot.nodes)).items()):
        if node in by_node:
            unready += [] if is_ready(by_node[node]) else [by_node[node]]
        elif tainted := _tainted(subject, nodes[node], group, settings):
            yield tainted
        elif refusals:
            refused.append(node)
        else:
            yield _no_agent(subject, node, group)
    yield from _by_reason(subject, unready, snapshot)
    if refused:
        yield _told(subject, _refusal(refusals), subject, listed(refused, SHOWN_NODES))


def _by_reason(subject: str, pods: Sequence[Object], snapshot: Snapshot) -> Iterator[Finding]:
    """One finding for all nodes with the same reason, told of the first: a bad image is the same on all."""
    alike: dict[str, list[Object]] = {}
    for pod in pods:
        own = re.compile("|".join(re.escape(str(pod["metadata"][key])) for key in ("name", "uid")))
        alike.setdefault(_TIMES.sub("", own.sub("", reason_of(pod, snapshot))), []).append(pod)
    for group in alike.values():
        first, nodes = group[0], [node_of(pod) for pod in group]
        reason = reason_of(first, snapshot)
        yield Finding(
            subject, listed(nodes, SHOWN_NODES), reason, remedy_for(reason, _of_pod(first), nodes[0])
        )


def _refusal(events: Sequence[Object]) -> str:
    """The newest event's message; one that stands for many says so at its start, which tells nothing."""
    return str(events[-1]["message"]).removeprefix("(combined from similar events): ")


def _tainted(subject: str, node: Object, group: str, settings: Settings) -> Finding | None:
    """A node that the DaemonSet makes no pod for because of a taint: no pod means no message, so the taint says why."""
    name = node["metadata"]["name"]
    tolerated = {(t.key, t.value, t.effect) for t in for_node_agents(settings.cluster).tolerations}
    for taint in node["spec"].get("taints") or []:
        key, value, effect = taint["key"], taint.get("value", ""), taint["effect"]
        if is_hard(effect) and (key, value, effect) not in tolerated:
            if key.startswith("node.kubernetes.io/"):
                return _told(subject, f"the node is NotReady: taint {key}:{effect}", f"Node /{name}", name)
            return Finding(
                subject,
                name,
                f"no pod: the node has the taint {key}={value}:{effect}, which group '{group}' does not declare",
                f"Declare it under cluster.nodeGroups.{group}.taints and deploy, or remove it: "
                f"kubectl taint node {name} {key}-",
            )
    return None


def _no_agent(subject: str, node: str, group: str) -> Finding:
    return Finding(
        subject,
        node,
        f"no pod, although the node belongs to group '{group}'",
        f"See: kubectl describe daemonset -n {names.NODES_NAMESPACE}; whether it is as deployed tells: make drift",
    )


def _deployment(namespace: str, app: str, snapshot: Snapshot) -> Iterator[Finding]:
    subject = f"Deployment {namespace}/{app}"
    owner = _named(snapshot, "Deployment", namespace, app)
    if owner is None:
        yield _missing(subject)
        return
    pods = [pod for pod in snapshot.of_kind("Pod") if _app(pod, namespace) == app]
    ready = any(is_ready(pod) for pod in pods)
    # A pod that is going away is nothing wrong once another does its work.
    unready = [pod for pod in pods if not is_ready(pod) and not (ready and is_going(pod))]
    refusals = [
        event for item in _short(namespace, app, snapshot) for event in snapshot.events_of(item, REFUSED)
    ]
    if refusals:
        reason = _refusal(refusals)
        # The tenant's own number is used up: by the team's pods, and no deployment of anything else would mend it.
        own_quota = names.PODS_QUOTA in reason and namespace != names.LAYER_NAMESPACE
        yield replace(_told(subject, reason, subject), tenant=own_quota)
    for pod in unready:
        yield _told(subject, reason_of(pod, snapshot), _of_pod(pod), node_of(pod))
    if not pods and not refusals:
        yield Finding(subject, "", "no pod", f"See: kubectl describe deployment -n {namespace} {app}")


def _short(namespace: str, app: str, snapshot: Snapshot) -> Iterator[Object]:
    """Its ReplicaSets that have fewer pods than they want: also beside an old one whose pods still run."""
    for item in snapshot.of_kind("ReplicaSet"):
        short = item.get("status", {}).get("replicas", 0) < item["spec"].get("replicas", 1)
        if short and _app(item, namespace) == app:
            yield item


def _claims(snapshot: Snapshot) -> Iterator[Finding]:
    for claim in snapshot.of_kind("PersistentVolumeClaim"):
        if claim.get("status", {}).get("phase") == "Bound":
            continue
        subject = f"PersistentVolumeClaim {claim['metadata']['namespace']}/{claim['metadata']['name']}"
        warnings = snapshot.events_of(claim)
        reason = str(warnings[-1]["message"]) if warnings else "not bound"
        yield _told(subject, reason, subject)


def _tenants(snapshot: Snapshot) -> Iterator[Finding]:
    """Pods that a tenant's quota or Pod Security level refuses now: theirs to mend, but they will ask.

    An event stays for an hour. Of each workload the last refusal counts, unless a pod of it was made after that.
    """
    made = {_workload(event): when(event) for event in sorted(snapshot.made, key=when)}
    refusals = {_workload(event): event for event in sorted(snapshot.events, key=when) if _is_tenants(event)}
    for workload, event in refusals.items():
        if when(event) >= made.get(workload, ""):
            about = event["involvedObject"]
            subject = f"{about['kind']} {about['namespace']}/{about['name']}"
            yield Finding(subject, "", event["message"], remedy_for(event["message"], subject), tenant=True)


def _is_tenants(event: Object) -> bool:
    about = event["involvedObject"]
    return about.get("namespace") not in (names.LAYER_NAMESPACE, names.NODES_NAMESPACE) and not is_own(about)


def _workload(event: Object) -> tuple[str, str, str]:
    """What makes the pods: for a ReplicaSet its Deployment, whose mended version is another ReplicaSet."""
    about = event["involvedObject"]
    kind, name = str(about["kind"]), str(about["name"])
    return kind, str(about.get("namespace", "")), name.rpartition("-")[0] if kind == "ReplicaSet" else name


def _missing(subject: str) -> Finding:
    remedy = "If it was deployed, somebody has removed it: make repair. Else: make up"
    return Finding(subject, "", "it does not exist", remedy)


def _told(subject: str, reason: str, about: str, node: str = "") -> Finding:
    """A finding in Kubernetes' own words; `about` is the object that they are about, as `Kind namespace/name`."""
    return Finding(subject, node, reason, remedy_for(reason, about, node))


def _of_pod(pod: Object) -> str:
    return f"Pod {pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _app(item: Mapping[str, Any], namespace: str) -> str:
    here = item["metadata"]["namespace"] == namespace
    return str((item["metadata"].get("labels") or {}).get("app.kubernetes.io/name", "")) if here else ""


def _named(snapshot: Snapshot, kind: str, namespace: str, name: str) -> Object | None:
    of_kind = (item for item in snapshot.of_kind(kind) if item["metadata"]["namespace"] == namespace)
    return next((item for item in of_kind if item["metadata"]["name"] == name), None)
