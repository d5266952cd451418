"""Simulated nodes: those that an environment declares, and the others that a test needs beside them."""

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from components.cluster import instance_types, node_groups
from components.settings.model import Cluster, NodeGroup, Taint
from simulator.api import Api, Object
from simulator.tools import SimulatorError
from simulator.waiting import wait_until

ZONES = ("eu-central-1a", "eu-central-1b", "eu-central-1c")
# For a group that states max-pods and no instance type.
DEFAULT_VCPUS, DEFAULT_MEMORY_MIB = 4, 16 * 1024
EVICTION_MIB = 100
READY_SECONDS = 60


def of_cluster(cluster: Cluster) -> list[Object]:
    """Every declared node, named `<group>-<i>`; of an autoscaled group its minimum, at least one."""
    nodes = [
        of_group(name, group, index)
        for name, group in cluster.node_groups.items()
        for index in range(max(node_groups.nodes_min(group), 1))
    ]
    names = [node["metadata"]["name"] for node in nodes]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise SimulatorError(
            f"groups whose names differ by case or _ only share node names: {', '.join(twice)}"
        )
    return nodes


def of_group(name: str, group: NodeGroup, index: int, *, starting: bool = False) -> Object:
    """One node of a declared group; `starting` as it is before something removes the group's startup taints."""
    types = group.instance_types
    instance_type = types[index % len(types)] if types else ""
    return node(
        f"{name.lower().replace('_', '-')}-{index}",
        labels=group_labels(name, group) | _zone(index),
        taints=group.taints + (group.startup_taints if starting else ()),
        instance_type=instance_type,
        max_pods=node_groups.max_pods(group),
    )


def group_labels(name: str, group: NodeGroup) -> dict[str, str]:
    """The labels by which a group's nodes are known; of several values the first."""
    selector = node_groups.selector(name, group)
    auto = {"eks.amazonaws.com/compute-type": "auto"} if group.kind == "autoMode" else {}
    return {selector.key: selector.values[0], **auto}


def node(
    name: str,
    *,
    labels: dict[str, str],
    taints: Iterable[Taint] = (),
    instance_type: str = "",
    max_pods: int,
    system: str = "linux",
) -> Object:
    """A node that registers as a kubelet does, with its size and taints already on it."""
    found = instance_types.lookup(instance_type)
    vcpus = found.vcpus if found else DEFAULT_VCPUS
    memory = found.memory_mib if found else DEFAULT_MEMORY_MIB
    architecture = "arm64" if found and found.architecture.startswith("arm64") else "amd64"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": system,
                "kubernetes.io/arch": architecture,
                **({"node.kubernetes.io/instance-type": instance_type} if instance_type else {}),
                **labels,
            },
        },
        "spec": {"taints": [taint.model_dump() for taint in taints]},
        "status": {
            "capacity": {"cpu": str(vcpus), "memory": f"{memory}Mi", "pods": str(max_pods)},
            "allocatable": _allocatable(vcpus, memory, max_pods),
            "nodeInfo": {"operatingSystem": system, "architecture": architecture},
            "addresses": [
                {"type": "InternalIP", "address": _address(name)},
                {"type": "Hostname", "address": name},
            ],
        },
    }


