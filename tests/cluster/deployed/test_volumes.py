"""The stores' volumes grow in place and never shrink. A test cannot undo it, so the environment stays grown."""

from components.names import LAYER_NAMESPACE, PROMETHEUS
from tests.support.deployment import Deployment
from tests.support.kube import Kube, wait_until

SIZE = "layer.metrics.storage"
GROW_SECONDS = 20


def test_a_volume_grows_in_place_and_is_not_shrunk(deployed: Deployment, kube: Kube) -> None:
    before = kube.get("persistentvolumeclaims", PROMETHEUS, LAYER_NAMESPACE)
    assert before["spec"]["resources"]["requests"]["storage"] == "50Gi"
    deployed.up((SIZE, "60Gi"))

    def capacity() -> str:
        claim = kube.get("persistentvolumeclaims", PROMETHEUS, LAYER_NAMESPACE)
        assert claim["metadata"]["uid"] == before["metadata"]["uid"]
        assert claim["spec"]["volumeName"] == before["spec"]["volumeName"]
        return str(claim["status"]["capacity"]["storage"])

    wait_until(lambda: capacity() == "60Gi", GROW_SECONDS, lambda: f"the volume has {capacity()}")
    assert deployed.outputs()["volumes"][PROMETHEUS] == "60Gi"
    said = deployed.refused((SIZE, "40Gi"))
    assert f"{SIZE}: is 40Gi, but the volume has 60Gi, and a volume can grow but never shrink" in said, said
    assert capacity() == "60Gi"


def test_a_volume_keeps_its_class(deployed: Deployment, kube: Kube) -> None:
    before = kube.get("persistentvolumeclaims", PROMETHEUS, LAYER_NAMESPACE)
    said = deployed.refused(("layer.storageClass", "another"))
    has = before["spec"]["storageClassName"]
    assert (
        f"layer.storageClass: would be 'another', but the volumes of loki and prometheus have {has}" in said
    ), said
    assert kube.get("persistentvolumeclaims", PROMETHEUS, LAYER_NAMESPACE) == before
