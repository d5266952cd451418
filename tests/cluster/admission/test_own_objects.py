"""Under `deny` nothing of the project's own is refused: each object of every environment, asked by a dry run."""

import pytest

from components import names
from simulator.api import ApiError, Object
from tests.cluster.admission.guarded import AS_LABELLER, kubectl, workload
from tests.support.kube import Kube
from tests.unit.components.environments import VARIANTS, Environment, environment

ACTION = "deny"
ENVIRONMENTS = (
    "on a cluster",
    "all kinds of node groups",
    "agents wait",
    "all of a tenant's settings",
    "dashboards of all kinds",
    "exporter of others",
)
# Kinds that an operator brings, which no API server has by itself.
ABSENT = {"ExternalSecret"}


def namespaces(found: Environment) -> list[Object]:
    """The namespaces with their labels, once each."""
    made: dict[str, Object] = {}
    for item in found.of("Namespace"):
        labels = {**made.get(item.name, {}).get("metadata", {}).get("labels", {}), **item.labels}
        metadata = {"name": item.name, "labels": labels}
        made[item.name] = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    return list(made.values())


@pytest.mark.parametrize("variant", ENVIRONMENTS)
def test_no_object_of_an_environment_is_refused(guarded: Kube, variant: str) -> None:
    found = environment(VARIANTS[variant])
    guarded.apply(*namespaces(found))
    others = [item for item in found.objects if item.kind not in {"Namespace", *ABSENT}]
    assert {"DaemonSet", "Deployment", "ClusterRoleBinding"} <= {item.kind for item in others}
    for item in others:
        guarded.apply(item.inputs, dry_run=True)


def test_the_layers_own_agents_would_be_refused_anywhere_else(guarded: Kube) -> None:
    """They are let through for where they are, not because the guards see too little."""
    agent = environment(VARIANTS["on a cluster"]).named("DaemonSet", names.ALLOY).inputs
    moved = {**agent, "metadata": {**agent["metadata"], "namespace": "shop"}}
    with pytest.raises(ApiError, match=r"tenant-daemonset: .*tenant-host-access: "):
        guarded.apply(moved, dry_run=True)


def test_the_clusters_own_namespace_takes_any_daemonset_but_no_tenants_label(guarded: Kube) -> None:
    everywhere = [{"operator": "Exists"}]
    cni = workload("DaemonSet", "kube-system", "aws-node", hostNetwork=True, tolerations=everywhere)
    guarded.create(cni, dry_run=True)
    label = f"{names.TENANT_LABEL}=shop"
    assert kubectl(guarded, "label", "namespace", "kube-system", label, *AS_LABELLER).refused
