"""A stand-in for the EBS CSI driver: it makes a volume for each claim of its class that has a node, and removes it."""

import threading
from collections.abc import Callable

from simulator.api import Api, Object

PROVISIONER = "ebs.csi.aws.com"
NODE = "volume.kubernetes.io/selected-node"
MADE_BY = "pv.kubernetes.io/provisioned-by"
SECONDS = 0.3


class EbsDriver:
    """Works in a thread for as long as it is entered, and only while EKS has the add-on."""

    def __init__(self, api: Api, installed: Callable[[], bool]) -> None:
        self._api, self._installed = api, installed
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> "EbsDriver":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._over.wait(SECONDS):
            for volume in self._api.list("persistentvolumes"):
                if volume["status"].get("phase") == "Released" and _is_ours(volume):
                    self._api.delete("persistentvolumes", volume["metadata"]["name"])
            waiting = [claim for claim in self._api.list("persistentvolumeclaims") if _waits(claim)]
            if not waiting or not self._installed():
                continue
            classes = {one["metadata"]["name"]: one for one in self._api.list("storageclasses")}
            for claim in waiting:
                storage_class = classes.get(claim["spec"].get("storageClassName", ""))
                if storage_class and storage_class["provisioner"] == PROVISIONER:
                    self._make(claim, storage_class)

    def _make(self, claim: Object, storage_class: Object) -> None:
        name = f"pvc-{claim['metadata']['uid']}"
        if self._api.find("persistentvolumes", name):
            return
        reference = {key: claim["metadata"][key] for key in ("name", "namespace", "uid")}
        self._api.create(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": name, "annotations": {MADE_BY: PROVISIONER}},
                "spec": {
                    "accessModes": claim["spec"]["accessModes"],
                    "capacity": claim["spec"]["resources"]["requests"],
                    "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **reference},
                    "hostPath": {"path": f"/nowhere/{name}"},  # nothing runs on simulated nodes
                    "persistentVolumeReclaimPolicy": storage_class["reclaimPolicy"],
                    "storageClassName": storage_class["metadata"]["name"],
                },
            }
        )


def _waits(claim: Object) -> bool:
    return claim["status"].get("phase") == "Pending" and NODE in claim["metadata"].get("annotations", {})


def _is_ours(volume: Object) -> bool:
    return bool(volume["metadata"].get("annotations", {}).get(MADE_BY) == PROVISIONER)
