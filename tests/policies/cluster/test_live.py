"""`python -m policies.check --cluster` on the incident's shape, and with rights that do not reach everything."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from policies.check import main
from simulator.nodes import Nodes, node
from tests.policies.test_incident import APP
from tests.support.kube import Kube, wait_until

APPS = ("app-a", "app-b", "app-c")
GROUP = "eks.amazonaws.com/nodegroup"


@pytest.fixture(scope="module")
def incident(kube: Kube) -> Iterator[Kube]:
    """Three apps with a pair of agents each on three nodes; the exporters share port 9100, so two of them wait."""
    nodes = [node(f"web-{number}", labels={GROUP: "web"}, max_pods=11) for number in range(3)]
    Nodes(kube).add(*nodes)
    for app in APPS:
        for manifest in yaml.safe_load_all(APP.replace("APP", app)):
            if manifest["kind"] in ("DaemonSet", "Deployment"):
                labels = {"app": manifest["metadata"]["name"]}
                manifest["spec"]["selector"] = {"matchLabels": labels}
                manifest["spec"]["template"]["metadata"] = {"labels": labels}
                for container in manifest["spec"]["template"]["spec"]["containers"]:
                    container.setdefault("image", "registry.k8s.io/pause:3.10")
                manifest["spec"]["template"]["spec"].pop("serviceAccountName", None)
            kube.apply(manifest)
    wait_until(lambda: len(kube.list("pods", labelSelector="app=alloy")) == 9, 60, "agents that are not made")
    wait_until(
        lambda: (
            len([p for p in kube.list("pods", labelSelector="app=alloy") if "nodeName" in p["spec"]]) == 9
        ),
        60,
        "agents that are not placed",
    )
    yield kube
    for app in APPS:
        kube.delete("namespaces", app)
        for kind in ("clusterroles", "clusterrolebindings"):
            kube.delete(kind, f"alloy-{app}")
    Nodes(kube).remove(*(each["metadata"]["name"] for each in nodes))


def tenants() -> list[str]:
    return [word for app in APPS for word in ("--tenant", app)]


def test_a_live_cluster_shows_each_defect_once_and_what_duplicates_cost(
    incident: Kube, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--cluster", str(incident.kubeconfig), *tenants(), "--format", "json"]) == 1
    captured = capsys.readouterr()
    entries = json.loads(captured.out)
    by_app = [
        (entry["rule"], entry["namespace"] or entry["name"])
        for entry in entries
        if entry["level"] == "mandatory" and entry["verdict"] == "violation"
    ]
    for app in APPS:
        assert by_app.count(("daemonset-placement", app)) == 2
        assert by_app.count(("daemonset-tolerations", app)) == 2
        assert by_app.count(("tenant-daemonset", app)) == 2
        assert by_app.count(("memory-hpa", app)) == 1
        assert by_app.count(("tenant-cluster-pod-list", f"alloy-{app}")) == 1
        assert by_app.count(("tenant-host-access", app)) == 4
    assert {entry["source"] for entry in entries} == {f"cluster {incident.kubeconfig}"}
    # 3 nodes: 9 Alloys, of which 6 are duplicates; 3 exporters run, 6 wait for port 9100.
    (line,) = [line for line in captured.err.splitlines() if line.startswith("node group web")]
    assert line.startswith(
        "node group web: 3 nodes, 33 pod slots, 15 taken, 6 of them by duplicate agents, 6 more of them"
    )
    assert line.endswith("without duplicates 24 slots are free instead of 18")


def test_text_holds_the_cost_too(incident: Kube, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--cluster", str(incident.kubeconfig)])
    assert "node group web: 3 nodes" in capsys.readouterr().out


def test_what_the_rights_do_not_reach_is_said(
    incident: Kube, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rbac = "rbac.authorization.k8s.io"
    reader = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "reader", "namespace": APPS[0]},
    }
    rules = [{"apiGroups": ["apps"], "resources": ["daemonsets"], "verbs": ["list"]}]
    role = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "alloy-app-a"},
        "rules": rules,
    }
    incident.apply(reader, role)
    incident.apply(
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "policies-reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": APPS[0]}],
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "alloy-app-a"},
        }
    )
    config = yaml.safe_load(incident.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": incident.token(APPS[0], "reader")}
    limited = tmp_path / "kubeconfig"
    limited.write_text(yaml.safe_dump(config))
    assert main(["--cluster", str(limited), "--format", "json"]) == 2
    captured = capsys.readouterr()
    assert {entry["kind"] for entry in json.loads(captured.out)} >= {"DaemonSet"}
    assert f"could not read pods of cluster {limited}: " in captured.err
    assert "forbidden" in captured.err
    incident.delete("clusterrolebindings", "policies-reader")


def test_a_cluster_that_does_not_answer_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "users": [{"name": "a", "user": {"token": "x"}}],
        "current-context": "a",
    }
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(nowhere))
    assert main(["--cluster", str(path)]) == 2
    assert "could not read cluster" in capsys.readouterr().err
