"""docs/deployer.yaml: enough for every object that the program makes, and not more than these need."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from components.cluster.live import CLUSTER_SCOPED, NAMED
from components.cluster.ownership import in_tenant_namespace
from components.names import LAYER_NAMESPACE, NODES_NAMESPACE
from tests.unit.components.environments import ROOT, VARIANTS, Environment, Object, environment

Rule = dict[str, Any]
Right = tuple[str, str, str]  # group, resource, verb
NAME = "shared-observability-deployer"
MANIFESTS = list(yaml.safe_load_all((ROOT / "docs" / "deployer.yaml").read_text(encoding="utf-8")))
ROLES = {m["metadata"]["name"]: m["rules"] for m in MANIFESTS if m["kind"] == "ClusterRole"}
IN_DEFAULT = next(m["rules"] for m in MANIFESTS if m["kind"] == "Role")
ON_A_CLUSTER = [
    "on a cluster",
    "all kinds of node groups",
    "agents wait",
    "all of a tenant's settings",
    "dashboards of all kinds",
]


def rules_in(namespace: str, *, tenant: bool = False, collects: bool = False) -> list[Rule]:
    """What the deployer may do in a namespace (the empty one for what is cluster-wide)."""
    of_tenant = [*ROLES[f"{NAME}-tenant"], *(ROLES[f"{NAME}-collector"] if collects else [])]
    extra = {
        LAYER_NAMESPACE: ROLES[f"{NAME}-layer"],
        NODES_NAMESPACE: ROLES[f"{NAME}-layer"],
        "default": IN_DEFAULT,
        "": ROLES[f"{NAME}-namespaces"],
    }.get(namespace, of_tenant if tenant else [])
    return [*ROLES[NAME], *extra]


def allows(rules: list[Rule], right: Right, name: str = "") -> bool:
    """Whether one of the rules gives a right, on an object of this name or, without one, on all."""
    group, resource, verb = right
    return any(
        group in rule.get("apiGroups", []) and resource in rule.get("resources", []) and verb in rule["verbs"]
        for rule in rules
        if "resourceNames" not in rule or (name and name in rule["resourceNames"])
    )


def plural(kind: str) -> str:
    lower = kind.lower()
    return (
        f"{lower}es" if lower.endswith("s") else f"{lower[:-1]}ies" if lower.endswith("cy") else f"{lower}s"
    )


def group_of(item: Object) -> str:
    return str(item.inputs["apiVersion"]).rpartition("/")[0]


def is_patch(item: Object) -> bool:
    return item.registered.type.endswith("Patch")


def needed(item: Object) -> Iterator[tuple[Right, str]]:
    """Each right that making, changing and removing an object takes, and the name that it may be limited to."""
    group, resource = group_of(item), plural(item.kind)
    if item.kind == "Secret":  # written, and never waited for
        yield (group, resource, "get"), item.name
    else:
        yield from (((group, resource, verb), "") for verb in ("get", "list", "watch"))
    yield (group, resource, "patch"), item.name
    if not is_patch(item):
        yield (group, resource, "create"), ""
        yield (group, resource, "delete"), item.name


def granted(item: Object) -> Iterator[Right]:
    """What a Role or ClusterRole of ours gives to somebody."""
    for rule in item.inputs.get("rules", []) if item.kind in ("Role", "ClusterRole") else []:
        groups, resources = rule.get("apiGroups", []), rule.get("resources", [])
        yield from ((g, r, verb) for g in groups for r in resources for verb in rule["verbs"])


@pytest.fixture(params=ON_A_CLUSTER)
def deployed(request: pytest.FixtureRequest) -> Environment:
    return environment(VARIANTS[request.param])


def rules_for(item: Object, found: Environment) -> list[Rule]:
    tenant = found.tenant_namespaces.get(item.namespace)
    collects = tenant is not None and found.settings.tenants[tenant].logs == "api"
    return rules_in(item.namespace, tenant=tenant is not None, collects=collects)


def test_every_object_can_be_made_changed_and_removed(deployed: Environment) -> None:
    missing = [
        f"{item}: {right}"
        for item in deployed.objects
        for right, name in needed(item)
        if not allows(rules_for(item, deployed), right, name)
    ]
    assert not missing


def test_everything_that_is_granted_is_held(deployed: Environment) -> None:
    missing = [
        f"{item}: {right}"
        for item in deployed.objects
        for right in granted(item)
        if not allows(rules_for(item, deployed), right)
    ]
    assert not missing


def test_every_binding_may_be_made_before_its_role_exists(deployed: Environment) -> None:
    for item in deployed.of("RoleBinding", "ClusterRoleBinding"):
        role = item.inputs["roleRef"]
        right = ("rbac.authorization.k8s.io", plural(role["kind"]), "bind")
        assert allows(rules_for(item, deployed), right, role["name"]), item


def test_nothing_may_be_written_that_the_program_does_not_make() -> None:
    made = {
        (group_of(o), plural(o.kind)) for name in ON_A_CLUSTER for o in environment(VARIANTS[name]).objects
    }
    rules = [rule for manifest in MANIFESTS for rule in manifest.get("rules", [])]
    writing = [rule for rule in rules if {"create", "patch", "delete", "update"} & set(rule["verbs"])]
    written = {
        (group, resource) for rule in writing for group in rule["apiGroups"] for resource in rule["resources"]
    }
    assert written <= made
    assert not any({"*", "escalate", "impersonate"} & set(rule["verbs"]) for rule in rules)


def test_secrets_are_read_in_the_layers_namespaces_and_listed_where_the_role_for_tenants_is_bound() -> None:
    """The engine waits for a deletion by a list; everything else is asked by name there."""
    ours = {ref.name for ref in in_tenant_namespace("any") if ref.kind == "Secret"}
    for name, rules in ROLES.items():
        of_secrets = [rule for rule in rules if "secrets" in rule.get("resources", [])]
        reading = [rule for rule in of_secrets if {"get", "list", "watch"} & set(rule["verbs"])]
        every_one = [rule for rule in reading if "resourceNames" not in rule]
        assert bool(every_one) == (name in {f"{NAME}-layer", f"{NAME}-tenant"}), name
        if name == f"{NAME}-tenant":
            assert [rule["verbs"] for rule in every_one] == [["list", "watch"]]
        assert all(set(rule["resourceNames"]) == ours for rule in reading if rule not in every_one), name


def test_whoever_reads_a_cluster_may_ask_for_what_preflight_asks() -> None:
    listed = {r for rule in ROLES[NAME] if "list" in rule["verbs"] for r in rule.get("resources", [])}
    assert {"nodes", "pods", "namespaces", "resourcequotas", *CLUSTER_SCOPED.split(",")} <= listed
    groups = {"deployments": "apps", "ingresses": "networking.k8s.io"}
    for name, kinds in NAMED.items():
        for kind in kinds.split(","):
            assert allows(ROLES[NAME], (groups.get(kind, ""), kind, "list"), name), kind


def test_the_layers_namespaces_are_handed_over_by_their_label() -> None:
    namespaces = {
        m["metadata"]["name"]: m["metadata"]["labels"] for m in MANIFESTS if m["kind"] == "Namespace"
    }
    owner = {"shared-observability/owner": "prod"}
    assert namespaces == {LAYER_NAMESPACE: owner, NODES_NAMESPACE: owner}
