"""`pod-slots`: what runs once per node fits on the nodes, with room for what the nodes are for."""

from collections.abc import Iterator, Sequence

from pydantic import Field as Setting

from components.cluster.node_groups import max_pods, system_pods
from components.settings.model import NodeGroup
from policies.agents import Agent, agents, on
from policies.config import RuleSettings
from policies.landing import of_group
from policies.rule import Rule, Severity
from policies.values import Truth
from policies.verdict import Finding, Level, Subject, undecided, violation
from policies.world import World

FIX = (
    "Remove agents that do the same twice, limit them to other groups, set `maxSurge: 0`, or choose instance types or "
    "prefix delegation with more pods per node"
)
# A message that lists more agents than these explains nothing.
MOST_AGENTS = 6


class PodSlotsSettings(RuleSettings):
    """How much of a node agents may take."""

    leave_free: int = Setting(
        default=1, ge=0, description="pod slots of each node that agents must leave to other pods"
    )


def judge_all(world: World, settings: PodSlotsSettings) -> Iterator[Finding]:
    """Judges every declared node group."""
    found = list(agents(world))
    if not found:
        return
    if not world.node_groups:
        subject = Subject("Cluster", "nodes", "pack-settings")
        why = f"{len(found)} agents run once per node, and no node groups are declared to count their slots"
        yield undecided(subject, "", why, "State `nodeGroups` in `pack-settings` or the program's settings.")
    for name, group in world.node_groups.items():
        yield from _group(name, group, found, settings)


def _group(
    name: str, group: NodeGroup, found: Sequence[Agent], settings: PodSlotsSettings
) -> Iterator[Finding]:
    subject = Subject("NodeGroup", name, "pack-settings")
    node = of_group(name, group)
    here = [(agent, truth) for agent in found if (truth := on(agent, node)) is not False]
    if not here:
        return
    try:
        slots = max_pods(group)
    except ValueError as error:
        yield undecided(subject, "maxPods", str(error), "State `maxPods` of the group.")
        return
    room = slots - system_pods(group) - settings.leave_free
    least = sum(_pods(agent.surges, truth, least=True) for agent, truth in here)
    most = sum(_pods(agent.surges, truth, least=False) for agent, truth in here)
    names = ", ".join(agent.manifest.label() for agent, _ in here[:MOST_AGENTS])
    more = f" and {len(here) - MOST_AGENTS} more" if len(here) > MOST_AGENTS else ""
    sums = (
        f"of {slots} pods per node {system_pods(group)} are the cluster's own and {settings.leave_free} are left to "
        f"other pods, which leaves {room} for agents ({names}{more})"
    )
    if least > room:
        yield violation(
            subject, "", f"its nodes get {least} agent pods each, rollouts included; {sums}", f"{FIX}."
        )
    elif most > room:
        why = f"its nodes get {least} to {most} agent pods each, depending on what is not known; {sums}"
        yield undecided(subject, "", why, f"{FIX}.")


def _pods(surges: Truth, here: Truth, *, least: bool) -> int:
    """Pods of one agent on one node, at the most that a rollout makes of it."""
    if least:
        return (1 + (surges is True)) if here else 0
    return 1 + (surges is not False)


PAGE = """
## How it decides
For each declared node group: max-pods of its nodes (from the instance type, as `components/cluster/pod_slots.py` does
it, or `maxPods`), less the cluster's own pods (`systemPods`) and `leaveFree`, must hold all agents that land there:
DaemonSets, agents' custom resources in DaemonSet mode and EKS add-ons known to bring agents, each with one pod and a
second one if its rollout surges (`maxSurge`). hostNetwork saves an address and no slot: kubelet counts every pod.

Where an agent lands follows from its nodeSelector, required affinity and tolerations. Of a declared group the
selector's label, the operating system, the instance types and the taints are known; a condition on another label
counts as *may land here*, and only a group for which it matters is reported as *cannot be decided*.

The node groups are those of the program's setting `shared-observability:cluster`, or `pack-settings.nodeGroups`. AWS's
own agents in kube-system are part of `systemPods`.

## What it does not see
Other pods: whether the tenants' pods fit is the program's pod budget, shown at each preview. DaemonSets of other stacks
and of charts that nobody can see into.

## Sources
awslabs/amazon-eks-ami `nodeadm/internal/kubelet/eni_max_pods.go`; kubernetes/kubernetes `pkg/controller/daemon/util`.
"""

RULE = Rule(
    name="pod-slots",
    summary="The agents of a node, rollouts included, fit into its pod slots and leave room for other pods.",
    level=Level.MANDATORY,
    severity=Severity.HIGH,
    remediation=f"{FIX}.",
    page=PAGE,
    settings=PodSlotsSettings,
    judge_all=judge_all,
)
