"""When a running deployment is interrupted: for pods that the API server refuses now, and goes on refusing."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from typing_extensions import override

from components.cluster.kubectl import Answer, ClusterUnreachableError, Kubectl
from diagnosis.watch import STARTS, RefusedPods, Watch

POD_SECURITY = (
    'Error from server (Forbidden): error when creating "STDIN": pods "alloy-" is forbidden: violates PodSecurity '
    '"restricted:latest": restricted volume types'
)
WEBHOOK = 'Error from server: error when creating "STDIN": admission webhook "x" denied the request: no'
NO_RIGHT = 'Error from server (Forbidden): pods is forbidden: User "ci" cannot create resource "pods" in API group ""'
UID = "daemon-set-uid"


def daemon_set(**status: int) -> dict[str, Any]:
    full = {"observedGeneration": 2, "desiredNumberScheduled": 15, "currentNumberScheduled": 13}
    return {
        "kind": "DaemonSet",
        "metadata": {"name": "alloy", "namespace": "observability-nodes", "uid": UID, "generation": 2},
        "spec": {"template": {"metadata": {"labels": {"app": "alloy"}}, "spec": {"hostNetwork": True}}},
        "status": {**full, **status},
    }


@dataclass(frozen=True)
class Cluster(Kubectl):
    """A cluster that answers what a test wants, and remembers what it was asked to create."""

    workloads: list[dict[str, Any]] = field(default_factory=lambda: [daemon_set()])
    events: list[dict[str, Any]] = field(default_factory=lambda: [{"involvedObject": {"uid": UID}}])
    answers: list[str] = field(default_factory=list)
    created: list[dict[str, Any]] = field(default_factory=list)
    down: list[str] = field(default_factory=list)
    place: str = "observability-nodes"

    @override
    def objects(self, *arguments: str) -> list[dict[str, Any]]:
        if self.down:
            raise ClusterUnreachableError(self.down.pop())
        if self.place not in arguments:
            return []
        return self.events if arguments[0] == "events" else self.workloads

    @override
    def call(
        self, *arguments: str, stdin: str | None = None, environment: Mapping[str, str] | None = None
    ) -> Answer:
        assert "--dry-run=server" in arguments
        self.created.append(json.loads(stdin or ""))
        if self.answers:
            raise ClusterUnreachableError(self.answers[0])
        return Answer("", ())


def cluster(*, refuses: str = "", **more: Any) -> Cluster:
    return Cluster("kubeconfig", "sim", answers=[refuses] if refuses else [], **more)


QUOTA = 'pods "x" is forbidden: exceeded quota: q'


def replica_set(name: str, *, generation: int = 1, replicas: int = 1) -> dict[str, Any]:
    return {
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "shop", "uid": UID, "generation": generation},
        "spec": {"replicas": replicas, "template": {"metadata": {}, "spec": {}}},
        "status": {"observedGeneration": generation, "replicas": 0},
    }


def tenants(*workloads: dict[str, Any], refused: str = "") -> Cluster:
    event = {"involvedObject": {"uid": UID, "name": refused or GRAFANA}}
    return cluster(refuses=QUOTA, workloads=[*workloads], events=[event], place="--all-namespaces")


GRAFANA = "shared-observability-grafana-5b8d9"


def test_a_tenants_own_grafana_that_its_quota_refuses_ends_the_wait_if_this_run_made_it() -> None:
    asked = tenants()
    pods = RefusedPods(asked)
    pods.remember()
    asked.workloads.append(replica_set(GRAFANA))
    assert pods.look() is None
    found = pods.look()
    assert found
    assert found.subject == f"ReplicaSet shop/{GRAFANA}"


def test_or_if_this_run_gave_it_its_pods_back_as_a_rollback_does() -> None:
    asked = tenants(replica_set(GRAFANA, replicas=0))
    pods = RefusedPods(asked)
    pods.remember()
    asked.workloads[0] = replica_set(GRAFANA, generation=2)
    assert pods.look() is None
    assert pods.look()


def test_a_grafana_that_was_refused_before_this_run_keeps_nobody_from_deploying() -> None:
    """Evicted, say, and the team's own pods took its place in the quota: the run does not touch it, nor wait for it."""
    asked = tenants(replica_set(GRAFANA))
    pods = RefusedPods(asked)
    pods.remember()
    assert [pods.look() for _ in range(3)] == [None] * 3
    assert asked.created == []


