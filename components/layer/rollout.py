"""How long a rollout may take before the deployment fails: bounded, and growing with the cluster."""

from math import ceil

import pulumi

from components.cluster.node_groups import nodes_max
from components.settings.model import RenderTarget, Settings

# Pulling an image and becoming ready on one node; the agents' probes look every 10 s.
SECONDS_PER_STEP = 30
# Before the first step: scheduling, and an agent that has to preempt a pod waits for that pod to end (30 s by default).
SECONDS_TO_START = 60
# Stores: the old pod may take 300 s to flush before the new one can have the volume, then the log is replayed.
STORE_SECONDS = 600
# One small pod: pull and start.
POD_SECONDS = 300


def agents_seconds(settings: Settings) -> int:
    """Bound of a DaemonSet's rollout: as stated, else 60 + 30 x ceil(nodes / maxUnavailable) seconds; 300 for 15 nodes.

    The nodes are those that all groups have at most: a bound that shrank with the cluster would be none.
    """
    agents = settings.layer.agents
    if agents.timeout is not None:
        return int(agents.timeout[:-1]) * (60 if agents.timeout.endswith("m") else 1)
    nodes = sum(nodes_max(group) for group in settings.cluster.node_groups.values())
    return SECONDS_TO_START + SECONDS_PER_STEP * ceil(nodes / agents.max_unavailable)


def within(seconds: int) -> pulumi.CustomTimeouts:
    """The bound as a resource option: an annotation with the same meaning would be a change to the object."""
    return pulumi.CustomTimeouts(create=f"{seconds}s", update=f"{seconds}s")


def notes(settings: Settings, stack: str, *, preview: bool) -> list[str]:
    """Where a failure shows: `make why`, since the engine says only that it waited in vain.

    Args:
        settings: of the environment.
        stack: its name.
        preview: whether nothing is deployed.
    """
    found = []
    if settings.layer.logs != "off" and settings.layer.metrics == "off":
        found.append(
            "layer.metrics is off, so nothing counts the node agents: one that is missing shows at deploy and by "
            f"make why ENV={stack} only"
        )
    if not isinstance(settings.cluster.target, RenderTarget) and not preview:
        found.append(f"If this fails: make why ENV={stack} says which object, on which node, and why")
    return found


def say_where_to_look(settings: Settings) -> None:
    """Shows them."""
    for line in notes(settings, pulumi.get_stack(), preview=pulumi.runtime.is_dry_run()):
        pulumi.log.info(line)
