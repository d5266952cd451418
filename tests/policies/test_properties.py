"""What must hold for every object: no rule raises, what is broader is never better, what is unknown never hides a
fault.
"""

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.check import check
from policies.manifest import Manifest, Origin
from policies.manifests import Reading
from policies.values import UNKNOWN, Field
from tests.policies.generated import CONFIG, bound, daemon_set, verdicts

MANY = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
KINDS = [
    ("v1", "Pod"),
    ("v1", "List"),
    ("v1", "Namespace"),
    ("v1", "PersistentVolume"),
    ("v1", "LimitRange"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "Deployment"),
    ("batch/v1", "CronJob"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("autoscaling/v1", "HorizontalPodAutoscaler"),
    ("autoscaling.k8s.io/v1", "VerticalPodAutoscaler"),
    ("keda.sh/v1alpha1", "ScaledObject"),
    ("opentelemetry.io/v1beta1", "OpenTelemetryCollector"),
    ("cloudwatch.aws.amazon.com/v1alpha1", "AmazonCloudWatchAgent"),
    ("collectors.grafana.com/v1alpha1", "Alloy"),
    ("monitoring.coreos.com/v1", "ServiceMonitor"),
    ("argoproj.io/v1alpha1", "Application"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
]
TOKENS = [
    "",
    "",
    "",
    "kubernetes:helm.sh/v3:Release",
    "aws:eks/addon:Addon",
    "kubernetes:apps/v1:DaemonSetPatch",
]
# Words that rules look for: random ones would never meet.
WORDS = sorted(
    [
        "spec",
        "template",
        "metadata",
        "name",
        "namespace",
        "labels",
        "annotations",
        "containers",
        "initContainers",
        "tolerations",
        "key",
        "operator",
        "value",
        "effect",
        "Exists",
        "In",
        "NotIn",
        "nodeSelector",
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "values",
        "nodeSelectorTerms",
        "matchExpressions",
        "matchFields",
        "matchLabels",
        "volumes",
        "hostPath",
        "hostNetwork",
        "securityContext",
        "privileged",
        "capabilities",
        "add",
        "ports",
        "hostPort",
        "containerPort",
        "resources",
        "requests",
        "limits",
        "memory",
        "cpu",
        "rules",
        "verbs",
        "apiGroups",
        "resourceNames",
        "pods",
        "list",
        "watch",
        "*",
        "subjects",
        "roleRef",
        "kind",
        "ServiceAccount",
        "Group",
        "shop",
        "system:authenticated",
        "aggregationRule",
        "clusterRoleSelectors",
        "metrics",
        "resource",
        "target",
        "averageUtilization",
        "scaleTargetRef",
        "triggers",
        "targetAllocator",
        "enabled",
        "allocationStrategy",
        "per-node",
        "prometheusCR",
        "scraperRole",
        "mode",
        "daemonset",
        "controller",
        "type",
        "updateStrategy",
        "rollingUpdate",
        "maxSurge",
        "25%",
        "priorityClassName",
        "image",
        "alloy",
        "jobTemplate",
        "items",
        "addonName",
        "fluent-bit",
        "chart",
        "version",
        "default",
        "autoscaling.alpha.kubernetes.io/metrics",
        "shared-observability/tenant",
        "kubernetes.io/os",
        "cloudwatch.aws/scraper",
        "updatePolicy",
        "updateMode",
        "containerPolicies",
        "resourcePolicy",
        "controlledResources",
        "targetRef",
        "replicas",
    ]
)
ANYTHING = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, -3, "", UNKNOWN])
    | st.sampled_from(WORDS)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=25,
)


@st.composite
def objects(draw: st.DrawFn) -> Manifest:
    api_version, kind = draw(st.sampled_from(KINDS))
    body = draw(st.dictionaries(st.sampled_from(WORDS), ANYTHING, max_size=5))
    token = draw(st.sampled_from(TOKENS))
    raw = {"apiVersion": api_version, "kind": kind, "spec": draw(ANYTHING), **body}
    raw["kind"], raw["apiVersion"] = kind, api_version
    urn = f"urn:pulumi:dev::p::{token}::x" if token else ""
    return Manifest(Field(raw), "test", draw(st.sampled_from(list(Origin))), token=token, urn=urn)


@given(st.lists(objects(), min_size=1, max_size=4))
@MANY
def test_no_rule_raises_whatever_the_object(found: list[Manifest]) -> None:
    manifests = [inner for manifest in found for inner in manifest.expanded()]
    result = check(Reading(manifests), CONFIG)
    assert all(finding.message and finding.rule for finding, _ in result.findings)


# --- placement: broader is never better ---

LABELS = ["kubernetes.io/os", "kubernetes.io/hostname", "pool", "eks.amazonaws.com/compute-type"]
EXPRESSION = st.fixed_dictionaries(
    {
        "key": st.sampled_from(LABELS),
        "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt"]),
        "values": st.lists(st.sampled_from(["1", "2"]), min_size=1, max_size=2, unique=True),
    }
)
TERM = st.fixed_dictionaries({"matchExpressions": st.lists(EXPRESSION, min_size=1, max_size=3)})