def test_the_teams_own_pods_are_the_teams_matter() -> None:
    asked = tenants(refused="app-5b8d9")
    pods = RefusedPods(asked)
    pods.remember()
    asked.workloads.append(replica_set("app-5b8d9"))
    assert [pods.look() for _ in range(3)] == [None] * 3


def test_of_a_cluster_that_was_not_seen_before_the_run_no_tenant_is_judged() -> None:
    pods = RefusedPods(tenants(replica_set(GRAFANA)))
    assert [pods.look() for _ in range(3)] == [None] * 3


@pytest.mark.parametrize("message", [POD_SECURITY, WEBHOOK, 'pods "x" is forbidden: exceeded quota: q'])
def test_a_refusal_that_stands_is_told_the_second_time_in_the_api_servers_words(message: str) -> None:
    pods = RefusedPods(cluster(refuses=message))
    assert pods.look() is None
    refusal = pods.look()
    assert refusal
    assert (refusal.subject, refusal.message) == ("DaemonSet observability-nodes/alloy", message)


def test_the_api_server_is_asked_about_the_pod_that_the_controller_would_make() -> None:
    asked = cluster(refuses=POD_SECURITY)
    RefusedPods(asked).look()
    (pod,) = asked.created
    assert pod["spec"] == {"hostNetwork": True}
    assert pod["metadata"] == {"labels": {"app": "alloy"}, "generateName": "alloy-"}


def test_an_old_event_is_no_refusal_once_such_pods_are_admitted() -> None:
    pods = RefusedPods(cluster())
    assert [pods.look() for _ in range(3)] == [None] * 3


def test_without_an_event_nothing_more_is_asked() -> None:
    quiet = cluster(refuses=POD_SECURITY, events=[])
    pods = RefusedPods(quiet)
    assert [pods.look() for _ in range(3)] == [None] * 3
    assert quiet.created == []


def test_a_workload_that_has_all_its_pods_is_not_asked_about() -> None:
    full = cluster(refuses=POD_SECURITY, workloads=[daemon_set(currentNumberScheduled=15)])
    pods = RefusedPods(full)
    assert [pods.look() for _ in range(3)] == [None] * 3
    assert full.created == []


def test_a_workload_whose_controller_has_not_seen_the_change_is_not_judged() -> None:
    pods = RefusedPods(cluster(refuses=POD_SECURITY, workloads=[daemon_set(observedGeneration=1)]))
    assert [pods.look() for _ in range(3)] == [None] * 3


def test_a_rollout_that_goes_on_is_not_interrupted_as_at_a_quota_that_is_just_full() -> None:
    moving = cluster(refuses='pods "x" is forbidden: exceeded quota: q', workloads=[daemon_set()])
    pods = RefusedPods(moving)
    for updated in (2, 4, 6, 8):
        moving.workloads[0] = daemon_set(updatedNumberScheduled=updated)
        assert pods.look() is None
    assert pods.look() is not None


def test_without_the_right_to_make_pods_a_refusal_stands_that_the_controller_has_met_again() -> None:
    """The roles of docs/deployer.yaml do not have it."""
    asked = cluster(refuses=NO_RIGHT, events=[event(met=7, at="10:00"), event(met=1, at="09:00", why="old")])
    pods = RefusedPods(asked)
    assert [pods.look() for _ in range(3)] == [None] * 3  # all of it may be from before
    asked.events[0] = event(met=8, at="10:01")
    assert pods.look() is None
    refusal = pods.look()
    assert refusal
    assert (refusal.subject, refusal.message) == ("DaemonSet observability-nodes/alloy", "quota")
    asked.workloads[0] = daemon_set(currentNumberScheduled=15)
    assert pods.look() is None


