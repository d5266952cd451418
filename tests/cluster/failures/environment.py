"""The environment of this folder as plain data, and what most of its tests ask."""

import re
from collections import Counter
from itertools import count

from components.names import ALLOY
from diagnosis.managers import ENGINE
from simulator import environment
from simulator.api import Object
from simulator.nodes import of_cluster
from tests.support.agents import AGENTS, nodes_of
from tests.support.deployment import Change, shipped
from tests.support.environments import changed
from tests.support.inventory import Inventory, everything, is_labelled
from tests.support.kube import Kube

TEAM = "shop"
# No preemption, so that an agent can lack a slot; all nodes roll at once, since these tests are not about the order.
AGENTS_SETTINGS = {"preempt": False, "maxUnavailable": 15, "timeout": "60s"}
SETTINGS = changed(
    shipped(),
    ("tenants", {TEAM: {"pods": 40}}),
    ("layer.agents", AGENTS_SETTINGS),
    ("layer.gateway.replicas", 1),
)
ALLOY_SET = f"DaemonSet observability-nodes/{ALLOY}"
_SUBJECT = re.compile(r"^(DaemonSet|Deployment|PersistentVolumeClaim|Namespace) \S+$")
_ROW = re.compile(r"^  (node|reason|remedy)  +(.*)$")
_numbers = count(1)


def new_config() -> Change:
    """A change that rolls every agent, and Prometheus: the label that all of it carries."""
    return "cluster.name", f"sim-{next(_numbers)}"


def within(seconds: int) -> Change:
    """How long a rollout of the agents may take."""
    return "layer.agents.timeout", f"{seconds}s"


def declared_nodes() -> dict[str, Object]:
    """The incident's 15 nodes as they are declared, by name."""
    nodes = of_cluster(environment.read("sim").settings.cluster)
    return {node["metadata"]["name"]: node for node in nodes}


def one_agent_on_each_node(kube: Kube) -> bool:
    """Whether every declared node has exactly one ready pod of each agent, and no other node has any."""
    wanted = Counter(dict.fromkeys(declared_nodes(), 1))
    return all(nodes_of(kube, agent) == wanted for agent in AGENTS)


def declared_objects(kube: Kube) -> Inventory:
    """Every object of ours that no controller made, without what the cluster itself writes."""
    found = everything(kube, is_labelled)
    ours = {
        ref: item
        for ref, item in found.items()
        if "ownerReferences" not in item["metadata"] and not ref.kind.startswith("endpoint")
    }
    return {ref: _as_declared(item) for ref, item in ours.items()}


def _as_declared(item: Object) -> Object:
    metadata = {key: item["metadata"].get(key) for key in ("name", "namespace", "labels")}
    return {**{key: value for key, value in item.items() if key != "status"}, "metadata": metadata}


def engines_managers(kube: Kube) -> dict[str, int]:
    """Objects of ours that the engine has touched as more than one field manager, with how many."""
    found: dict[str, int] = {}
    for ref, item in everything(kube, is_labelled).items():
        managers = [
            e["manager"] for e in item["metadata"]["managedFields"] if e["manager"].startswith(ENGINE)
        ]
        if len(set(managers)) > 1:
            found[str(ref)] = len(set(managers))
    return found


def blocks(said: str) -> dict[tuple[str, str], dict[str, str]]:
    """The report's blocks by subject and node, each with its rows unwrapped."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    subject, row, rows = "", "", dict[str, str]()
    for line in [*said.splitlines(), ""]:
        match = _ROW.match(line)
        if _SUBJECT.match(line):
            subject, row, rows = line, "", {}
        elif subject and match:
            row, rows[match[1]] = match[1], match[2]
        elif subject and row and line.startswith(" " * 10):
            rows[row] += f" {line.strip()}"
        elif subject and not line.strip():
            found[subject, rows.get("node", "")] = rows
            subject = ""
    return found
