"""What would make the pods fit, the cheapest first."""

from collections.abc import Sequence
from itertools import islice

from components.cluster.pod_budget import AgentsPerNode, LayerPods, budget
from components.cluster.remedies.fewer_pods import fewer_pods
from components.cluster.remedies.max_pods import larger_type, prefix_delegation
from components.cluster.remedies.more_nodes import more_nodes
from components.cluster.remedies.other_groups import other_groups
from components.cluster.remedies.problem import Problem, Remedy
from components.settings.model import Settings

ALTERNATIVES = 3  # of one kind: more is no help
# In order of cost: a number in a file, where pods may run, new nodes of the same size, larger nodes, more nodes.
KINDS = (fewer_pods, other_groups, prefix_delegation, larger_type, more_nodes)


def remedies(settings: Settings, agents: AgentsPerNode, layer: Sequence[LayerPods]) -> tuple[Remedy, ...]:
    """What would make the pods fit; nothing if they fit, or if no change of one kind is enough.

    Args:
        settings: of the environment, as for `budget`.
        agents: the node agents' pods per node.
        layer: the layer's other pods.
    """
    problem = Problem(settings, agents, layer, budget(settings, agents, layer))
    if problem.found.fits:
        return ()
    return tuple(remedy for kind in KINDS for remedy in islice(kind(problem), ALTERNATIVES))
