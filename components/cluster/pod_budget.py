"""The pod budget: what the nodes take, what the agents use of it, and whether everybody's pods fit.

Per group: slots = max-pods x nodes; left = what remains for the layer's and the tenants' pods after the cluster's own
pods and the node agents. Whether these fit is no sum, since each may use some groups only, but a maximum flow
(`pod_flow`). A group that is scaled automatically counts with its most nodes; what the fewest would give is said too.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from components.cluster import node_groups, pod_slots
from components.cluster.pod_flow import Class, Flow, place
from components.settings.model import NodeGroup, Settings
from components.settings.tenant import Tenant, pods_by_namespace

PER_APP_AGENTS = 2  # the incident's shape: an exporter and a log agent of every app on every node


@dataclass(frozen=True)
class AgentsPerNode:
    """The node agents' pods on each node."""

    pods: int
    host_network: int = 0
    """How many of these use the node's own address."""
    surge: int = 0
    """DaemonSets with maxSurge above 0: each needs one more slot per node during a rollout."""

    @property
    def slots(self) -> int:
        """Slots to keep per node."""
        return self.pods + self.surge

    @property
    def addresses(self) -> int:
        """Addresses to keep per node; what surges cannot be hostNetwork, whose ports would clash."""
        return self.pods - self.host_network + self.surge


@dataclass(frozen=True)
class LayerPods:
    """Pods of the layer that are no node agents."""

    name: str
    pods: int
    groups: tuple[str, ...] | None = None
    """Groups that they may use; None: what `layer.runsOn` says."""


@dataclass(frozen=True)
class Demand:
    """Pods that want slots."""

    name: str
    pods: int
    groups: Class
    tenant: bool


@dataclass(frozen=True)
class GroupBudget:
    """One group's part of the budget; all numbers are pods."""

    name: str
    kind: str
    instance_types: tuple[str, ...]
    nodes_min: int
    nodes_max: int
    slots_per_node: pod_slots.NodeSlots
    system: int
    """The cluster's own pods per node."""
    agents: int
    """Slots of the node agents per node, surge included."""
    by_slots: int
    """What slots leave per node; negative if not even agents and the cluster's own pods fit."""
    by_addresses: int | None
    """What addresses leave per node; None if nothing is known that limits them."""

    @property
    def max_pods(self) -> int:
        """Slots of one node."""
        return self.slots_per_node.max_pods

    @property
    def slots(self) -> int:
        """Slots of all nodes."""
        return self.max_pods * self.nodes_max

    @property
    def limited_by_addresses(self) -> bool:
        """Whether addresses run out before slots."""
        return self.by_addresses is not None and self.by_addresses < self.by_slots

    @property
    def short(self) -> int:
        """Pods per node that are too many before any app has one."""
        return max(-self._rest, 0)

    @property
    def per_node(self) -> int:
        """What is left for the layer and the tenants on one node."""
        return max(self._rest, 0)

    @property
    def _rest(self) -> int:
        return self.by_slots if self.by_addresses is None else min(self.by_slots, self.by_addresses)

    @property
    def left(self) -> int:
        """What is left for the layer and the tenants on all nodes."""
        return self.per_node * self.nodes_max


@dataclass(frozen=True)
class Binding:
    """The groups that are too small, and everybody who can use nothing else."""

    groups: tuple[str, ...]
    demands: tuple[Demand, ...]
    need: int
    have: int


