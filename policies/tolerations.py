"""`daemonset-tolerations` and `workload-tolerations`: only taints that are named are tolerated."""

from collections.abc import Callable, Iterator

from policies.config import RuleSettings
from policies.manifest import Manifest
from policies.pods import per_node, pod_of
from policies.rule import Rule, Severity
from policies.values import Field, Truth, all_of, negate
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

FIX = (
    "Name the taint: `{key, operator: Equal, value, effect}` (or `{key, operator: Exists}`) for each taint of the "
    "nodes it is for, and nothing else"
)
# For so long the API server lets every pod stay on a node that is not ready (plug-in DefaultTolerationSeconds).
SECONDS = 300


def judge_node_agents(manifest: Manifest, _world: World, _settings: RuleSettings) -> Iterator[Finding]:
    """Judges what becomes one pod per node, and what might."""
    if per_node(manifest) is not False:
        yield from _tolerations(manifest, unbounded)


def judge_workloads(manifest: Manifest, _world: World, _settings: RuleSettings) -> Iterator[Finding]:
    """Judges everything else that makes pods."""
    if per_node(manifest) is False:
        yield from _tolerations(manifest, for_good)


def unbounded(toleration: Field) -> Truth:
    """Whether it tolerates taints that it does not name: `Exists` without a key."""
    key, operator = toleration["key"], toleration["operator"]
    return all_of([None if key.unknown else key.empty, _is(operator, "Exists")])


def for_good(toleration: Field) -> Truth:
    """Whether it does so for longer than any pod may stay on a node that has failed."""
    return all_of([unbounded(toleration), negate(_soon_over(toleration))])


def _soon_over(toleration: Field) -> Truth:
    """Whether it only delays an eviction: the API server takes `tolerationSeconds` with NoExecute alone."""
    seconds = toleration["tolerationSeconds"]
    short = None if seconds.unknown else seconds.number is not None and seconds.number <= SECONDS
    return all_of([_is(toleration["effect"], "NoExecute"), short])


def _tolerations(manifest: Manifest, judge: Callable[[Field], Truth]) -> Iterator[Finding]:
    pod = pod_of(manifest)
    if pod is None:
        return
    tolerations = pod.spec["tolerations"]
    if tolerations.unknown:
        reason = "which taints it tolerates is not known yet"
        yield undecided(manifest, tolerations, reason, f"{FIX}, with keys that are known at preview.")
    for toleration in tolerations.items():
        yield from _toleration(manifest, toleration, judge(toleration))


def _toleration(manifest: Manifest, toleration: Field, verdict: Truth) -> Iterator[Finding]:
    if verdict:
        effect = toleration["effect"].text
        yield violation(manifest, toleration, why(effect or ""), f"{FIX}.", effect=effect or "")
    elif verdict is None:
        reason = "not all of it is known yet, and `Exists` without a key would tolerate every taint"
        yield undecided(manifest, toleration, reason, f"{FIX}, with keys that are known at preview.")
    elif toleration["key"].empty and isinstance(toleration.value, dict) and not unbounded(toleration):
        reason = "the API server refuses a toleration without a key whose operator is not Exists"
        yield violation(manifest, toleration, reason, f"{FIX}.", invalid="yes")


def why(effect: str) -> str:
    """What is wrong with a toleration of all taints of an effect, or, if that is empty, of all."""
    taints = f"every {effect} taint" if effect else "every taint of every effect"
    return f"`Exists` without a key tolerates {taints}, those of nodes that are not meant too"


def _is(field: Field, text: str) -> Truth:
    return None if field.unknown else field.text == text


PAGE = """
## How it decides
`{{operator: Exists}}` without a key (or with an empty one) tolerates every taint, with an `effect` every taint of that
effect. So the two halves `{{Exists, NoSchedule}}` and `{{Exists, NoExecute}}` are refused each; together they are the
whole. A keyed `Exists` is bounded and passes, whatever its effect. A missing operator means `Equal`; without a key
that is refused by the API server, and said so here. Unknown operators (`Lt`, `Gt`) with a key pass.

The tolerations that the DaemonSet controller adds by itself (not-ready, unreachable, disk, memory and PID pressure,
unschedulable) are keyed: stated or not, they are no matter.

In custom resources of agents and in patches the field is judged where it is set.
{more}
## What it does not see
Admission webhooks and policies that add tolerations in the cluster; the ExtendedResourceToleration plug-in.

## Sources
kubernetes/kubernetes `staging/src/k8s.io/component-helpers/scheduling/corev1`, `api/core/v1/toleration.go`. Tested
against the real scheduler: `tests/policies/cluster/`.
"""

NO_DELAY = """
With `tolerationSeconds` it is refused as well: the controller makes the pod on every node whose taints are tolerated,
and again each time that it is evicted.
"""
DELAY = f"""
`{{operator: Exists, effect: NoExecute, tolerationSeconds: {SECONDS}}}`, and any shorter time, passes, as in AWS's chart
of the EBS driver: it delays an eviction, as the API server lets every pod stay {SECONDS} s on a node that is not ready.
Onto a node that only a NoExecute taint keeps for others such a pod comes for that time. A longer time is refused like
none.

A Deployment that tolerates everything is worse than a DaemonSet that does: drained from one node, its pods come back on
the next one that is being drained.
"""

DAEMON_SETS = Rule(
    name="daemonset-tolerations",
    summary="A DaemonSet tolerates only taints that it names.",
    level=Level.MANDATORY,
    severity=Severity.HIGH,
    remediation=f"{FIX}.",
    page=PAGE.format(more=NO_DELAY),
    judge=judge_node_agents,
    spares_aws_agents=True,
)
WORKLOADS = Rule(
    name="workload-tolerations",
    summary="A workload tolerates only taints that it names.",
    level=Level.MANDATORY,
    severity=Severity.MEDIUM,
    remediation=f"{FIX}.",
    page=PAGE.format(more=DELAY),
    judge=judge_workloads,
)