def event(*, met: int, at: str, why: str = "quota") -> dict[str, Any]:
    return {"involvedObject": {"uid": UID}, "count": met, "lastTimestamp": at, "message": why}


@pytest.mark.parametrize("message", [NO_RIGHT, "no answer within 60 s", "Unable to connect to the server"])
def test_an_answer_that_is_no_refusal_interrupts_nothing(message: str) -> None:
    pods = RefusedPods(cluster(refuses=message))
    assert [pods.look() for _ in range(3)] == [None] * 3


def test_a_replica_set_is_judged_by_its_own_counts() -> None:
    found = daemon_set() | {"kind": "ReplicaSet"}
    found["spec"] = {**found["spec"], "replicas": 1}
    found["status"] = {"observedGeneration": 2, "replicas": 0}
    pods = RefusedPods(cluster(refuses=POD_SECURITY, workloads=[found]))
    pods.look()
    assert pods.look() is not None
    found["status"] = {"observedGeneration": 2, "replicas": 1}
    assert pods.look() is None


# --- the engine's output ---


def run(watch: Watch, *lines: str, wait: float = 5) -> bool:
    """Whether the watch interrupts an engine that says this and then waits."""
    interrupted = threading.Event()
    watch.started(interrupted.set)
    for line in lines:
        watch.heard(line)
    found = interrupted.wait(wait)
    watch.ended()
    return found


def test_a_refusal_interrupts_the_engine_once_it_changes_the_cluster() -> None:
    watch = Watch(cluster(refuses=POD_SECURITY), interval=0.01)
    assert run(watch, "Previewing update (sim):\n", "Updating (sim):\n")
    assert watch.refusal
    assert watch.began


def test_nothing_is_looked_at_while_the_engine_previews() -> None:
    looked = cluster(refuses=POD_SECURITY)
    watch = Watch(looked, interval=0.01)
    assert not run(watch, "Previewing update (sim):\n", " ~ Updating (sim)\n", wait=0.1)
    assert looked.created == []
    assert not watch.began


@dataclass(frozen=True)
class Making(Cluster):
    """One that has a tenant's Grafana from the second time on that it is asked."""

    place: str = "--all-namespaces"
    asked: list[str] = field(default_factory=list)

    @override
    def objects(self, *arguments: str) -> list[dict[str, Any]]:
        found = super().objects(*arguments)
        if arguments[0] == "replicasets":
            self.asked.append("replicasets")
            return found if len(self.asked) > 1 else []
        return found


def test_what_tenants_had_before_is_taken_in_as_the_engine_begins() -> None:
    event = {"involvedObject": {"uid": UID, "name": GRAFANA}}
    one: dict[str, Any] = {"workloads": [replica_set(GRAFANA)], "events": [event], "answers": [QUOTA]}
    made = Watch(Making("kubeconfig", "sim", **one), interval=0.01)
    assert run(made, "Updating (sim):\n")
    there = Watch(tenants(replica_set(GRAFANA)), interval=0.01)
    assert not run(there, "Updating (sim):\n", wait=0.1)


def test_a_cluster_that_is_away_for_a_while_is_asked_again() -> None:
    watch = Watch(cluster(refuses=POD_SECURITY, down=["refused", "refused"]), interval=0.01)
    assert run(watch, "Updating (sim):\n")


def test_without_a_cluster_the_watch_only_listens() -> None:
    watch = Watch(None, interval=0.01)
    conflict = "error: Server-Side Apply field conflict detected. See ...\n"
    assert not run(watch, "Destroying (sim):\n", conflict, wait=0.05)
    assert watch.began
    assert watch.conflict


def test_the_engines_headings_are_known_with_colours_too() -> None:
    assert STARTS.match("\x1b[1m\x1b[35mUpdating (\x1b[0msim):\n")
    assert not STARTS.match("Previewing destroy (sim):\n")