def _allocatable(vcpus: int, memory_mib: int, max_pods: int) -> dict[str, str]:
    """What the EKS images leave to pods, as in their `nodeadm/internal/kubelet/config.go`.

    Reserved are 6 % of the first CPU, 1 % of the second, 0.5 % of the next two and 0.25 % of the rest, and 255 Mi with
    11 Mi for each of max-pods, beside the eviction threshold.
    """
    shares = [60, 10, 5, 5]
    reserved = sum(shares[:vcpus]) + max(vcpus - len(shares), 0) * 2.5
    memory = max(memory_mib - 255 - 11 * max_pods - EVICTION_MIB, memory_mib // 4)
    return {"cpu": f"{vcpus * 1000 - int(reserved)}m", "memory": f"{memory}Mi", "pods": str(max_pods)}


def _address(name: str) -> str:
    """Of a node, which is that of its hostNetwork pods too: 198.18.0.0/15, the range for benchmarks, is nobody's."""
    number = zlib.crc32(name.encode()) % 2**17
    return f"198.{18 + number // 2**16}.{number // 256 % 256}.{number % 256}"


def _zone(index: int) -> dict[str, str]:
    return {
        "topology.kubernetes.io/region": ZONES[0][:-1],
        "topology.kubernetes.io/zone": ZONES[index % len(ZONES)],
    }


# --- nodes that no group declares, or that differ from their group ---


def fargate(name: str = "fargate-0") -> Object:
    """A Fargate node: one pod, no DaemonSet, and a taint and label of its own."""
    key = "eks.amazonaws.com/compute-type"
    taint = Taint(key=key, value="fargate", effect="NoSchedule")
    return node(name, labels={key: "fargate"}, taints=(taint,), max_pods=1)


def windows(name: str, group_name: str, group: NodeGroup) -> Object:
    """A Windows node that carries a declared group's label and taints: only the os label tells it apart."""
    labels = group_labels(group_name, group)
    return node(name, labels=labels, taints=group.taints, max_pods=16, system="windows")


def undeclared(name: str = "undeclared-0") -> Object:
    """A node of a managed group that the settings do not name."""
    return node(
        name, labels={"eks.amazonaws.com/nodegroup": "undeclared"}, instance_type="m5.large", max_pods=29
    )


def karpenter(name: str, pool: str, taints: Sequence[Taint] = ()) -> Object:
    """A node that Karpenter started for a pool."""
    labels = {"karpenter.sh/nodepool": pool, "karpenter.sh/capacity-type": "spot"}
    return node(name, labels=labels, taints=taints, instance_type="m5.large", max_pods=29)


def auto_mode(name: str, pool: str = "general-purpose") -> Object:
    """A node of EKS Auto Mode."""
    labels = {"karpenter.sh/nodepool": pool, "eks.amazonaws.com/compute-type": "auto"}
    return node(name, labels=labels, instance_type="c6a.large", max_pods=110)


# --- nodes of a running cluster ---


class Nodes:
    """The nodes of one simulated cluster."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def add(self, *manifests: Object) -> None:
        """Registers nodes and waits until they are Ready and take pods."""
        for manifest in manifests:
            self._api.create(manifest)
        self.wait_ready(*(manifest["metadata"]["name"] for manifest in manifests))

    def wait_ready(self, *names: str) -> None:
        """Waits until the nodes are Ready and no longer tainted as not ready."""

        def missing() -> list[str]:
            ready = {node["metadata"]["name"] for node in self._api.list("nodes") if takes_pods(node)}
            return sorted(set(names) - ready)

        wait_until(
            lambda: not missing(), READY_SECONDS, lambda: f"not Ready (see kwok.log): {', '.join(missing())}"
        )

    def remove(self, *names: str) -> None:
        """Takes nodes away, with their pods, which the controllers would forget only after 40 s."""
        for name in names:
            self._api.delete("nodes", name)
            for pod in self._api.list("pods", fieldSelector=f"spec.nodeName={name}"):
                self._api.delete("pods", pod["metadata"]["name"], pod["metadata"]["namespace"], now=True)

    def taint(self, name: str, key: str, value: str = "", effect: str = "NoSchedule") -> None:
        """Adds a taint to a node."""
        taint = {"key": key, "value": value, "effect": effect}
        self._set_taints(name, [*self._taints(name), taint])

    def untaint(self, name: str, key: str) -> None:
        """Takes a node's taints of this key away."""
        self._set_taints(name, [taint for taint in self._taints(name) if taint["key"] != key])

    def label(self, name: str, **labels: str | None) -> None:
        """Sets a node's labels, given as `**{"sim/not-ready": "true"}`; None removes one."""
        self._api.patch("nodes", name, {"metadata": {"labels": labels}})

    def _taints(self, name: str) -> list[dict[str, Any]]:
        return list(self._api.get("nodes", name)["spec"].get("taints", []))

    def _set_taints(self, name: str, taints: list[dict[str, Any]]) -> None:
        self._api.patch("nodes", name, {"spec": {"taints": taints}})


def takes_pods(node: Object) -> bool:
    """Whether a node is Ready, also for the scheduler, which waits until its taint is gone."""
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
    taints = node["spec"].get("taints", [])
    return ready and not any(taint["key"] == "node.kubernetes.io/not-ready" for taint in taints)
