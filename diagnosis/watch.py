"""Looks beside a running deployment for pods that the API server refuses, and ends the wait for them at once.

The engine would wait until its time limit: a DaemonSet whose pods are refused looks to it like one that is slow.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from components.cluster.kubectl import ClusterUnreachableError, Kubectl
from components.names import LAYER_NAMESPACE, NODES_NAMESPACE
from diagnosis.snapshot import OWN_SELECTOR, REFUSED, Object, is_own

INTERVAL_SECONDS = 3.0
# The engine's headings: what is shown before them only previews, and nothing has been changed yet.
STARTS = re.compile(r"(\x1b\[[0-9;]*m|\s)*(Updating|Destroying) \(")
CONFLICT = "Server-Side Apply field conflict detected"
# In the API server's answer to a pod that an admission plugin, policy or webhook refuses.
_REFUSAL = re.compile(r"is forbidden:|denied (the )?request|violates PodSecurity|exceeded quota")
# Whoever deploys need not have the right to make pods: then the question has no answer.
_NOT_ALLOWED_TO_ASK = "cannot create resource"


@dataclass(frozen=True)
class Refusal:
    """A workload whose pods are refused.

    Attributes:
        subject: kind, namespace and name.
        message: the API server's own.
    """

    subject: str
    message: str


OF_TENANTS = ("replicasets", "--all-namespaces", "--selector", OWN_SELECTOR)


class RefusedPods:
    """Finds workloads of the layer, and of tenant stacks, whose pods are refused, and go on being refused.

    An event of a refusal alone proves nothing: it is kept for an hour, and may be from before this deployment or before
    the cause was mended. So the API server is asked, by a dry run, whether it refuses such a pod now; and only the
    second time counts, for a workload that still lacks pods and has got none in between. Whoever deploys without the
    right to make pods cannot ask; then a refusal stands if the controller has met it again since the first look.

    Of a tenant's workloads only those count that this deployment has made or changed. The engine waits for no other,
    and a team whose pods fill its quota after its Grafana was evicted must not keep everybody else from deploying.
    """

    def __init__(self, kubectl: Kubectl) -> None:
        self._kubectl = kubectl
        self._seen: dict[str, tuple[int, ...]] = {}
        self._met: dict[str, int] = {}
        self._before: dict[str, int] | None = None

    def remember(self) -> None:
        """Takes in the workloads of tenant stacks as they are before anything is changed; without it none is judged.

        Raises:
            ClusterUnreachableError: if the cluster does not answer.
        """
        self._before = {
            item["metadata"]["uid"]: _generation(item) for item in self._kubectl.objects(*OF_TENANTS)
        }

    def _is_touched(self, item: Object) -> bool:
        return self._before is not None and self._before.get(item["metadata"]["uid"]) != _generation(item)

    def look(self) -> Refusal | None:
        """The first refusal that stands.

        Raises:
            ClusterUnreachableError: if the cluster does not answer.
        """
        seen, self._seen = self._seen, {}
        for item, events in self._with_refusals():
            uid, progress = item["metadata"]["uid"], _progress(item)
            if progress is None:
                continue
            message = self._refused_now(item)
            if message is None:
                message = self._met_again(uid, events)
            if message and seen.get(uid) == progress:
                place = f"{item['metadata']['namespace']}/{item['metadata']['name']}"
                return Refusal(f"{item['kind']} {place}", message)
            if message:
                self._seen[uid] = progress
        return None

    def _met_again(self, uid: str, events: Sequence[Object]) -> str:
        """The newest refusal in the controller's words, if there are more of them than at the first look."""
        met = sum(event.get("count") or 1 for event in events)
        if met <= self._met.setdefault(uid, met):
            return ""
        newest: Object = max(events, key=lambda event: event.get("lastTimestamp") or "")
        return str(newest.get("message", ""))

    def _with_refusals(self) -> Iterator[tuple[Object, list[Object]]]:
        """Workloads of the layer, and of tenant stacks what was touched, with the events of their refused pods."""
        refused = ("--field-selector", f"type=Warning,reason={REFUSED}")
        for namespace in (LAYER_NAMESPACE, NODES_NAMESPACE):
            here = ("--namespace", namespace)
            events = self._kubectl.objects("events", *here, *refused)
            yield from self._among(events, "daemonsets,replicasets", *here)
        events = self._kubectl.objects("events", "--all-namespaces", *refused)
        own = self._among([event for event in events if is_own(event["involvedObject"])], *OF_TENANTS)
        yield from ((item, about) for item, about in own if self._is_touched(item))

    def _among(self, events: Sequence[Object], *asked: str) -> Iterator[tuple[Object, list[Object]]]:
        if not events:
            return
        for item in self._kubectl.objects(*asked):
            uid = item["metadata"]["uid"]
            if about := [event for event in events if event["involvedObject"].get("uid") == uid]:
                yield item, about

    def _refused_now(self, item: Object) -> str | None:
        """The API server's refusal of such a pod, empty if there is none; None for whoever may not ask."""
        template = item["spec"]["template"]
        metadata = {**template["metadata"], "generateName": f"{item['metadata']['name']}-"}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
        namespace = item["metadata"]["namespace"]
        try:
            self._kubectl.call(
                "create", "--dry-run=server", "--namespace", namespace, "-f", "-", stdin=json.dumps(pod)
            )
        except ClusterUnreachableError as error:
            text = str(error)
            if _NOT_ALLOWED_TO_ASK in text:
                return None
            return text if _REFUSAL.search(text) else ""
        return ""


