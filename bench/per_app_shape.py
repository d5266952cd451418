"""The per-app shape of the incident against this project, on simulated clusters: `python -m bench.per_app_shape`.

On each cluster the apps first take as many pods as leave room for the shared layer and the tenants' own, and no more.
Then comes, in turn, on the same nodes:

- **per app**: for each app a node-exporter and an Alloy DaemonSet that tolerate every taint, a Prometheus, a Loki, a
  kube-state-metrics and a Grafana, as one manifest; each pod requests what this project's pod of the same kind does.
- **shared**: this project, deployed by its engine, with the apps as tenants.
- **shared, one agent**: the same with `layer.hostMetrics: alloy`.

Everything is counted from the API server's answers. The nodes are simulated, so no time of an image or a process is in
the seconds; they are those of controllers and scheduler (and of the engine).
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from bench.measuring import finish, say, watch_machine, write
from components import names
from components.budget import pod_budget
from simulator import nodes, teams
from simulator.api import Object
from simulator.control_plane import ControlPlane
from simulator.nodes import Nodes
from tests.support.deployment import Deployment, shipped
from tests.support.environments import KEY, changed, parsed
from tests.support.kube import Kube

SIZES = ((15, 5), (30, 10), (60, 20))
WAIT_SECONDS = 60.0
"""Longest wait for agents of the per-app shape; those that do not run then count as Pending."""
SETTLE_SECONDS = 300.0
SYSTEM_PODS = 5  # of the cluster's own on each node, as the budget counts them
AGENTS = ("alloy", "node-exporter")
# What this project's pods of the same kind request.
REQUESTS = {
    "alloy": ("100m", "192Mi"),
    "node-exporter": ("20m", "48Mi"),
    "prometheus": ("200m", "1Gi"),
    "loki": ("220m", "544Mi"),
    "kube-state-metrics": ("50m", "190Mi"),
    "grafana": ("50m", "160Mi"),
}
UNITS = {"m": Fraction(1, 1000), "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30)}
PER_APP = "per-app"  # label of all pods of the per-app shape


@dataclass(frozen=True)
class Row:
    """What one shape takes on one cluster.

    Attributes:
        shape: its name.
        nodes: of the cluster.
        apps: on it.
        slots: pod slots of all nodes.
        agents: agent pods that its DaemonSets want.
        share: of the slots that these take.
        others: its other pods.
        cpu: cores that its pods request, agents and others.
        memory_gib: that they request.
        pending: pods of it and of the apps that found no slot in the end.
        pending_agents: agents among them.
        seconds: until all agents ran; None if they did not.
    """

    shape: str
    nodes: int
    apps: int
    slots: int
    agents: int
    share: float
    others: int
    cpu: float
    memory_gib: float
    pending: int
    pending_agents: int
    seconds: float | None


def settings_of(size: int, apps: int) -> Object:
    """The incident's nodes and layer, in the incident's proportions, with so many apps."""
    web, batch = size // 3, size // 15
    groups = {"web": web, "workers": size - web - batch, "batch": batch}
    counts = [(f"cluster.nodeGroups.{name}.nodes", number) for name, number in groups.items()]
    tenants = {f"app-{number}": {"pods": 2} for number in range(apps)}
    return changed(shipped(), *counts, ("layer.protection", "off"), ("tenants", tenants))


def quantity(text: str) -> Fraction:
    """A Kubernetes quantity such as `150m` or `256Mi`."""
    unit = next((unit for unit in UNITS if text.endswith(unit)), "")
    return Fraction(text.removesuffix(unit)) * UNITS.get(unit, Fraction(1))


def container(name: str, cpu: str, memory: str) -> Object:
    """One container that Pod Security `restricted` admits."""
    return {
        "name": name,
        "image": teams.IMAGE,
        "resources": {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }


def workload(
    kind: str, namespace: str, name: str, requests: tuple[str, str], shape: str, **spec: Any
) -> Object:
    """A DaemonSet (which tolerates every taint, as in the incident) or a Deployment."""
    labels = {"app.kubernetes.io/name": name, "bench": shape}
    pod: Object = {
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container(name, *requests)],
    }
    if kind == "DaemonSet":
        pod["tolerations"] = [{"operator": "Exists", "effect": "NoSchedule"}]
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"namespace": namespace, "name": name, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def per_app_shape(apps: int) -> list[Object]:
    """Everything that the apps' own observability consists of."""
    return [
        workload("DaemonSet" if name in AGENTS else "Deployment", f"app-{app}", name, REQUESTS[name], PER_APP)
        for app in range(apps)
        for name in REQUESTS
    ]


