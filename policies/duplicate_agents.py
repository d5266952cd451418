"""`duplicate-agents`: one log shipper and one node exporter per node are enough."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from policies.agents import LOGS, NODE_METRICS, Agent, agents, can_meet, host_ports
from policies.config import RuleSettings
from policies.rule import Rule, Severity
from policies.values import Field
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

FIX = "Keep the layer's agent and remove the other one, or limit the two to different node groups"


def judge_all(world: World, _settings: RuleSettings) -> Iterator[Finding]:
    """Judges agents that can meet on one node: each is named once, with the first that does the same."""
    found = sorted(agents(world), key=lambda agent: agent.manifest.label())
    for role in (LOGS, NODE_METRICS):
        yield from _same_role([agent for agent in found if role in agent.roles], role)
    yield from _same_port(found)


def _same_role(found: Sequence[Agent], role: str) -> Iterator[Finding]:
    for number, agent in enumerate(found):
        first = next((other for other in found[:number] if can_meet(agent, other)), None)
        if first is None:
            continue
        # The add-on is the one to name: it is not among the objects that people look at.
        named, beside = (first, agent) if first.pod is None else (agent, first)
        why = f"it is a second {role} on nodes where {beside.manifest.label()} runs, and takes a pod slot of each"
        say = violation if agent.certain and first.certain else undecided
        yield say(named.manifest, "", why, f"{FIX}.", role=role)


def _same_port(found: Sequence[Agent]) -> Iterator[Finding]:
    taken = [
        (agent, {(port, protocol): field for port, protocol, field in host_ports(agent)}) for agent in found
    ]
    for (one, ports), (other, more) in combinations(taken, 2):
        for key in sorted(ports.keys() & more.keys()):
            if can_meet(one, other):
                yield from _clash(one, other, key, more[key])


def _clash(one: Agent, other: Agent, key: tuple[int, str], where: Field) -> Iterator[Finding]:
    port, protocol = key
    why = f"port {port}/{protocol} of the node is {one.manifest.label()}'s too: one of the two stays Pending"
    say = violation if one.certain and other.certain else undecided
    yield say(other.manifest, where, why, f"{FIX}.", port=str(port))


PAGE = """
## How it decides
Agents are DaemonSets, agents' custom resources that may run as one, and EKS add-ons known to bring agents
(`prometheus-node-exporter`, `fluent-bit`, `amazon-cloudwatch-observability`). What they are for follows from the
image's name (`alloy`, `promtail`, `fluent-bit`, `fluentd`, `filebeat`, `vector`, ...; `node-exporter`), whatever
its registry. Two of one role are reported unless their placements exclude each other: node classes with one
DaemonSet each pass.

Two agents that take the same port of a node are reported too, whatever their images: with `hostNetwork` every
containerPort is one.

## What it does not see
Images of other names, agents of charts that nobody can see into, and agents with two roles in one container.
"""

RULE = Rule(
    name="duplicate-agents",
    summary="No node runs two log shippers or two node exporters, and no two agents take the same port of it.",
    level=Level.ADVISORY,
    severity=Severity.MEDIUM,
    remediation=f"{FIX}.",
    page=PAGE,
    judge_all=judge_all,
)
