"""`destroy` while the layer is protected: refused before anything is deleted."""

from components import names
from tests.cluster.deployed import environment
from tests.support.deployment import Deployment
from tests.support.inventory import everything, is_labelled, versions
from tests.support.kube import Kube


def test_a_protected_layer_is_not_destroyed_and_it_is_said_what_is_kept(
    deployed: Deployment, kube: Kube
) -> None:
    assert environment.settings().layer.protection
    before = versions(everything(kube, is_labelled))
    running = {pod["metadata"]["uid"] for pod in kube.running()}
    said = deployed.refused(command="destroy")
    assert versions(everything(kube, is_labelled)) == before
    assert {pod["metadata"]["uid"] for pod in kube.running()} == running
    for kept in (names.LAYER_NAMESPACE, names.NODES_NAMESPACE, names.PROMETHEUS, names.LOKI):
        assert f"::{kept}" in said, said
    assert "protect" in said, said