def app_pods(settings: Object) -> int:
    """Pods of the apps for which there is room on untainted nodes beside the shared layer and the tenants' Grafanas."""
    found = pod_budget(parsed({**settings, "gatewayKey": KEY}, "sim"))
    room = sum(group.left for group in found.groups if group.name != "batch")
    return room - sum(demand.pods for demand in found.demands if not demand.tenant) - len(settings["tenants"])


def wait(condition: Callable[[], bool], seconds: float) -> float | None:
    """Seconds until the condition held, or None."""
    started = time.monotonic()
    while not condition():
        if time.monotonic() - started > seconds:
            return None
        time.sleep(0.5)
    return time.monotonic() - started


class Cluster:
    """One simulated cluster, full of apps."""

    def __init__(self, plane: ControlPlane, size: int, apps: int, folder: Path) -> None:
        self.kube, self.size, self.apps, self._folder = Kube(plane.kubeconfig), size, apps, folder
        self._plane, self.settings = plane, settings_of(size, apps)
        declared = nodes.of_cluster(parsed({**self.settings, "gatewayKey": KEY}, "sim").cluster)
        self.slots = sum(int(node["status"]["allocatable"]["pods"]) for node in declared)
        Nodes(self.kube).add(*declared)

    def fill(self) -> int:
        """The cluster's own pods, and the apps' on the nodes without taint; how many the apps have."""
        system = [
            workload("DaemonSet", "kube-system", f"system-{at}", ("10m", "8Mi"), "system")
            for at in range(SYSTEM_PODS)
        ]
        self.kube.apply(*system)
        self._settled(lambda pods: len(pods) == SYSTEM_PODS * self.size, "system")
        total = app_pods(self.settings)
        each, rest = divmod(total, self.apps)
        for app in range(self.apps):
            self.kube.apply(teams.namespace(f"app-{app}"))
        for app in range(self.apps):
            pods = each + (app < rest)
            self.kube.apply(workload("Deployment", f"app-{app}", "app", ("5m", "8Mi"), "app", replicas=pods))
        self._settled(lambda pods: len(pods) == total, "app")
        # Their quotas: what runs, and the Grafana.
        tenants = {f"app-{app}": {"pods": each + (app < rest) + 1} for app in range(self.apps)}
        self.settings = changed(self.settings, ("tenants", tenants))
        return total

    def _settled(self, enough: Callable[[list[Object]], bool], shape: str) -> None:
        if wait(lambda: enough(self.kube.running(None, f"bench={shape}")), SETTLE_SECONDS) is None:
            raise SystemExit(
                f"the pods of {shape} do not all run: {len(self.kube.running(None, f'bench={shape}'))}"
            )

    def per_app(self) -> Row:
        """The per-app shape, deployed and removed."""
        started = time.monotonic()
        manifests = per_app_shape(self.apps)
        self.kube.apply(*manifests)
        wanted = len(AGENTS) * self.size * self.apps

        def agents() -> int:
            return sum(
                len(self.kube.running(None, f"bench={PER_APP},app.kubernetes.io/name={agent}"))
                for agent in AGENTS
            )

        found = wait(lambda: agents() == wanted, WAIT_SECONDS)
        seconds = None if found is None else time.monotonic() - started
        row = self._row("per app", self.kube.list("pods", labelSelector=f"bench={PER_APP}"), wanted, seconds)
        for manifest in manifests:
            metadata = manifest["metadata"]
            resource = f"{manifest['kind'].lower()}s"
            self.kube.delete(resource, metadata["name"], metadata["namespace"])
        wait(lambda: not self.kube.list("pods", labelSelector=f"bench={PER_APP}"), SETTLE_SECONDS)
        return row

    def shared(self) -> list[Row]:
        """This project, and the same with one agent on each node."""
        deployment = Deployment(self._folder, self._plane.kubeconfig, self.settings)
        rows = []
        for shape, host_metrics in (("shared", "node-exporter"), ("shared, one agent", "alloy")):
            started = time.monotonic()
            deployment.up(("layer.hostMetrics", host_metrics))
            # The engine waits for every DaemonSet, so all agents run now; counted all the same, below.
            seconds = time.monotonic() - started
            ours = self.kube.list("pods", labelSelector=f"{names.OWNER_LABEL}=sim")
            wanted = (2 if host_metrics == "node-exporter" else 1) * self.size
            rows.append(self._row(shape, ours, wanted, seconds))
        return rows

    def _row(self, shape: str, pods: list[Object], agents: int, seconds: float | None) -> Row:
        wait(self._quiet, 30)
        is_agent = [pod["metadata"]["labels"]["app.kubernetes.io/name"] in AGENTS for pod in pods]
        requests = [c["resources"]["requests"] for pod in pods for c in pod["spec"]["containers"]]
        pending = self.kube.list("pods", fieldSelector="status.phase=Pending")
        waiting = [
            pod
            for pod in pending
            if pod["metadata"].get("labels", {}).get("app.kubernetes.io/name") in AGENTS
        ]
        return Row(
            shape=shape,
            nodes=self.size,
            apps=self.apps,
            slots=self.slots,
            agents=agents,
            share=agents / self.slots,
            others=len(pods) - sum(is_agent),
            cpu=round(float(sum(quantity(r["cpu"]) for r in requests)), 2),
            memory_gib=round(float(sum(quantity(r["memory"]) for r in requests) / 2**30), 2),
            pending=len(pending),
            pending_agents=len(waiting),
            seconds=None if seconds is None else round(seconds, 1),
        )

    def _quiet(self) -> bool:
        """Nothing waits that the scheduler has not judged yet."""
        pending = self.kube.list("pods", fieldSelector="status.phase=Pending")
        return all(
            any(
                c["type"] == "PodScheduled" and c["status"] == "False"
                for c in p["status"].get("conditions", [])
            )
            for p in pending
        )


