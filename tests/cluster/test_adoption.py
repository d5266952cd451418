"""Namespaces that tenants adopt or have created: what is added to them, what stays, and what leaves with the tenant.

One story on one environment, with a layer of namespaces only: four deployments and a destroy, asked after each.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from components import names
from simulator import teams
from simulator.api import Object
from tests.support import manifests
from tests.support.deployment import Deployment, shipped
from tests.support.environments import changed
from tests.support.inventory import Inventory, everything, is_touched
from tests.support.kube import Kube

LEVEL = names.POD_SECURITY_LABEL
OFF = {"metrics": "off", "logs": "off", "runsOn": ["workers"], "protection": "off"}
SETTINGS = changed(shipped(), ("layer", OFF), ("tenants", {}))
QUOTAS = (names.PODS_QUOTA, names.PRIORITY_QUOTA)
# Labels that the namespaces' own teams gave them.
FOREIGN: dict[str, dict[str, str]] = {
    "shop": {"team": "a", "pod-security.kubernetes.io/warn": "baseline"},
    "depot": {},
    "risky": {},
    "wild": {},
    "strict": {LEVEL: "restricted"},
    "mild": {LEVEL: "baseline"},
}
KEEPERS = {
    "risky": {"pods": 10, "podSecurity": "baseline"},
    "wild": {"pods": 10, "podSecurity": "keep"},
    "strict": {"pods": 10, "podSecurity": "baseline"},
    "mild": {"pods": 10, "podSecurity": "baseline"},
    "kept": {"pods": 10, "namespace": "create"},
    "gone": {"pods": 10, "namespace": "create", "onRemove": "delete"},
}
SHOP, DEPOT = {"pods": 20}, {"pods": 10}
STEPS: dict[str, Object] = {
    "added": {"shop": SHOP, **KEEPERS},
    "renamed": {"store": {"namespaces": {"shop": SHOP, "depot": DEPOT}}, **KEEPERS},
    "moved": {"store": {"namespaces": {"depot": DEPOT}}, "other": {"namespaces": {"shop": SHOP}}},
    "again": {"shop": SHOP, "kept": KEEPERS["kept"]},
}
DESTROYED = "destroyed"


@dataclass(frozen=True)
class Moment:
    """The cluster after one step."""

    namespaces: dict[str, Object]
    running: dict[str, set[str]]
    quotas: dict[str, dict[str, str]]
    touched: Inventory

    @classmethod
    def now(cls, kube: Kube) -> "Moment":
        """Asked from the API server."""
        found = {ns["metadata"]["name"]: ns for ns in kube.list("namespaces")}
        pods: dict[str, set[str]] = {name: set() for name in found}
        for pod in kube.running():
            pods[pod["metadata"]["namespace"]].add(pod["metadata"]["uid"])
        return cls(
            namespaces=found,
            running=pods,
            quotas={
                name: {
                    quota["metadata"]["name"]: quota["metadata"]["uid"]
                    for quota in kube.list("resourcequotas", name)
                }
                for name in found
            },
            touched=everything(kube, is_touched),
        )

    def labels(self, namespace: str) -> dict[str, str]:
        """A namespace's labels, without the one that the API server gives to each."""
        labels: dict[str, str] = self.namespaces[namespace]["metadata"]["labels"]
        return {key: value for key, value in labels.items() if key != "kubernetes.io/metadata.name"}

    def uid(self, namespace: str) -> str:
        """By which a namespace differs from a later one of the same name."""
        return str(self.namespaces[namespace]["metadata"]["uid"])

    def tenant(self, namespace: str) -> str | None:
        """Whose it is, by its label."""
        return self.labels(namespace).get(names.TENANT_LABEL)


@pytest.fixture(scope="module")
def story(deploy: Callable[[Object], Deployment], clean_module: Kube) -> dict[str, Moment]:
    """The cluster before, after each step, and at the end."""
    kube = clean_module
    for name, labels in FOREIGN.items():
        kube.apply(manifests.namespace(name, **labels), teams.deployment(name))
        kube.apply(manifests.config_map(name, "theirs"))
    kube.apply(manifests.root("risky"), manifests.host_path("wild"))
    for name in FOREIGN:
        kube.wait_for_pods(teams.REPLICAS + (name in {"risky", "wild"}), name)
    moments = {"before": Moment.now(kube)}
    deployment = deploy(SETTINGS)
    for step, tenants in STEPS.items():
        deployment.up(("tenants", tenants))
        moments[step] = Moment.now(kube)
        if step == "added":
            kube.apply(teams.deployment("kept"))
            kube.wait_for_pods(teams.REPLICAS, "kept")
    deployment.destroy()
    return {**moments, DESTROYED: Moment.now(kube)}


ALL_STEPS = (*STEPS, DESTROYED)


