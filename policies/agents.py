"""What runs once per node: the DaemonSets and their like among all objects."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policies.exemptions import is_aws_agent
from policies.landing import NodeKind, disjoint, lands
from policies.manifest import Manifest
from policies.opaque import add_on
from policies.pods import Pod, per_node, pod_of
from policies.values import Field, Truth, all_of
from policies.world import World

LOGS, NODE_METRICS = "log shipper", "node exporter"
# Images of agents by the last part of their name, or the last two where one says too little, and what they are for.
IMAGES = {
    "alloy": LOGS,
    "grafana-agent": LOGS,
    "promtail": LOGS,
    "fluent-bit": LOGS,
    "fluentbit": LOGS,
    "aws-for-fluent-bit": LOGS,
    "fluentd": LOGS,
    "fluentd-kubernetes-daemonset": LOGS,
    "fluentd-kubernetes": LOGS,
    "filebeat": LOGS,
    "elastic-agent": LOGS,
    "vector": LOGS,
    "logstash": LOGS,
    "node-exporter": NODE_METRICS,
    "prometheus-node-exporter": NODE_METRICS,
    "datadog/agent": LOGS,
    "datadoghq/agent": LOGS,
}
# Custom resources whose operator chooses the image.
KINDS = {"Alloy": LOGS, "FluentBit": LOGS, "FluentbitAgent": LOGS, "Beat": LOGS, "ClusterLogForwarder": LOGS}
# EKS add-ons that put agents on every node.
ADD_ONS = {
    "prometheus-node-exporter": (NODE_METRICS,),
    "fluent-bit": (LOGS,),
    "amazon-cloudwatch-observability": (LOGS,),
}


@dataclass(frozen=True)
class Agent:
    """One pod per node.

    Attributes:
        manifest: what makes it.
        pod: where it can run; None for an add-on, which runs everywhere.
        roles: what it is for, as far as its image says.
        certain: None if it may run in another mode.
    """

    manifest: Manifest
    pod: Pod | None
    roles: frozenset[str]
    certain: Truth = True

    @property
    def surges(self) -> Truth:
        """Whether a rollout makes a second pod on the node before the first one ends."""
        surge = self.manifest.root.at("spec", "updateStrategy", "rollingUpdate", "maxSurge")
        if surge.unknown:
            return None
        text = (surge.text or "").removesuffix("%")
        return bool(surge.number) or text.strip("0") != ""


def agents(world: World, *, with_aws: bool = False) -> Iterator[Agent]:
    """All that runs once per node, or may; AWS's own agents are the cluster's and no objects of ours."""
    for manifest in world:
        if manifest.patch or manifest.blank or (is_aws_agent(manifest) and not with_aws):
            continue
        if name := add_on(manifest):
            if name in ADD_ONS:
                yield Agent(manifest, None, frozenset(ADD_ONS[name]))
            continue
        certain, pod = per_node(manifest), pod_of(manifest)
        if certain is not False and pod is not None:
            yield Agent(manifest, pod, frozenset(_roles(manifest, pod)), certain)


def on(agent: Agent, node: NodeKind) -> Truth:
    """Whether the agent has a pod on such a node."""
    return True if agent.pod is None else all_of([agent.certain, lands(agent.pod, node)])


def can_meet(one: Agent, other: Agent) -> bool:
    """Whether two agents may have pods on one node."""
    return one.pod is None or other.pod is None or not disjoint(one.pod, other.pod)


def host_ports(agent: Agent) -> Iterator[tuple[int, str, Field]]:
    """Ports of the node that the agent takes: number, protocol, where."""
    if agent.pod is None:
        return
    shares = agent.pod.spec["hostNetwork"].true
    for container in agent.pod.containers():
        for port in container["ports"].items():
            number = port["containerPort"] if shares and not port["hostPort"].number else port["hostPort"]
            if number.number:
                yield int(number.number), port["protocol"].text or "TCP", number


def _roles(manifest: Manifest, pod: Pod) -> Sequence[str]:
    names = [name for container in pod.containers() for name in image_names(container["image"].text or "")]
    found = [IMAGES[name] for name in names if name in IMAGES]
    return [*found, *([KINDS[manifest.kind]] if manifest.kind in KINDS else [])]


def image_names(image: str) -> tuple[str, str]:
    """`fluent-bit` and `aws/fluent-bit` of `public.ecr.aws/aws/fluent-bit:2.1@sha256:...`."""
    *above, last = image.partition("@")[0].split("/")
    name = last.partition(":")[0]
    return name, f"{above[-1]}/{name}" if above else name
