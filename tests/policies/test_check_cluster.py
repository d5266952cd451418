"""`python -m policies.check --cluster`, without a cluster: pages, refusals, custom resources."""

import json
from pathlib import Path
from typing import Any

import pytest

from policies import cluster
from policies.check import main


class FakeCluster:
    """Answers `kubectl get --raw` in pages of two."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers, self.asked = answers, list[str]()

    def __call__(self, _kubeconfig: Path, path: str) -> dict[str, Any]:
        self.asked.append(path)
        plain, _, query = path.partition("?")
        answer = self.answers.get(plain)
        if answer is None:
            raise cluster.ReadError(
                "Error from server (NotFound): the server could not find the requested resource"
            )
        if isinstance(answer, str):
            raise cluster.ReadError(answer)
        if "items" not in answer:
            return dict(answer)
        start = int(query.partition("continue=")[2] or 0)
        rest = {"continue": str(start + 2)} if start + 2 < len(answer["items"]) else {}
        return {**answer, "items": answer["items"][start : start + 2], "metadata": rest}


def daemon_sets(number: int) -> dict[str, Any]:
    items = [
        {"metadata": {"name": f"a{i}", "namespace": "n"}, "spec": {"template": {"spec": {}}}}
        for i in range(number)
    ]
    return {"kind": "DaemonSetList", "apiVersion": "apps/v1", "items": items}


def test_a_cluster_is_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeCluster({"/apis": {"groups": []}, "/apis/apps/v1/daemonsets": daemon_sets(5)})
    monkeypatch.setattr(cluster, "_get", fake)
    reading = cluster.read_cluster(Path("k"))
    assert [manifest.label() for manifest in reading.manifests] == [f"DaemonSet n/a{i}" for i in range(5)]
    assert reading.unread == []
    assert sum("/daemonsets?" in path for path in fake.asked) == 3
    assert all("limit=500" in path for path in fake.asked if "?" in path)


def test_what_a_cluster_refuses_is_said_and_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = 'Error from server (Forbidden): pods is forbidden: User "me" cannot list resource "pods"'
    fake = FakeCluster(
        {"/apis": {"groups": []}, "/api/v1/pods": refusal, "/apis/apps/v1/daemonsets": daemon_sets(1)}
    )
    monkeypatch.setattr(cluster, "_get", fake)
    assert main(["--cluster", "k", "--format", "json"]) == 2
    captured = capsys.readouterr()
    assert {entry["kind"] for entry in json.loads(captured.out)} >= {"DaemonSet"}
    assert f"could not read pods of cluster k: {refusal}" in captured.err


def test_a_list_that_expires_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, expired = FakeCluster({"/apis": {"groups": []}, "/apis/apps/v1/daemonsets": daemon_sets(3)}), [True]

    def get(kubeconfig: Path, path: str) -> dict[str, Any]:
        if "continue" in path and expired.pop():
            expired.append(False)
            raise cluster.ReadError("Error from server (Expired): The provided continue parameter is too old")
        return fake(kubeconfig, path)

    monkeypatch.setattr(cluster, "_get", get)
    reading = cluster.read_cluster(Path("k"))
    assert len(reading.manifests) == 3
    assert reading.unread == []


def test_an_unreachable_cluster_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "_get", FakeCluster({"/apis": "Unable to connect to the server"}))
    assert main(["--cluster", "k"]) == 2
    assert "could not read cluster k: Unable to connect to the server" in capsys.readouterr().err


def test_custom_resources_are_found_by_what_the_cluster_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    group = {"name": "opentelemetry.io", "preferredVersion": {"groupVersion": "opentelemetry.io/v1beta1"}}
    served = [
        {"name": "opentelemetrycollectors", "kind": "OpenTelemetryCollector"},
        {"name": "opentelemetrycollectors/status", "kind": "OpenTelemetryCollector"},
        {"name": "instrumentations", "kind": "Instrumentation"},
    ]
    collectors = {
        "kind": "OpenTelemetryCollectorList",
        "apiVersion": "opentelemetry.io/v1beta1",
        "items": [{"metadata": {"name": "c", "namespace": "n"}, "spec": {"mode": "daemonset"}}],
    }
    root = "/apis/opentelemetry.io/v1beta1"
    answers = {
        "/apis": {"groups": [group]},
        root: {"resources": served},
        f"{root}/opentelemetrycollectors": collectors,
    }
    monkeypatch.setattr(cluster, "_get", FakeCluster(answers))
    (found,) = cluster.read_cluster(Path("k")).manifests
    assert (found.kind, found.group) == ("OpenTelemetryCollector", "opentelemetry.io")


def test_what_a_controller_made_is_not_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    owned = {
        "metadata": {
            "name": "p",
            "namespace": "n",
            "ownerReferences": [{"kind": "DaemonSet", "controller": True}],
        }
    }
    pods = {
        "kind": "PodList",
        "apiVersion": "v1",
        "items": [owned, {"metadata": {"name": "q", "namespace": "n"}}],
    }
    monkeypatch.setattr(cluster, "_get", FakeCluster({"/apis": {"groups": []}, "/api/v1/pods": pods}))
    reading = cluster.read_cluster(Path("k"))
    assert [manifest.name for manifest in reading.manifests] == ["q"]
    assert len(reading.pods) == 2
