"""docs/deployer.yaml on a real API server: with these rights and no others a team with pods of its own is deployed."""

from pathlib import Path

import pytest
import yaml

from commands.environments import ROOT
from components import names
from components.cluster.kubectl import Kubectl
from diagnosis.declared_objects import left_behind
from diagnosis.watch import RefusedPods
from simulator import teams
from simulator.api import Object
from simulator.control_plane import ControlPlane
from tests.support.deployment import STACK, Deployment, shipped
from tests.support.environments import changed
from tests.support.kube import Kube, is_ready, wait_until

DEPLOYER = ROOT / "docs" / "deployer.yaml"
RIGHT = f"{names.LABEL_RIGHT_RESOURCE}.{names.LABEL_RIGHT_GROUP}"
GUARD_KIND = "validatingadmissionpolicies"
GROUP, ACCOUNT = "shared-observability-deployers", "deployer"
SETTINGS = changed(
    shipped(),
    ("layer.admission", "deny"),
    ("layer.gateway", {"replicas": 2}),
    ("tenants", {"reads": {"pods": 8, "logs": "api", "dashboards": {"host": "reads.example.com"}}}),
)


def binding(role: str) -> Object:
    """One of the roles in the team's namespace, as an administrator binds it."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": role, "namespace": "reads"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": GROUP}],
    }


@pytest.fixture(scope="module")
def deployment(
    clean_module: Kube, control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Deployment:
    """By a service account in place of the group, since that is what a token can be had for."""
    kube = clean_module
    kube.apply(teams.namespace("reads"), teams.namespace("ci"))
    kube.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "namespace": "ci"}}
    )
    text = DEPLOYER.read_text().replace("shared-observability/owner: prod", f"{names.OWNER_LABEL}: {STACK}")
    manifests = [
        *yaml.safe_load_all(text),
        *(binding(f"shared-observability-deployer-{r}") for r in ("tenant", "collector")),
    ]
    for manifest in manifests:
        for subject in manifest.get("subjects", []):
            assert subject["name"] == GROUP
            subject |= {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": "ci", "apiGroup": ""}
        kube.apply(manifest)
    folder = tmp_path_factory.mktemp("deployer")
    return Deployment(folder, kubeconfig(kube, control_plane, folder), SETTINGS)


def kubeconfig(kube: Kube, control_plane: ControlPlane, folder: Path) -> Path:
    """A file with the account's token and nothing of the administrator's."""
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": kube.token("ci", ACCOUNT)}
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    return file


@pytest.mark.timeout(900)  # four deployments
def test_it_deploys_a_team_with_a_grafana_and_a_collector_changes_it_and_removes_all(
    deployment: Deployment, kube: Kube
) -> None:
    watch = refused_pods(deployment)
    watch.remember()  # before there is a collector, so that its pods are looked at
    deployment.up()
    assert len([pod for pod in kube.list("pods", "reads") if is_ready(pod)]) == 2
    deployment.up(("tenants.reads.tokenGeneration", 2))
    deployment.up(("tenants.reads.dashboards", False))
    assert [item["metadata"]["name"] for item in kube.list("deployments", "reads")] == [names.COLLECTOR]
    sees_a_refused_pod(watch, kube)
    assert left_behind(reader(deployment), STACK)
    deployment.destroy()
    assert kube.list("deployments", "reads") == []
    assert left_behind(reader(deployment), STACK) == [], (
        "asked after its rights in the layer's namespaces are gone"
    )


def reader(deployment: Deployment) -> Kubectl:
    """The cluster with the deployer's rights."""
    target = deployment.settings["cluster"]["target"]
    return Kubectl(target["path"], target["context"])


def refused_pods(deployment: Deployment) -> RefusedPods:
    """The watch, with the deployer's rights."""
    return RefusedPods(reader(deployment))


def sees_a_refused_pod(watch: RefusedPods, kube: Kube) -> None:
    """These rights hold none to make pods; what the controller meets is seen all the same."""
    assert not kube.may("ci", ACCOUNT, "create", "pods", "reads")
    theirs = {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {"pods": "0"}}}
    kube.apply({**theirs, "metadata": {"name": "theirs", "namespace": "reads"}})
    wait_until(lambda: "status" in kube.get("resourcequotas", "theirs", "reads"), 30, "no status")
    for pod in kube.list("pods", "reads"):
        kube.delete("pods", pod["metadata"]["name"], "reads")
    wait_until(lambda: (found := watch.look()) and "exceeded quota: theirs" in found.message, 90, "not seen")
    kube.delete("resourcequotas", "theirs", "reads")


def test_without_the_right_to_label_it_is_refused_before_anything_is_changed(
    deployment: Deployment, kube: Kube
) -> None:
    role = kube.get("clusterroles", "shared-observability-deployer")
    fewer = [rule for rule in role["rules"] if names.LABEL_RIGHT_RESOURCE not in rule.get("resources", [])]
    kube.patch("clusterroles", "shared-observability-deployer", {"rules": fewer})
    try:
        wait_until(lambda: not kube.may("ci", ACCOUNT, "label", RIGHT), 10, "it still may")
        said = " ".join(deployment.refused().split())
    finally:
        kube.patch("clusterroles", "shared-observability-deployer", {"rules": role["rules"]})
    assert "layer.admission: is deny, and whoever deploys may not set the labels" in said
    assert not kube.list(GUARD_KIND)


def test_without_the_role_in_the_teams_namespace_it_writes_nothing_there(
    deployment: Deployment, kube: Kube
) -> None:
    def allowed() -> list[tuple[str, str]]:
        return [
            (verb, resource)
            for verb in ("create", "patch", "delete")
            for resource in ("secrets", "deployments.apps", "configmaps", "ingresses.networking.k8s.io")
            if kube.may("ci", ACCOUNT, verb, resource, "reads")
        ]

    assert len(allowed()) > 3
    kube.delete("rolebindings", "shared-observability-deployer-tenant", "reads")
    wait_until(lambda: allowed() == [], 10, lambda: f"still allowed: {allowed()}")


def test_it_reads_secrets_of_no_namespace_but_those_that_the_role_for_tenants_is_bound_in(
    deployment: Deployment, kube: Kube
) -> None:
    for namespace in ("ci", "kube-system", "default"):
        assert not [v for v in ("get", "list", "watch") if kube.may("ci", ACCOUNT, v, "secrets", namespace)]
