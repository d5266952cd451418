"""The DaemonSet rules and `landing` against where the real controller and scheduler put pods."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from components.settings.model import Taint
from policies.check import check
from policies.config import take_apart
from policies.landing import lands, of_node
from policies.manifest import Manifest, Origin
from policies.manifests import Reading
from policies.pods import Pod
from policies.values import MISSING, Field
from simulator.nodes import Nodes, node
from tests.support.kube import Kube, Object, wait_until
from tests.support.manifests import per_node

OS, ARCH, HOST = "kubernetes.io/os", "kubernetes.io/arch", "kubernetes.io/hostname"
ZONE, TYPE = "topology.kubernetes.io/zone", "node.kubernetes.io/instance-type"
POOL, CPUS, COMPUTE = "pool", "cpus", "eks.amazonaws.com/compute-type"
BARE = {"bare-linux": "linux", "bare-windows": "windows"}
"""Nodes that no DaemonSet of these tests names: whoever lands there is not limited to some nodes."""
SURPRISES = {
    "surprise-schedule": (Taint(key="surprise", value="1", effect="NoSchedule"),),
    "surprise-execute": (Taint(key="surprise", value="1", effect="NoExecute"),),
}
VALUES = {
    OS: ["linux", "windows"],
    ARCH: ["amd64", "arm64"],
    HOST: ["special-0", "gone"],
    ZONE: ["z1", "z2"],
    TYPE: ["m5.large", "t3.large"],
    POOL: ["a", "b"],
    CPUS: ["4", "8"],
    COMPUTE: ["fargate", "auto"],
}
NAMESPACE = "landing"
PLACEMENTS, TOLERATIONS = 70, 40


def fleet() -> list[Object]:
    bare = {ZONE: "z-bare", TYPE: "x9.bare"}
    special = {ZONE: "z1", TYPE: "m5.large", POOL: "a", CPUS: "8"}
    dedicated = (Taint(key="dedicated", value="batch", effect="NoSchedule"),)
    return [
        *(node(name, labels=bare, max_pods=900, system=system) for name, system in BARE.items()),
        *(node(name, labels=bare, taints=taints, max_pods=900) for name, taints in SURPRISES.items()),
        node("special-0", labels=special, max_pods=900),
        node("special-1", labels={**special, POOL: "b", CPUS: "4", COMPUTE: "auto"}, max_pods=900),
        node("dedicated-0", labels=special, taints=dedicated, max_pods=900),
    ]


@pytest.fixture(scope="module")
def cluster(kube: Kube) -> Iterator[Kube]:
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    Nodes(kube).add(*fleet())
    yield kube
    kube.delete("namespaces", NAMESPACE)
    Nodes(kube).remove(*(each["metadata"]["name"] for each in fleet()))


def placements(chance: random.Random) -> Iterator[dict[str, Any]]:
    """Random placements that the API accepts; those of the whole grammar that decide."""

    def expression() -> dict[str, Any]:
        key = chance.choice([OS, ARCH, HOST, ZONE, TYPE, POOL, POOL, CPUS, COMPUTE])
        operator = chance.choice(["In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
        if operator in ("Gt", "Lt"):
            return {"key": CPUS, "operator": operator, "values": [chance.choice(["1", "6"])]}
        found: dict[str, Any] = {"key": key, "operator": operator}
        if operator in ("In", "NotIn"):
            found["values"] = chance.sample(VALUES[key], chance.randint(1, 2))
        return found

    for _ in range(PLACEMENTS):
        pod: dict[str, Any] = {}
        if chance.random() < 0.4:
            key = chance.choice([OS, OS, ARCH, POOL, ZONE])
            pod["nodeSelector"] = {key: chance.choice(VALUES[key])}
        if chance.random() < 0.8:
            terms = [
                {"matchExpressions": [expression() for _ in range(chance.choice([1, 1, 2]))]}
                for _ in range(chance.choice([1, 1, 2]))
            ]
            if chance.random() < 0.05:
                terms = [{}]
            required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
            pod["affinity"] = {"nodeAffinity": required}
        yield pod


def tolerations(chance: random.Random) -> Iterator[dict[str, Any]]:
    def toleration() -> dict[str, str]:
        keyless = chance.random() < 0.5
        found = {} if keyless else {"key": chance.choice(["dedicated", "other"])}
        if keyless or chance.random() < 0.3:
            found["operator"] = "Exists"
        else:
            found["value"] = chance.choice(["batch", "x"])
        if chance.random() < 0.6:
            found["effect"] = chance.choice(["NoSchedule", "NoExecute"])
        return found

    for _ in range(TOLERATIONS):
        yield {"tolerations": [toleration() for _ in range(chance.choice([0, 1, 1, 2]))]}


def daemon_set(name: str, pod: dict[str, Any]) -> Object:
    containers = [{"name": "a", "image": "registry.k8s.io/pause:3.10"}]
    return per_node(NAMESPACE, name, {**pod, "containers": containers})


def where_they_run(kube: Kube, manifests: list[Object]) -> dict[str, set[str]]:
    """Nodes of each DaemonSet's pods, when the controller and the scheduler have done all they will do."""
    kube.apply(*manifests)
    names = {manifest["metadata"]["name"] for manifest in manifests}

    def settled() -> dict[str, set[str]] | None:
        sets = [each for each in kube.list("daemonsets", NAMESPACE) if each["metadata"]["name"] in names]
        if any(each.get("status", {}).get("observedGeneration") is None for each in sets):
            return None
        found: dict[str, set[str]] = {name: set() for name in names}
        for pod in kube.list("pods", NAMESPACE):
            owner = pod["metadata"]["labels"]["app"]
            if owner in names:
                found[owner].add(pod["spec"].get("nodeName", ""))
        wanted = {each["metadata"]["name"]: each["status"]["desiredNumberScheduled"] for each in sets}
        complete = all(len(found[name] - {""}) == wanted[name] for name in names)
        return found if complete else None

    found = wait_until(settled, 60, "pods that are not placed")
    assert found is not None
    return found