def _generation(item: Object) -> int:
    return int(item["metadata"].get("generation", 0))


def _progress(item: Mapping[str, Any]) -> tuple[int, ...] | None:
    """How far a workload that lacks pods has come; None for one that has all, or whose controller is not there yet."""
    status, generation = item.get("status", {}), _generation(item)
    if status.get("observedGeneration", 0) != generation:
        return None
    if item["kind"] == "DaemonSet":
        wanted, has = status.get("desiredNumberScheduled", 0), status.get("currentNumberScheduled", 0)
    else:
        wanted, has = item["spec"].get("replicas", 1), status.get("replicas", 0)
    return (generation, wanted, has, status.get("updatedNumberScheduled", 0)) if has < wanted else None


class Watch:
    """Listens to one run of the engine; while it changes the cluster, looks for refusals, and interrupts it for one.

    Attributes:
        began: whether the engine has begun to change something.
        conflict: whether it met a field that somebody else has changed.
        refusal: for which it was interrupted.
    """

    def __init__(self, kubectl: Kubectl | None, *, interval: float = INTERVAL_SECONDS) -> None:
        """Says what to look at.

        Args:
            kubectl: reads the cluster; None looks at nothing.
            interval: seconds between two looks.
        """
        self.began = False
        self.conflict = False
        self.refusal: Refusal | None = None
        self._pods = RefusedPods(kubectl) if kubectl else None
        self._interval = interval
        self._interrupt: Callable[[], None] = lambda: None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def started(self, interrupt: Callable[[], None]) -> None:
        """The engine runs, and can be interrupted."""
        self._interrupt = interrupt

    def heard(self, line: str) -> None:
        """One line of the engine's output."""
        self.conflict = self.conflict or CONFLICT in line
        if not self.began and STARTS.match(line):
            self.began = True
            if self._pods:
                self._thread.start()

    def ended(self) -> None:
        """The engine has ended."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _look(self) -> None:
        with suppress(ClusterUnreachableError):
            if self._pods:
                self._pods.remember()
        while self._pods and not self.refusal and not self._ended.wait(self._interval):
            try:
                self.refusal = self._pods.look()
            except ClusterUnreachableError:
                continue  # the engine says so, if it lasts
        if self.refusal and not self._ended.is_set():
            self._interrupt()
