"""Why one pod is not ready, in the words of whoever holds it up."""

from collections.abc import Mapping
from typing import Any

from diagnosis.snapshot import Snapshot

Pod = Mapping[str, Any]


def is_ready(pod: Pod) -> bool:
    """Whether the pod's condition Ready is true and nothing deletes it."""
    conditions = pod.get("status", {}).get("conditions") or []
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return ready and not is_going(pod)


def is_going(pod: Pod) -> bool:
    """Whether something deletes the pod."""
    return "deletionTimestamp" in pod["metadata"]


def node_of(pod: Pod) -> str:
    """The pod's node; of a DaemonSet's Pending pod the one it is meant for, which only its affinity tells."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    for term in required.get("nodeSelectorTerms", []):
        for field in term.get("matchFields", []):
            if field["key"] == "metadata.name" and len(field["values"]) == 1:
                return str(field["values"][0])
    return ""


def reason_of(pod: Pod, snapshot: Snapshot) -> str:
    """Why the pod is not ready: the scheduler's message, else the kubelet's, else its newest warning."""
    status = pod.get("status", {})
    if is_going(pod):
        return f"is being deleted since {pod['metadata']['deletionTimestamp']}, and its containers have not ended"
    for condition in status.get("conditions") or []:
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return str(condition.get("message") or condition.get("reason") or "not scheduled")
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        told = _container_reason(container)
        if told and not container.get("ready"):
            return f"container {container['name']}: {told}"
    warnings = snapshot.events_of(pod)
    if warnings:
        return f"{warnings[-1].get('reason', '')}: {warnings[-1].get('message', '')}"
    for condition in status.get("conditions") or []:
        if condition["type"] == "Ready" and condition["status"] != "True":
            return str(condition.get("message") or condition.get("reason") or "not ready")
    return f"phase {status.get('phase', 'unknown')}"


def _container_reason(container: Mapping[str, Any]) -> str:
    state = container.get("state") or {}
    for phase in ("waiting", "terminated"):
        if phase in state:
            last = (container.get("lastState") or {}).get("terminated") or {}
            ended = (
                f" (last exit code {last['exitCode']}, {last.get('reason', '')})"
                if "exitCode" in last
                else ""
            )
            told = state[phase]
            return f"{told.get('reason', phase)}: {told.get('message', '')}".rstrip(": ") + ended
    return ""
