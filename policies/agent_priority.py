"""`agent-priority`: node agents outrank the pods whose slots they need."""

from collections.abc import Iterator

from policies.config import RuleSettings
from policies.manifest import Manifest
from policies.pods import per_node, pod_of
from policies.rule import Rule, Severity
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

FIX = (
    "Give node agents a PriorityClass of their own, above the tenants' and below `system-cluster-critical` "
    "(1000000000 is the highest value that is not reserved)"
)
RESERVED = ("system-node-critical", "system-cluster-critical")
SYSTEM_NAMESPACE = "kube-system"


def judge(manifest: Manifest, world: World, _settings: RuleSettings) -> Iterator[Finding]:
    """Judges what becomes one pod per node."""
    pod = pod_of(manifest)
    if not per_node(manifest) or pod is None or (manifest.patch and pod.spec["priorityClassName"].absent):
        return
    name = pod.spec["priorityClassName"]
    if name.unknown or pod.spec.unknown:
        yield undecided(manifest, name, "its priority class is not known yet", f"{FIX}.")
    elif name.empty:
        why = "without a priority class it stays Pending on a full node for as long as the node is full"
        yield violation(manifest, name, why, f"{FIX}.")
    elif name.text in RESERVED and manifest.namespace.text != SYSTEM_NAMESPACE:
        why = "the priority of the cluster's own pods lets an agent evict what the node itself needs"
        yield violation(manifest, name, why, f"{FIX}.")
    else:
        for found in world.find("PriorityClass", name.text or ""):
            value = found.root["value"].number
            if value is not None and value <= 0:
                why = f"{found.label()} ranks no higher than pods without a class, so it evicts nobody"
                yield violation(manifest, name, why, f"{FIX}.")


PAGE = """
## How it decides
On a node whose pod slots are all taken the scheduler makes room for a DaemonSet's pod only by evicting pods of strictly
lower priority; at equal priority it stays Pending without an end. So a DaemonSet (or an agent's custom resource in that
mode) needs a `priorityClassName`; one whose class is declared here with a value of 0 or less has none. Outside
kube-system the two classes of the cluster's own pods are refused: an agent must not evict those.

AWS's own node agents pass.

## What it does not see
Values of classes that are declared elsewhere, and a global default class.

## Sources
kubernetes/kubernetes#140984 (a DaemonSet pod Pending for 11 days on a node full of pods of equal priority).
"""

RULE = Rule(
    name="agent-priority",
    summary="Node agents have a priority class above other pods.",
    level=Level.ADVISORY,
    severity=Severity.MEDIUM,
    remediation=f"{FIX}.",
    page=PAGE,
    judge=judge,
    joins=True,
    spares_aws_agents=True,
)