@st.composite
def pods(draw: st.DrawFn) -> dict[str, Any]:
    pod: dict[str, Any] = {}
    if draw(st.booleans()):
        pod["nodeSelector"] = draw(st.dictionaries(st.sampled_from(LABELS), st.just("1"), max_size=2))
    if draw(st.booleans()):
        terms = draw(st.lists(TERM, min_size=1, max_size=3))
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        pod["affinity"] = {"nodeAffinity": required}
    return pod


def broader_pods(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every pod that the API would let run on at least the same nodes, one change away."""
    if "nodeSelector" in pod and "affinity" in pod:
        yield {"nodeSelector": pod["nodeSelector"]}
        yield {"affinity": pod["affinity"]}
    for label in pod.get("nodeSelector", {}):
        changed = copy.deepcopy(pod)
        del changed["nodeSelector"][label]
        yield changed
    terms = terms_of(pod)
    for number, term in enumerate(terms):
        for index in range(len(term["matchExpressions"])):
            if len(term["matchExpressions"]) > 1:  # an empty term would match nothing
                changed = copy.deepcopy(pod)
                del terms_of(changed)[number]["matchExpressions"][index]
                yield changed
            if term["matchExpressions"][index]["operator"] in ("In", "Gt"):
                changed = copy.deepcopy(pod)
                terms_of(changed)[number]["matchExpressions"][index]["operator"] = "Exists"
                yield changed
    if terms:
        changed = copy.deepcopy(pod)
        terms_of(changed).append({"matchExpressions": [{"key": "pool", "operator": "Exists"}]})
        yield changed


def terms_of(pod: dict[str, Any]) -> list[dict[str, Any]]:
    required = pod.get("affinity", {}).get("nodeAffinity", {})
    terms: list[dict[str, Any]] = required.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get(
        "nodeSelectorTerms", []
    )
    return terms


@given(pods())
@MANY
def test_a_broader_placement_never_passes_where_the_narrower_fails(pod: dict[str, Any]) -> None:
    failed = ("daemonset-placement", "violation")
    if failed in verdicts(daemon_set(pod)):
        for broader in broader_pods(pod):
            assert failed in verdicts(daemon_set(broader)), broader


# --- tolerations ---

TOLERATION = st.fixed_dictionaries(
    {},
    optional={
        "key": st.sampled_from(["", "dedicated"]),
        "operator": st.sampled_from(["Exists", "Equal"]),
        "effect": st.sampled_from(["", "NoSchedule", "NoExecute"]),
        "value": st.just("x"),
    },
)


@given(st.lists(TOLERATION, min_size=1, max_size=3))
@MANY
def test_a_broader_toleration_never_passes_where_the_narrower_fails(
    tolerations: list[dict[str, str]],
) -> None:
    failed = ("daemonset-tolerations", "violation")
    if failed in verdicts(daemon_set({"tolerations": tolerations})):
        wider = [{k: v for k, v in each.items() if k != "effect"} for each in tolerations]
        for broader in (wider, [*tolerations, {"operator": "Exists"}], [*tolerations, {"key": "a"}]):
            assert failed in verdicts(daemon_set({"tolerations": broader}))


# --- rights ---

RULE = st.fixed_dictionaries(
    {
        "apiGroups": st.lists(st.sampled_from(["", "*", "apps", "rbac.authorization.k8s.io"]), max_size=2),
        "resources": st.lists(
            st.sampled_from(
                ["*", "pods", "pods/log", "*/*", "nodes/proxy", "*/proxy", "clusterroles", "secrets"]
            ),
            max_size=2,
        ),
        "verbs": st.lists(
            st.sampled_from(["*", "get", "list", "watch", "create", "bind", "escalate"]), max_size=2
        ),
    },
    optional={"resourceNames": st.lists(st.sampled_from(["view", "a"]), max_size=1)},
)


@given(st.lists(RULE, min_size=1, max_size=2), st.data())
@MANY
def test_broader_rights_never_pass_where_the_narrower_fail(
    rules: list[dict[str, Any]], data: st.DataObject
) -> None:
    failed = ("tenant-cluster-pod-list", "violation")
    if failed not in verdicts(*bound(rules)):
        return
    broader = copy.deepcopy(rules)
    rule = broader[data.draw(st.integers(0, len(broader) - 1))]
    change = data.draw(st.sampled_from(["names", "verbs", "resources", "apiGroups", "rule", "subject"]))
    if change == "names":
        rule.pop("resourceNames", None)
    elif change == "rule":
        broader.append(data.draw(RULE))
    elif change != "subject":
        rule[change].append(data.draw(st.sampled_from(["*", "x"])))
    everyone = {"kind": "Group", "name": "system:authenticated"} if change == "subject" else None
    assert failed in verdicts(*bound(broader, everyone))