def verdict(manifest: Object, rule: str) -> str:
    reading = Reading([Manifest(Field(manifest), "test", Origin.FILE)])
    found = [finding for finding, _ in check(reading, take_apart({})).findings if finding.rule == rule]
    return str(found[0].verdict) if found else "pass"


def expected(manifest: Object, nodes: list[Object]) -> set[str]:
    """Where `landing` puts it."""
    pod = Pod(Field(manifest["spec"]["template"]["spec"]), MISSING, whole=True)
    return {each["metadata"]["name"] for each in nodes if lands(pod, of_node(each))}


def test_placement_and_landing_agree_with_the_real_scheduler(cluster: Kube) -> None:
    chance = random.Random(7)
    manifests = [daemon_set(f"placed-{number}", pod) for number, pod in enumerate(placements(chance))]
    found = where_they_run(cluster, manifests)
    nodes = cluster.list("nodes")
    counts = {"pass": 0, "violation": 0, "contradiction": 0}
    for manifest in manifests:
        runs_on = found[manifest["metadata"]["name"]]
        assert expected(manifest, nodes) == runs_on, manifest
        judged = verdict(manifest, "daemonset-placement")
        on_bare = runs_on & BARE.keys()
        if judged == "pass":
            assert not on_bare, manifest
        elif not on_bare:
            # What it says of universal labels contradicts itself, so it runs nowhere that is bare: still no placement.
            counts["contradiction"] += 1
        counts[judged] += 1
    assert min(counts["pass"], counts["violation"]) >= 15, counts
    assert counts["contradiction"] <= counts["violation"] // 3, counts


def test_tolerations_agree_with_the_real_scheduler(cluster: Kube) -> None:
    chance = random.Random(11)
    manifests = [daemon_set(f"tolerant-{number}", pod) for number, pod in enumerate(tolerations(chance))]
    found = where_they_run(cluster, manifests)
    nodes = cluster.list("nodes")
    counts = {"pass": 0, "violation": 0}
    for manifest in manifests:
        runs_on = found[manifest["metadata"]["name"]]
        assert expected(manifest, nodes) == runs_on, manifest
        judged = verdict(manifest, "daemonset-tolerations")
        assert (judged == "violation") == bool(runs_on & SURPRISES.keys()), manifest
        counts[judged] += 1
    assert min(counts.values()) >= 10, counts