def measure(size: int, apps: int) -> list[Row]:
    """All shapes on one cluster."""
    with tempfile.TemporaryDirectory() as folder, ControlPlane(Path(folder) / "plane") as plane:
        (Path(folder) / "stack").mkdir()
        cluster = Cluster(plane, size, apps, Path(folder) / "stack")
        say(f"  {cluster.fill()} pods of {apps} apps run on {size} nodes")
        rows = [cluster.per_app()]
        say(f"  {line(rows[0])}")
        for row in cluster.shared():
            rows.append(row)
            say(f"  {line(row)}")
        return rows


def line(row: Row) -> str:
    """A row for people."""
    ran = "not all ran" if row.seconds is None else f"all ran after {row.seconds:.0f} s"
    return (
        f"{row.shape:<18} {row.agents:>5} agents {row.share:>6.1%} of {row.slots} slots, {row.others:>3} other pods, "
        f"{row.cpu:>6.1f} cores, {row.memory_gib:>6.1f} GiB, {row.pending:>4} Pending ({row.pending_agents} agents), "
        f"{ran}"
    )


def mistakes(rows: Sequence[Row]) -> list[str]:
    """What is not as it must be."""
    found = []
    for row in rows:
        per_node = {"per app": 2 * row.apps, "shared": 2, "shared, one agent": 1}[row.shape]
        if row.agents != per_node * row.nodes:
            found.append(f"{row.shape}, {row.nodes} nodes: {row.agents} agents, not {per_node} on each node")
        if row.shape != "per app" and (row.pending or row.seconds is None):
            found.append(f"{row.shape}, {row.nodes} nodes: {row.pending} pods are Pending")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, and writes JSON; fails if the shared layer leaves a pod Pending."""
    parser = argparse.ArgumentParser(prog="python -m bench.per_app_shape", description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=[f"{nodes}x{apps}" for nodes, apps in SIZES])
    sizes = [tuple(map(int, size.split("x"))) for size in parser.parse_args(arguments).sizes]
    end, rows = watch_machine(), []
    for size, apps in sizes:
        say(f"per-app shape: {size} nodes, {apps} apps (about {1 + size // 30} to {2 + size // 15} minutes)")
        rows += measure(size, apps)
        write("per_app_shape", told(rows), end(), mistakes(rows))
    return finish("per_app_shape", told(rows), end(), mistakes(rows))


def told(rows: Sequence[Row]) -> dict[str, Any]:
    """The results."""
    return {"rows": [asdict(row) for row in rows]}


if __name__ == "__main__":
    raise SystemExit(main())
