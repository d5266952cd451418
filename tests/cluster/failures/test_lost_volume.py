"""A store's volume that is lost, or spoilt: a copy of it, restored from a snapshot, takes its place by its name.

A snapshot and what is made of it are the cloud's; here the copy is an empty folder of the simulated node, and what is
seen is which volume the claim, and with it the store's pod, gets. The copies stay until the folder's last test.
"""

import json
from pathlib import Path

from components.names import LAYER_NAMESPACE, LOKI, PROMETHEUS
from simulator.api import Object
from tests.cluster.failures.checkout import Checkout
from tests.cluster.failures.environment import one_agent_on_each_node
from tests.support.kube import Kube

RETAIN = json.dumps({"spec": {"persistentVolumeReclaimPolicy": "Retain"}})


def restored(store: str, name: str, folder: Path, size: str = "50Gi") -> Object:
    """The copy, kept for a claim by the claim's name."""
    folder.mkdir()
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "gp3",
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {"namespace": LAYER_NAMESPACE, "name": store},
            "hostPath": {"path": str(folder)},
        },
    }


def kubectl(kube: Kube, *arguments: str) -> None:
    """A command of the page."""
    done = kube.kubectl(*arguments)
    assert done.returncode == 0, done.stderr


def claim(kube: Kube, store: str) -> Object:
    """A store's claim."""
    return kube.get("persistentvolumeclaims", store, LAYER_NAMESPACE)


def test_a_volume_is_replaced_by_its_copy_and_the_old_one_is_kept(
    checkout: Checkout, kube: Kube, tmp_path: Path
) -> None:
    old, other = claim(kube, LOKI)["spec"]["volumeName"], claim(kube, PROMETHEUS)
    kubectl(kube, "--namespace", LAYER_NAMESPACE, "scale", "deployment", LOKI, "--replicas", "0")
    kubectl(kube, "patch", "persistentvolume", old, "--patch", RETAIN)
    kubectl(kube, "--namespace", LAYER_NAMESPACE, "delete", "persistentvolumeclaim", LOKI, "--timeout", "60s")
    kube.apply(restored(LOKI, "loki-restored", tmp_path / "copy"))
    checkout.repair()

    assert claim(kube, LOKI)["spec"]["volumeName"] == "loki-restored"
    assert claim(kube, LOKI)["status"]["phase"] == "Bound"
    assert claim(kube, PROMETHEUS)["metadata"]["uid"] == other["metadata"]["uid"]
    kept = kube.get("persistentvolumes", old)
    assert kept["status"]["phase"] == "Released"
    assert len(kube.running(LAYER_NAMESPACE, f"app.kubernetes.io/name={LOKI}")) == 1
    assert one_agent_on_each_node(kube)
    assert checkout.drift().status == 0


def test_a_first_deployment_takes_up_copies_that_wait_for_it(
    checkout: Checkout, kube: Kube, tmp_path: Path
) -> None:
    """On a new cluster: the volumes of the old one are there before the claims."""
    done = checkout.run("engine", "destroy")
    assert done.status == 0, done.said
    for store in (LOKI, PROMETHEUS):
        kube.apply(restored(store, f"{store}-moved", tmp_path / store))
    checkout.up()
    for store in (LOKI, PROMETHEUS):
        assert claim(kube, store)["spec"]["volumeName"] == f"{store}-moved"
    assert checkout.drift().status == 0
