"""The nodes of the stand-in's managed groups, on the simulated cluster: what EC2 and kubelet are to EKS."""

import threading

from components.settings.model import Taint
from simulator import nodes
from simulator.api import Api, Object
from simulator.nodes import Nodes
from tests.support.aws.eks_service.node_groups import GroupNodes

GROUP_LABEL = "eks.amazonaws.com/nodegroup"


class WorkerNodes:
    """Hears of each group, and makes its nodes as they are to be: labels, taints, and the max-pods that EKS gives."""

    def __init__(self, api: Api) -> None:
        self._api, self._nodes, self._lock = api, Nodes(api), threading.Lock()

    def changed(self, group: GroupNodes) -> None:
        """A group has these nodes from now on; returns when they are ready, as EKS's groups become active then."""
        with self._lock:
            wanted = {node["metadata"]["name"]: node for node in _nodes_of(group)}
            there = {node["metadata"]["name"]: node for node in self._of(group.group)}
            self._nodes.remove(*(name for name in there if name not in wanted))
            for name in set(there) & set(wanted):
                self._update(name, there[name], wanted[name])
            self._nodes.add(*(node for name, node in wanted.items() if name not in there))

    def remove_all(self) -> None:
        """For a test that is over."""
        with self._lock:
            self._nodes.remove(*(node["metadata"]["name"] for node in self._api.list("nodes")))

    def _of(self, group: str) -> list[Object]:
        return self._api.list("nodes", labelSelector=f"{GROUP_LABEL}={group}")

    def _update(self, name: str, there: Object, wanted: Object) -> None:
        """EKS puts changed labels and taints on nodes that run; their max-pods stay."""
        old, new = there["metadata"]["labels"], wanted["metadata"]["labels"]
        labels = {**{key: None for key in old if key.startswith("team/") and key not in new}, **new}
        self._api.patch(
            "nodes", name, {"metadata": {"labels": labels}, "spec": {"taints": wanted["spec"]["taints"]}}
        )


def _nodes_of(group: GroupNodes) -> list[Object]:
    taints = [Taint.model_validate(taint) for taint in group.taints]
    return [
        nodes.node(
            f"{group.group}-{index}",
            labels={**group.labels, GROUP_LABEL: group.group, "eks.amazonaws.com/capacityType": "ON_DEMAND"},
            taints=taints,
            instance_type=group.instance_types[index % len(group.instance_types)],
            max_pods=group.max_pods,
        )
        for index in range(group.count)
    ]
