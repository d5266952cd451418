"""`pod-slots`: what runs once per node fits on the nodes, with room for what the nodes are for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import Field as Setting

from components.cluster.node_groups import max_pods, system_pods
from components.settings.model import NodeGroup
from components.wording import listed
from policies.agents import Agent, agents, on
from policies.config import RuleSettings
from policies.landing import NodeKind, group_of, of_group, of_node
from policies.rule import Rule, Severity
from policies.values import Field, Truth
from policies.verdict import Finding, Level, Subject, undecided, violation
from policies.world import World

FIX = (
    "Remove agents that do the same twice, limit them to other groups, set `maxSurge: 0`, or choose instance types or "
    "prefix delegation with more pods per node"
)
DECLARED = "pack-settings"
# A message that lists more agents than these explains nothing.
MOST_AGENTS = 6


class PodSlotsSettings(RuleSettings):
    """How much of a node agents may take."""

    leave_free: int = Setting(
        default=1, ge=0, description="pod slots of each node that agents must leave to other pods"
    )


@dataclass(frozen=True)
class Group:
    """Nodes that are alike, with their slots.

    Attributes:
        source: who says so.
        node: what is known of each of them.
        slots: max-pods.
        system: pods of the cluster's own on each.
    """

    name: str
    source: str
    node: NodeKind
    slots: int
    system: int


def judge_all(world: World, settings: PodSlotsSettings) -> Iterator[Finding]:
    """Judges every declared node group, else every node of a cluster that was read."""
    found = list(agents(world, with_aws=bool(world.live_nodes and not world.node_groups)))
    if not any(agent.manifest.judged for agent in found):
        return
    if not (world.node_groups or world.live_nodes):
        subject = Subject("Cluster", "nodes", DECLARED)
        why = f"{len(found)} agents run once per node, and no node groups are declared to count their slots"
        yield undecided(subject, "", why, "State `nodeGroups` in `pack-settings` or the program's settings.")
    for name, group in world.node_groups.items():
        yield from _declared(name, group, found, settings)
    if not world.node_groups:
        yield from _live(world, found, settings)


def _declared(
    name: str, group: NodeGroup, found: Sequence[Agent], settings: PodSlotsSettings
) -> Iterator[Finding]:
    try:
        slots = max_pods(group)
    except ValueError as error:
        subject = Subject("NodeGroup", name, DECLARED)
        yield undecided(subject, "maxPods", str(error), "State `maxPods` of the group.")
        return
    yield from _group(
        Group(name, DECLARED, of_group(name, group), slots, system_pods(group)), found, settings
    )


def _live(world: World, found: Sequence[Agent], settings: PodSlotsSettings) -> Iterator[Finding]:
    """Each group once, by the first of its nodes that is too small; the cluster's own agents are among the agents."""
    reported = set()
    for raw in world.live_nodes:
        slots = Field(raw).at("status", "allocatable", "pods")
        number = int(slots.number or slots.text or 0)
        group = Group(group_of(raw), "the cluster's nodes", of_node(raw), number, 0)
        if group.name not in reported:
            findings = list(_group(group, found, settings))
            yield from findings
            reported |= {group.name} if findings else set()


def _group(group: Group, found: Sequence[Agent], settings: PodSlotsSettings) -> Iterator[Finding]:
    here = [(agent, truth) for agent in found if (truth := on(agent, group.node)) is not False]
    room = group.slots - group.system - settings.leave_free
    least = sum(_pods(agent.surges, truth, least=True) for agent, truth in here)
    most = sum(_pods(agent.surges, truth, least=False) for agent, truth in here)
    names = listed([agent.manifest.label() for agent, _ in here], MOST_AGENTS)
    sums = (
        f"of {group.slots} pods per node {group.system} are the cluster's own and {settings.leave_free} are left to "
        f"other pods, which leaves {room} for agents ({names})"
    )
    subject = Subject("NodeGroup", group.name, group.source)
    if here and least > room:
        yield violation(
            subject, "", f"its nodes get {least} agent pods each, rollouts included; {sums}", f"{FIX}."
        )
    elif here and most > room:
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

On a cluster that was read, and without declared groups, the nodes themselves are counted.

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
