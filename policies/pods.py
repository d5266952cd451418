"""Where an object holds a pod: workloads, and custom resources of agents that an operator turns into workloads.

Operators and the default of their mode, read in their sources:
    OpenTelemetryCollector      opentelemetry-operator: an empty mode is a Deployment (webhook default)
    AmazonCloudWatchAgent       amazon-cloudwatch-agent-operator: same CRD shape, API default deployment
    DcgmExporter, NeuronMonitor same operator: always one pod per node
    Alloy                       alloy-operator: spec is the chart's values; the chart's controller.type is 'daemonset'
    PrometheusAgent             prometheus-operator: mode StatefulSet (default) or DaemonSet
    FluentBit, Collector        fluent-operator: FluentBit is always a DaemonSet
    DatadogAgent, Beat, Agent   node agent of Datadog by default; Elastic's run as DaemonSet where `spec.daemonSet`
    is set
"""

from collections.abc import Iterator
from dataclasses import dataclass

from policies.manifest import Manifest
from policies.values import Field, Truth

DAEMON_SET = "DaemonSet"
# Kinds whose pod template is `spec.template`, in any API group: OpenKruise and Argo Rollouts use the same shape.
TEMPLATE_KINDS = frozenset(
    {
        DAEMON_SET,
        "Deployment",
        "StatefulSet",
        "ReplicaSet",
        "ReplicationController",
        "Job",
        "CloneSet",
        "Rollout",
    }
)
CRON_KINDS = frozenset({"CronJob", "AdvancedCronJob"})


@dataclass(frozen=True)
class AgentKind:
    """A custom resource that an operator turns into agents.

    Attributes:
        group: API group.
        kind: its kind.
        mode: path of the field that decides; empty if every object is one pod per node.
        per_node: values of that field that mean one pod per node, in lower case; `*` means that it is set at all.
        default: the value of a missing or empty field.
        pod: path of the object that has the fields of a pod (nodeSelector, tolerations, ...).
    """

    group: str
    kind: str
    mode: tuple[str, ...]
    per_node: str
    default: str
    pod: tuple[str, ...] = ("spec",)


AGENT_KINDS = (
    AgentKind("opentelemetry.io", "OpenTelemetryCollector", ("spec", "mode"), "daemonset", "deployment"),
    AgentKind(
        "cloudwatch.aws.amazon.com", "AmazonCloudWatchAgent", ("spec", "mode"), "daemonset", "deployment"
    ),
    AgentKind("cloudwatch.aws.amazon.com", "DcgmExporter", (), "", ""),
    AgentKind("cloudwatch.aws.amazon.com", "NeuronMonitor", (), "", ""),
    AgentKind(
        "collectors.grafana.com",
        "Alloy",
        ("spec", "controller", "type"),
        "daemonset",
        "daemonset",
        ("spec", "controller"),
    ),
    AgentKind("monitoring.coreos.com", "PrometheusAgent", ("spec", "mode"), "daemonset", "statefulset"),
    AgentKind("fluentbit.fluent.io", "FluentBit", (), "", ""),
    AgentKind("logging.banzaicloud.io", "FluentbitAgent", (), "", ""),
    AgentKind("logging.banzaicloud.io", "NodeAgent", (), "", ""),
    AgentKind("datadoghq.com", "DatadogAgent", (), "", ""),
    AgentKind("beat.k8s.elastic.co", "Beat", ("spec", "daemonSet"), "*", ""),
    AgentKind("agent.k8s.elastic.co", "Agent", ("spec", "daemonSet"), "*", ""),
    AgentKind("observability.openshift.io", "ClusterLogForwarder", (), "", ""),
    AgentKind("dynatrace.com", "DynaKube", (), "", ""),
    AgentKind("monitoring.grafana.com", "GrafanaAgent", (), "", ""),
    AgentKind("nvidia.com", "ClusterPolicy", (), "", ""),
)
_AGENT_KINDS = {(agent.group, agent.kind): agent for agent in AGENT_KINDS}


@dataclass(frozen=True)
class Pod:
    """What an object says of its pods.

    Attributes:
        spec: the object with a pod's fields.
        metadata: the pods' labels and annotations.
        whole: False if it is a part of a pod (a patch, a custom resource): what it does not say is unknown.
    """

    spec: Field
    metadata: Field
    whole: bool

    def containers(self) -> Iterator[Field]:
        """Init, normal and ephemeral containers; of a custom resource its own fields, which are a container's."""
        for kind in ("initContainers", "containers", "ephemeralContainers"):
            yield from self.spec[kind].items()

    def unknown_containers(self) -> Iterator[Field]:
        """Lists of containers that are not known."""
        for kind in ("initContainers", "containers"):
            if self.spec[kind].unknown:
                yield self.spec[kind]


def pod_of(manifest: Manifest) -> Pod | None:
    """The pod that the object holds, or None if it holds none."""
    root, whole = manifest.root, not manifest.patch
    if manifest.kind == "Pod" and not manifest.group:
        return Pod(root["spec"], root["metadata"], whole)
    if manifest.kind == "PodTemplate" and not manifest.group:
        return Pod(root.at("template", "spec"), root.at("template", "metadata"), whole)
    if manifest.kind in CRON_KINDS:
        template = root.at("spec", "jobTemplate", "spec", "template")
        if template.absent:  # OpenKruise
            template = root.at("spec", "template", "jobTemplate", "spec", "template")
        return Pod(template["spec"], template["metadata"], whole)
    if manifest.kind in TEMPLATE_KINDS:
        template = root.at("spec", "template")
        return Pod(template["spec"], template["metadata"], whole)
    agent = agent_kind(manifest)
    return Pod(root.at(*agent.pod), Field(None), whole=False) if agent else None


def agent_kind(manifest: Manifest) -> AgentKind | None:
    """The row of the table, if the object is an agent's custom resource."""
    return _AGENT_KINDS.get((manifest.group, manifest.kind))


def per_node(manifest: Manifest) -> Truth:
    """Whether the object becomes one pod per node; None if its mode is not known."""
    if manifest.kind == DAEMON_SET:
        return True
    agent = agent_kind(manifest)
    if agent is None:
        return False
    if not agent.mode:
        return True
    mode = manifest.root.at(*agent.mode)
    if mode.unknown:
        return None
    if agent.per_node == "*":
        return not mode.absent
    return (mode.text or agent.default).lower() == agent.per_node


def mode_path(manifest: Manifest) -> str:
    """Path of the field that makes it one pod per node; empty if its kind does."""
    agent = agent_kind(manifest)
    return manifest.root.at(*agent.mode).path if agent and agent.mode else ""
