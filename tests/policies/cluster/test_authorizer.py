"""`tenant-cluster-pod-list` against the real authorizer: generated roles, each asked by SubjectAccessReview."""

import random
from dataclasses import dataclass
from typing import Any

from policies.builtin_roles import builtin_roles, labels_of_builtin, rules_of
from policies.check import check
from policies.config import take_apart
from policies.manifest import Manifest, Origin
from policies.manifests import Reading
from policies.rbac import Action
from policies.values import Field
from policies.verdict import Finding, Verdict
from policies.ways import DIRECT, INDIRECT
from tests.support.kube import Kube, wait_until

RBAC = "rbac.authorization.k8s.io"
CASES = 150
# What decides is drawn more often than what does not.
VERBS = ["list", "watch", "create", "get", "*", "bind", "escalate", "impersonate", "update"]
VERB_WEIGHTS = [5, 3, 4, 3, 2, 1, 1, 1, 1]
GROUPS = ["", "*", RBAC, "apps", "metrics.k8s.io", "batch"]
GROUP_WEIGHTS = [6, 2, 2, 1, 1, 1]
RESOURCES = [
    "pods", "*", "pods/log", "*/log", "*/*", "pods/*", "nodes", "nodes/proxy", "*/proxy", "nodes/pods", "configmaps",
    "secrets", "deployments", "clusterroles", "roles", "clusterrolebindings", "users", "serviceaccounts",
    "serviceaccounts/token", "jobs",
]  # fmt: skip
RESOURCE_WEIGHTS = [10, 3, 2, 1, 1, 2, 1, 3, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1]
SPELLINGS = ("account", "user", "group")


@dataclass(frozen=True)
class Case:
    """A role, bound to a tenant of its own."""

    number: int
    rules: list[dict[str, Any]]
    spelling: str
    role: str = ""

    @property
    def namespace(self) -> str:
        return f"tenant-{self.number}"

    @property
    def subject(self) -> dict[str, str]:
        if self.spelling == "account":
            return {"kind": "ServiceAccount", "name": "app", "namespace": self.namespace}
        if self.spelling == "user":
            return {"apiGroup": RBAC, "kind": "User", "name": f"system:serviceaccount:{self.namespace}:app"}
        return {"apiGroup": RBAC, "kind": "Group", "name": f"system:serviceaccounts:{self.namespace}"}

    def objects(self) -> list[dict[str, Any]]:
        name = f"case-{self.number}"
        role = {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": self.rules,
        }
        binding = {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "subjects": [self.subject],
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": self.role or name},
        }
        return [binding] if self.role else [role, binding]

    def judged(self) -> Finding | None:
        tenants: dict[str, Any] = {self.namespace: {}}
        manifests = [Manifest(Field(raw), "test", Origin.FILE) for raw in self.objects()]
        findings = check(Reading(manifests), take_apart({"pack-settings": {"tenants": tenants}})).findings
        found = [finding for finding, _ in findings if finding.rule == "tenant-cluster-pod-list"]
        assert len(found) <= 1
        return found[0] if found else None


def generated() -> list[Case]:
    chance = random.Random(20261130)

    def rule() -> dict[str, Any]:
        names = [chance.choice(["view", "system:discovery", "a"])] if chance.random() < 0.25 else []
        some = {
            "verbs": chance.choices(VERBS, VERB_WEIGHTS, k=chance.randint(1, 2)),
            "apiGroups": chance.choices(GROUPS, GROUP_WEIGHTS, k=chance.randint(1, 2)),
            "resources": chance.choices(RESOURCES, RESOURCE_WEIGHTS, k=chance.randint(1, 3)),
        }
        return {**some, **({"resourceNames": names} if names else {})}

    return [
        Case(number, [rule() for _ in range(chance.randint(0, 2))], chance.choice(SPELLINGS))
        for number in range(CASES)
    ]


def allowed(kube: Kube, case: Case, action: Action, name: str = "", namespace: str = "") -> bool:
    """What the authorizer says of the tenant's account, cluster-wide or in one namespace."""
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{case.namespace}", "system:authenticated"]
    attributes = {
        "verb": action.verb,
        "group": action.group,
        "resource": action.resource,
        "subresource": action.subresource,
        "name": name,
        "namespace": namespace,
    }
    spec = {
        "user": f"system:serviceaccount:{case.namespace}:app",
        "groups": groups,
        "resourceAttributes": attributes,
    }
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    answer = kube.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer["status"]["allowed"])


def bind(kube: Kube, cases: list[Case]) -> None:
    """Creates all, and waits until the authorizer knows the last one."""
    for case in cases:
        kube.apply(*case.objects())
    last = Case(
        cases[-1].number + 1, [{"verbs": ["get"], "apiGroups": [""], "resources": ["nodes"]}], "account"
    )
    kube.apply(*last.objects())
    wait_until(
        lambda: allowed(kube, last, Action("get", "", "nodes")),
        30,
        "the authorizer does not see the bindings",
    )


