"""`daemonset-placement`: a DaemonSet says which nodes it is for."""

from collections.abc import Iterator

from pydantic import Field as Setting

from policies.affinity import REQUIRED, Demand, demands
from policies.config import RuleSettings
from policies.manifest import Manifest
from policies.pods import Pod, per_node, pod_of
from policies.rule import Rule, Severity
from policies.values import Field, Truth, all_of, any_of
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

# Labels whose values nearly every node of an EKS cluster shares.
UNIVERSAL = (
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
)
# Labels that every node has, with values that differ: to name values is a constraint, to ask for presence is none.
PRESENT_EVERYWHERE = (
    "kubernetes.io/hostname",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.k8s.aws/zone-id",
    "eks.amazonaws.com/capacityType",
    "karpenter.sh/capacity-type",
)
PINNED = "a node's name goes around the scheduler"
EVERYWHERE = "it runs on every node: nothing in its pod template limits it to some"
DEFAULT_SCHEDULER = "default-scheduler"
CONSTRAINING = ("In", "Exists", "Gt", "Lt")
FIX = (
    "Add required node affinity on the label of the node groups it is for (for example `eks.amazonaws.com/nodegroup` "
    "In [...]) or such a nodeSelector; `kubernetes.io/os` alone, preferred affinity and NotIn reach every node"
)


class PlacementSettings(RuleSettings):
    """Which labels say nothing about a node."""

    universal_labels: tuple[str, ...] = Setting(
        default=UNIVERSAL, description="labels that never constrain: nearly all nodes share their values"
    )
    present_everywhere: tuple[str, ...] = Setting(
        default=PRESENT_EVERYWHERE,
        description="labels that every node has: `In` constrains, `Exists`, `Gt` and `Lt` do not",
    )


def judge(manifest: Manifest, _world: World, settings: PlacementSettings) -> Iterator[Finding]:
    """Judges DaemonSets of any API group; parts of a pod (patches, custom resources) where they set a placement."""
    pod, node_agent = pod_of(manifest), per_node(manifest)
    if pod is None or node_agent is False or not (pod.whole or _sets_placement(manifest, pod)):
        return
    if pod.spec["nodeName"].text:
        yield violation(manifest, pod.spec["nodeName"], PINNED, f"{FIX}.")
        return
    verdict = constrained(pod, settings)
    if verdict is False and node_agent:
        why = EVERYWHERE
        if manifest.patch:
            why = "the patch replaces a placement by one that limits it to no nodes"
        yield violation(manifest, _where(pod), why, f"{FIX}.")
    elif verdict is not True:
        why = "whether it is limited to some nodes depends on values that are not known yet"
        yield undecided(
            manifest, _where(pod), why, f"{FIX}, with keys and operators that are known at preview."
        )
    if (pod.spec["schedulerName"].text or DEFAULT_SCHEDULER) != DEFAULT_SCHEDULER:
        why = "another scheduler places its pods, by rules that are not known here"
        yield undecided(
            manifest, pod.spec["schedulerName"], why, "Use the default scheduler for node agents."
        )


def constrained(pod: Pod, settings: PlacementSettings) -> Truth:
    """Whether a pod can run on some nodes only."""
    wanted = demands(pod)
    by_selector = any_of(_constrains(demand, settings) for demand in wanted.selector)
    # No term left means that all are empty, and an empty term matches no node at all.
    terms = wanted.terms
    by_terms: Truth = False
    if terms is not None:
        by_terms = all_of(any_of(_constrains(demand, settings) for demand in term) for term in terms)
    blind: Truth = None if wanted.unknown else False
    return any_of([by_selector, by_terms, blind])


def _constrains(demand: Demand, settings: PlacementSettings) -> Truth:
    """Whether one condition keeps a pod off nodes that know nothing of it."""
    if demand.operator is not None and demand.operator not in CONSTRAINING:
        return False
    if demand.key is None:
        return None
    if demand.key in settings.universal_labels:
        return False
    if demand.operator is None:
        return None
    if demand.operator == "In":
        return demand.values is None or bool(demand.values)
    return demand.key not in settings.present_everywhere and not demand.is_field


def _sets_placement(manifest: Manifest, pod: Pod) -> bool:
    """Whether a part of a pod sets the placement; in a patch `nodeSelector: {}` does, it removes the labels."""
    fields = (pod.spec["nodeSelector"], pod.spec.at("affinity", "nodeAffinity"))
    return any(not (field.absent if manifest.patch else field.empty) for field in fields)


def _where(pod: Pod) -> Field:
    """The field to name: the one that was meant to limit it, else the pod's spec."""
    required, selector = pod.spec.at(*REQUIRED), pod.spec["nodeSelector"]
    return required if not required.empty else selector if not selector.empty else pod.spec


PAGE = """
## How it decides
A DaemonSet passes if its pods can run on some nodes only:
- required node affinity (`affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution`) whose **every**
  term has at least one constraining expression, since terms are alternatives and one weak term makes all weak; or
- a `nodeSelector` with a label that is not universal.

An expression constrains if its operator is `In`, `Exists`, `Gt` or `Lt` on a label that is not universal. `NotIn` and
`DoesNotExist` match every node that does not know the label, which is nearly all of them. For labels that every
node has (`presentEverywhere`) only `In` constrains. Preferred affinity filters nothing; pod affinity and
anti-affinity place no DaemonSet, they only leave its pods Pending.

Judged are DaemonSets of any API group (OpenKruise too), `CustomResource`s of that kind, and patches as well as
agents' custom resources (OpenTelemetryCollector, AmazonCloudWatchAgent, Alloy, ...) where they set one of these
fields. `nodeName` is refused: it goes around the scheduler. With another `schedulerName` the verdict is *cannot be
decided*.

AWS's own node agents in `kube-system` pass by their exact names (`aws-node`, `kube-proxy`, ...): only AWS can
change them.

## What it does not see
Mutating webhooks that change the object in the cluster, and static pods.

## Sources
kubernetes/kubernetes `component-helpers/scheduling/corev1/nodeaffinity`, `pkg/controller/daemon/daemon_controller.go`
(`NodeShouldRunDaemonPod`). Tested against the real controller and scheduler: `tests/policies/cluster/`.
"""

RULE = Rule(
    name="daemonset-placement",
    summary="A DaemonSet must say which nodes it is for, by required node affinity or a nodeSelector.",
    level=Level.MANDATORY,
    severity=Severity.HIGH,
    remediation=f"{FIX}.",
    page=PAGE,
    settings=PlacementSettings,
    judge=judge,
    spares_aws_agents=True,
)