@dataclass(frozen=True)
class PodBudget:
    """The budget of one environment."""

    cluster: str
    groups: tuple[GroupBudget, ...]
    demands: tuple[Demand, ...]
    agents: AgentsPerNode
    default_groups: Class
    """Groups of a tenant that states no `runsOn`."""

    @cached_property
    def at_max(self) -> Flow:
        """Placement on the most nodes."""
        return place(self.classes, {group.name: group.left for group in self.groups})

    @cached_property
    def at_min(self) -> Flow:
        """Placement on the fewest nodes."""
        return place(self.classes, {group.name: group.per_node * group.nodes_min for group in self.groups})

    @property
    def classes(self) -> Counter[Class]:
        """Pods by the groups that they may use."""
        total: Counter[Class] = Counter()
        for demand in self.demands:
            total[demand.groups] += demand.pods
        return total

    @property
    def need(self) -> int:
        """Pods of the layer and the tenants."""
        return sum(demand.pods for demand in self.demands)

    @property
    def left(self) -> int:
        """Pods of the layer and the tenants that the nodes take, whatever groups they may use."""
        return sum(group.left for group in self.groups)

    @property
    def overfull(self) -> tuple[GroupBudget, ...]:
        """Groups on whose nodes not even the agents fit."""
        return tuple(group for group in self.groups if group.short)

    @property
    def fits(self) -> bool:
        """Whether agents run on every node and every pod has a slot, on the most nodes."""
        return not self.overfull and self.at_max.placed == self.need

    @property
    def binding(self) -> Binding | None:
        """What stands in the way, the smallest such set; None if all pods fit."""
        flow = self.at_max
        if flow.placed == self.need:
            return None
        groups = tuple(group for group in self.groups if group.name in flow.groups)
        demands = tuple(demand for demand in self.demands if demand.pods and demand.groups in flow.classes)
        return Binding(
            groups=tuple(group.name for group in groups),
            demands=demands,
            need=sum(demand.pods for demand in demands),
            have=sum(group.left for group in groups),
        )

    @property
    def room(self) -> int:
        """The most pods that one more tenant without `runsOn` could have beside all others."""
        if not self.fits:
            return 0
        classes = self.classes
        classes[self.default_groups] += self.left
        return place(classes, {group.name: group.left for group in self.groups}).placed - self.need

    @property
    def nodes(self) -> int:
        """The most nodes of all groups."""
        return sum(group.nodes_max for group in self.groups)

    @property
    def nodes_min(self) -> int:
        """The fewest nodes of all groups."""
        return sum(group.nodes_min for group in self.groups)

    @property
    def slots(self) -> int:
        """Slots of all nodes."""
        return sum(group.slots for group in self.groups)

    @property
    def agent_pods(self) -> int:
        """Pods of the node agents on all nodes, without surge."""
        return self.agents.pods * self.nodes

    @property
    def agents_share(self) -> float:
        """The node agents' part of all slots, 0 to 1."""
        return self.agent_pods / self.slots

    @property
    def apps(self) -> int:
        """Number of tenants."""
        return sum(demand.tenant for demand in self.demands)

    @property
    def per_app_shape(self) -> int:
        """Agent pods if every app brought its own to every node, as in the incident: 2 x nodes x apps."""
        return PER_APP_AGENTS * self.nodes * self.apps


def tenant_pods(name: str, tenant: Tenant) -> int:
    """Peak of the tenant's pods, its own Grafana and collector included: what its quotas add up to."""
    return sum(pods_by_namespace(name, tenant).values())


def budget(settings: Settings, agents: AgentsPerNode, layer: Sequence[LayerPods]) -> PodBudget:
    """The pod budget of an environment.

    Args:
        settings: the whole tree; instance types must be known or `maxPods` stated.
        agents: the node agents' pods per node.
        layer: the layer's other pods.
    """
    cluster = settings.cluster
    layer_groups = node_groups.allowed_groups(cluster, settings.layer.runs_on)
    of_layer = (
        Demand(pods.name, pods.pods, layer_groups if pods.groups is None else pods.groups, tenant=False)
        for pods in layer
    )
    of_tenants = (
        Demand(
            name, tenant_pods(name, tenant), node_groups.allowed_groups(cluster, tenant.runs_on), tenant=True
        )
        for name, tenant in settings.tenants.items()
    )
    return PodBudget(
        cluster=cluster.name,
        groups=tuple(_group(name, group, agents) for name, group in cluster.node_groups.items()),
        demands=(*of_layer, *of_tenants),
        agents=agents,
        default_groups=node_groups.allowed_groups(cluster, ()),
    )


def _group(name: str, group: NodeGroup, agents: AgentsPerNode) -> GroupBudget:
    slots, system = pod_slots.of_group(group), node_groups.system_pods(group)
    taken = node_groups.system_addresses(group) + agents.addresses
    return GroupBudget(
        name=name,
        kind=group.kind,
        instance_types=group.instance_types,
        nodes_min=node_groups.nodes_min(group),
        nodes_max=node_groups.nodes_max(group),
        slots_per_node=slots,
        system=system,
        agents=agents.slots,
        by_slots=slots.max_pods - system - agents.slots,
        by_addresses=None if slots.addresses is None else slots.addresses - taken,
    )