def ways_of(finding: Finding | None) -> list[tuple[Action, str]]:
    if finding is None or finding.verdict is not Verdict.VIOLATION:
        return []
    split = [way.split("|") for way in finding.facts["ways"].split(";")]
    return [(Action(*parts[:4]), parts[4] if len(parts) > 4 else "") for parts in split]


def test_the_direct_part_agrees_with_the_authorizer_and_each_detour_is_allowed(kube: Kube) -> None:
    cases = generated()
    bind(kube, cases)
    counts = {"direct": 0, "detour": 0, "pass": 0, "undecided": 0}
    for case in cases:
        finding = case.judged()
        ways = ways_of(finding)
        direct = any(action in DIRECT for action, _ in ways)
        assert direct == any(allowed(kube, case, action) for action in DIRECT), case
        for action, name in ways:
            assert allowed(kube, case, action, name), (case, action, name)
        unnamed = [action for action in INDIRECT if allowed(kube, case, action)]
        if finding is None:
            assert not unnamed, (case, unnamed)
        if unnamed:
            assert finding is not None, case
            assert finding.verdict is Verdict.VIOLATION, case
        key = "direct" if direct else "detour" if ways else "undecided" if finding else "pass"
        counts[key] += 1
    assert min(counts["direct"], counts["detour"], counts["pass"]) >= 15, counts  # else it would prove little


def test_built_in_roles_agree_with_the_authorizer(kube: Kube) -> None:
    names = sorted(builtin_roles())
    cases = [Case(1000 + number, [], "account", name) for number, name in enumerate(names)]
    bind(kube, cases)
    for case in cases:
        ways = ways_of(case.judged())
        direct = any(action in DIRECT for action, _ in ways)
        assert direct == any(allowed(kube, case, action) for action in DIRECT), case.role
        assert bool(ways) == any(allowed(kube, case, action) for action in (*DIRECT, *INDIRECT)), case.role


def test_the_table_of_built_in_roles_is_this_api_servers(kube: Kube) -> None:
    roles = [role for role in kube.list("clusterroles") if role["metadata"]["name"] in builtin_roles()]
    assert rules_of(roles) == builtin_roles(), "run: python -m policies.builtin_roles KUBECONFIG"
    for role in roles:
        assert role["metadata"]["labels"] == labels_of_builtin(role["metadata"]["name"])


def test_an_aggregated_role_that_is_a_violation_is_one_in_the_cluster(kube: Kube) -> None:
    selector = {
        "clusterRoleSelectors": [
            {"matchExpressions": [{"key": "agg-test", "operator": "In", "values": ["y"]}]}
        ]
    }
    rules = [{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}]
    head = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole"}
    part = {**head, "metadata": {"name": "agg-part", "labels": {"agg-test": "y"}}, "rules": rules}
    whole = {**head, "metadata": {"name": "agg-whole"}, "aggregationRule": selector, "rules": []}
    case = Case(5000, [], "account", "agg-whole")
    kube.apply(part, whole, *case.objects())
    manifests = [Manifest(Field(raw), "test", Origin.FILE) for raw in (part, whole, *case.objects())]
    findings = check(
        Reading(manifests), take_apart({"pack-settings": {"tenants": {case.namespace: {}}}})
    ).findings
    (finding,) = [found for found, _ in findings if found.rule == "tenant-cluster-pod-list"]
    assert finding.verdict is Verdict.VIOLATION
    wait_until(lambda: allowed(kube, case, DIRECT[0]), 30, "the aggregated role never got its rules")


def test_a_binding_in_a_foreign_namespace_gives_what_the_finding_says(kube: Kube) -> None:
    """In the tenant's own namespace the same binding passes, and lists no other's pods."""
    tokens = [{"verbs": ["create"], "apiGroups": [""], "resources": ["serviceaccounts/token"]}]
    role = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "foreign-tokens"},
        "rules": tokens,
    }
    namespace: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace"}
    kube.apply(
        role, *({**namespace, "metadata": {"name": name}} for name in ("foreign-other", "tenant-6000"))
    )
    for number, (where, name) in enumerate(
        [("foreign-other", "view"), ("foreign-other", "foreign-tokens"), ("tenant-6000", "view")]
    ):
        case = Case(6000, [], "account", name)
        binding = {
            **case.objects()[0],
            "kind": "RoleBinding",
            "metadata": {"name": f"b{number}", "namespace": where},
        }
        kube.apply(binding)
        manifests = [Manifest(Field(raw), "test", Origin.FILE) for raw in (role, binding)]
        config = take_apart({"pack-settings": {"tenants": {"tenant-6000": {}, "foreign-other": {}}}})
        findings = [found for found, _ in check(Reading(manifests), config).findings]
        ways = [
            way for found in findings if found.rule == "tenant-cluster-pod-list" for way in ways_of(found)
        ]
        assert bool(ways) == (where == "foreign-other")
        for action, named in ways:
            wait_until(lambda: allowed(kube, case, action, named, where), 30, f"{action} is not allowed")  # noqa: B023
    assert not allowed(kube, Case(6000, [], "account"), DIRECT[0])
