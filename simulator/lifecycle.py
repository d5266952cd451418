"""Starting and stopping an environment's simulated cluster, and what the user is told about it."""

import fcntl
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from simulator import nodes, teams
from simulator.api import Api, Object
from simulator.control_plane import ControlPlane
from simulator.environment import Environment
from simulator.tools import SimulatorError, require
from simulator.waiting import wait_until

TEAMS_SECONDS = 60


def start(environment: Environment) -> None:
    """Starts the environment's cluster, or says that it runs."""
    require(commands=["kubectl"])
    environment.check()
    plane = ControlPlane(environment.state, context=environment.target.context)
    with _alone(environment.state):
        running = plane.running()
        if running and all(running.values()):
            print(f"The simulator of {environment.name} runs already.")
            _tell_differences(environment, plane.api)
        else:
            _start_new(environment, plane)
    _show(environment, plane)


def stop(name: str, project: Path) -> None:
    """Ends the environment's cluster; what it held is gone."""
    plane = ControlPlane(project / ".simulator" / name)
    stopped = plane.stop()
    plane.clear()
    print(f"Stopped: {', '.join(stopped)}." if stopped else f"No simulator of {name} was running.")


def _start_new(environment: Environment, plane: ControlPlane) -> None:
    _empty_stack_state(environment)
    print("Starting etcd, API server, controllers, scheduler and kwok: 5 to 10 s ...", flush=True)
    plane.start(detach=True)
    try:
        api = plane.api
        nodes.Nodes(api).add(*nodes.of_cluster(environment.settings.cluster))
        _make_teams(api, teams.namespaces(environment.settings))
        _hand_over_kubeconfig(plane.kubeconfig, environment.kubeconfig)
    except BaseException:
        plane.stop()
        raise


def _empty_stack_state(environment: Environment) -> None:
    """A new cluster has none of the objects that the state lists: the engine would try to update what is not there."""
    state = environment.stack_state
    if state is None:
        print(
            f"The backend of stack {environment.name} is not a local folder, so its state is left as it is. If it "
            f"lists objects of an earlier simulator: pulumi stack rm --force --preserve-config {environment.name}"
        )
    elif state.remove():
        print(
            f"Emptied the state of stack {environment.name} in {state.backend}: a new cluster holds nothing of it."
        )


def _make_teams(api: Api, namespaces: Sequence[str]) -> None:
    """The app teams' namespaces, each with its Deployment, running."""
    for name in namespaces:
        api.apply(teams.namespace(name))
    for name in namespaces:
        api.apply(teams.deployment(name))
    wanted = len(namespaces) * teams.REPLICAS

    def run() -> bool:
        return sum(int(d["status"].get("readyReplicas", 0)) for d in api.list("deployments")) >= wanted

    wait_until(run, TEAMS_SECONDS, lambda: f"not all of the teams' {wanted} pods run: {_not_running(api)}")


def _not_running(api: Api) -> str:
    names = [
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        for pod in api.list("pods")
        if pod["status"]["phase"] != "Running"
    ]
    return ", ".join(names) or "none was made (see controllers.log)"


def _hand_over_kubeconfig(ours: Path, wanted: Path) -> None:
    """Puts the kubeconfig where the settings say that it is."""
    if wanted.resolve() != ours:
        wanted.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ours, wanted)  # with its mode: for the owner only


def _tell_differences(environment: Environment, api: Api) -> None:
    """A running simulator keeps its nodes: says so when the settings have changed since."""
    live = {node["metadata"]["name"]: node for node in api.list("nodes")}
    declared = {node["metadata"]["name"]: node for node in nodes.of_cluster(environment.settings.cluster)}
    changed = [name for name, node in declared.items() if name not in live or _differs(node, live[name])]
    extra = [name for name in live if name not in declared]
    if changed or extra:
        print(
            f"Its nodes are not those of {environment.file.name} (differing: {', '.join(changed + extra)}). "
            "For a new cluster: make simulator-stop, then make simulator"
        )


def _differs(declared: Object, live: Object) -> bool:
    return (
        not declared["metadata"]["labels"].items() <= live["metadata"]["labels"].items()
        or declared["status"]["capacity"]["pods"] != live["status"]["capacity"]["pods"]
        or _taints(declared) != _taints(live)
    )


def _show(environment: Environment, plane: ControlPlane) -> None:
    """The nodes, asked from the API server, and the next commands."""
    rows = [("NODES", "TYPE", "MAX-PODS", "TAINTS"), *_rows(plane.api.list("nodes"))]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    print()
    for *cells, last in rows:
        print(
            "  ".join(
                [*(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)), last]
            ).rstrip()
        )
    name, suffix = environment.name, "" if environment.name == "sim" else f" ENV={environment.name}"
    print(
        f"\nNamespaces of the app teams: {', '.join(teams.namespaces(environment.settings)) or 'none'}"
        f"\nDeploy:  make up ENV={name}"
        f"\nLook:    kubectl --kubeconfig {environment.target.path} get pods -A -o wide"
        f"\nStop:    make simulator-stop{suffix}        (logs and data: {plane.state})"
    )


def _rows(live: Sequence[Object]) -> Iterator[tuple[str, str, str, str]]:
    """One row for nodes that are alike."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for node in live:
        kind = node["metadata"]["labels"].get("node.kubernetes.io/instance-type", "-")
        alike.setdefault((kind, node["status"]["capacity"]["pods"], _taints(node)), []).append(
            node["metadata"]["name"]
        )
    for (kind, pods, taints), names in alike.items():
        shown = names[0] if len(names) == 1 else f"{names[0]} ... {names[-1]} ({len(names)})"
        yield shown, kind, pods, taints


def _taints(node: Object) -> str:
    return ", ".join(
        f"{taint['key']}={taint.get('value', '')}:{taint['effect']}"
        for taint in node["spec"].get("taints", [])
    )


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    """Two starts at once would end each other's processes."""
    state.mkdir(parents=True, exist_ok=True)
    with (state / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SimulatorError(
                f"another `make simulator` is at work in {state}: wait until it ends"
            ) from None
        yield