@pytest.mark.parametrize("step", ALL_STEPS)
def test_the_teams_pods_run_through_every_step_in_namespaces_that_stay_the_same(
    story: dict[str, Moment], step: str
) -> None:
    before, after = story["before"], story[step]
    assert {name: after.running[name] for name in FOREIGN} == {name: before.running[name] for name in FOREIGN}
    assert min(len(before.running[name]) for name in FOREIGN) >= teams.REPLICAS
    assert [after.uid(name) for name in FOREIGN] == [before.uid(name) for name in FOREIGN]


@pytest.mark.parametrize("step", ALL_STEPS)
def test_the_labels_of_others_stay_as_they_were(story: dict[str, Moment], step: str) -> None:
    for namespace, labels in FOREIGN.items():
        assert labels.items() <= story[step].labels(namespace).items()


def test_an_adopted_namespace_says_its_tenant_through_rename_and_move(story: dict[str, Moment]) -> None:
    shop = {step: story[step].tenant("shop") for step in story}
    assert shop == {
        "before": None,
        "added": "shop",
        "renamed": "store",
        "moved": "other",
        "again": "shop",
        DESTROYED: None,
    }
    depot = [story[step].tenant("depot") for step in ("renamed", "moved", "again")]
    assert depot == ["store", "store", None]


def test_an_adopted_namespace_gets_exactly_our_labels(story: dict[str, Moment]) -> None:
    ours = {
        names.TENANT_LABEL: "shop",
        names.LOGS_LABEL: "off",
        names.METRICS_LABEL: "false",
        names.OWNER_LABEL: "sim",
        LEVEL: "restricted",
    }
    assert story["added"].labels("shop") == {**FOREIGN["shop"], **ours}


@pytest.mark.parametrize("step", ["moved", DESTROYED])
def test_an_adopted_namespace_without_tenant_is_as_if_it_had_never_had_one(
    story: dict[str, Moment], step: str
) -> None:
    after = story[step]
    without = {name for name in FOREIGN if after.tenant(name) is None}
    assert without == ({"risky", "wild", "strict", "mild"} if step == "moved" else FOREIGN.keys())
    for name in without:
        assert after.labels(name) == FOREIGN[name]
        assert [key for key in after.touched if name in (key.namespace, key.name)] == []


def test_the_quotas_come_and_go_with_the_tenant_and_are_kept_while_it_is_renamed_or_moved(
    story: dict[str, Moment],
) -> None:
    added = story["added"].quotas["shop"]
    assert added.keys() == set(QUOTAS)
    assert story["renamed"].quotas["shop"] == story["moved"].quotas["shop"] == added
    assert story["again"].quotas["depot"] == story[DESTROYED].quotas["shop"] == {}


def test_pod_security_is_set_as_the_tenant_says(story: dict[str, Moment]) -> None:
    levels = {name: story["added"].labels(name).get(LEVEL) for name in (*FOREIGN, "kept", "gone")}
    assert levels == {
        "shop": "restricted",
        "depot": None,
        "risky": "baseline",
        "wild": None,
        "strict": "restricted",
        "mild": "baseline",
        "kept": "restricted",
        "gone": "restricted",
    }


# --- created ones ---


def test_a_created_namespace_is_made_with_the_labels_and_quotas_of_its_tenant(
    story: dict[str, Moment],
) -> None:
    added = story["added"]
    assert not {"kept", "gone"} & story["before"].namespaces.keys()
    assert {added.tenant("kept"), added.tenant("gone")} == {"kept", "gone"}
    assert added.quotas["kept"].keys() == added.quotas["gone"].keys() == set(QUOTAS)


@pytest.mark.parametrize("step", ["moved", DESTROYED])
def test_a_created_namespace_is_kept_with_the_teams_pods_but_no_longer_says_a_tenant(
    story: dict[str, Moment], step: str
) -> None:
    after = story[step]
    assert after.labels("kept").keys() == {*KEPT_LABELS}
    assert after.quotas["kept"] == {}
    assert len(after.running["kept"]) == teams.REPLICAS
    assert after.running["kept"] == story["renamed"].running["kept"]


# Who made it stays written on it: without that, `namespace: create` would be refused when the tenant comes back.
KEPT_LABELS = (names.OWNER_LABEL, names.CREATED_LABEL, "app.kubernetes.io/managed-by")


def test_a_created_namespace_is_deleted_where_the_tenant_says_so(story: dict[str, Moment]) -> None:
    assert "gone" in story["renamed"].namespaces
    assert "gone" not in story["moved"].namespaces


def test_a_tenant_that_comes_back_finds_the_namespace_that_was_created_for_it(
    story: dict[str, Moment],
) -> None:
    assert story["added"].uid("kept") == story["moved"].uid("kept") == story["again"].uid("kept")
    assert story["again"].tenant("kept") == "kept"
    assert story["again"].quotas["kept"].keys() == set(QUOTAS)


def test_after_destroy_nothing_of_ours_is_left_but_the_namespace_that_is_kept(
    story: dict[str, Moment],
) -> None:
    left = story[DESTROYED].touched.keys()
    assert {key.name for key in left if key.kind == "namespaces"} == {"kept"}
    assert {key for key in left if key.kind != "namespaces"} == set()
