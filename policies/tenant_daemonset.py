"""`tenant-daemonset`: tenants run nothing on every node, whatever makes it."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field as Setting

from components.cluster.node_groups import nodes_min
from policies.config import RuleSettings
from policies.manifest import Manifest
from policies.opaque import CONTAINERS, Opaque, counts, daemon_sets, opaque
from policies.pods import DAEMON_SET, mode_path, per_node, pod_of
from policies.rule import Rule, Severity
from policies.tenancy import Owner
from policies.values import Field
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

FIX = (
    "Remove it: the layer's node agents collect every namespace's logs and metrics. Turn signals on by the tenant's "
    "settings `logs` and `metrics`, or use `logs: api` for a collector of its own without a DaemonSet"
)
ONE_POD_PER_NODE = (
    "{whose} gets one pod on every node, each taking a pod slot that the layer's agents took already"
)
LOOK_INSIDE = (
    "Deploy it by `helm.v4.Chart` or `yaml.v2` so that its objects are seen, render it and run "
    "`python -m policies.check --namespace ...`, or state it in `trustedCharts`"
)
HOSTNAME = "kubernetes.io/hostname"
# Fewer nodes than this, and a Deployment spread over all of them is nothing unusual.
FEW_NODES = 3


class TenantDaemonSetSettings(RuleSettings):
    """What to say of objects that nobody can see into."""

    opaque: Literal["undecided", "violation", "ignore"] = Setting(
        default="undecided",
        description="verdict on charts, GitOps objects, add-ons and commands of a tenant, which cannot be seen into",
    )
    trusted_charts: tuple[str, ...] = Setting(
        default=(), description="charts that were looked into, as `name@version`"
    )


def judge(manifest: Manifest, world: World, settings: TenantDaemonSetSettings) -> Iterator[Finding]:
    """Judges everything that is a tenant's and becomes pods."""
    if (hidden := opaque(manifest)) is not None:
        yield from _hidden(manifest, hidden, world, settings)
        return
    owner = world.tenancy.owner(manifest)
    if owner.known is False:
        return
    yield from _container(manifest, owner, world, settings)
    node_agent = per_node(manifest)
    if node_agent is False:
        yield from _spread(manifest, owner, world)
    elif owner.known is None:
        yield from _unknown_namespace(manifest, world)
    elif node_agent is None:
        why = f"whether {owner.label} gets one pod on every node depends on a mode that is not known yet"
        yield undecided(manifest, mode_path(manifest), why, f"{FIX}.")
    else:
        why = ONE_POD_PER_NODE.format(whose=owner.label)
        yield violation(manifest, mode_path(manifest) or manifest.root["kind"], why, f"{FIX}.")


def _unknown_namespace(manifest: Manifest, world: World) -> Iterator[Finding]:
    if world.tenancy.any_known:
        why = "its namespace is not known yet and could be a tenant's"
        fix = "Give the namespace as a value that is known at preview, such as the Namespace's own name."
        yield undecided(manifest, manifest.namespace, why, fix)


def _hidden(
    manifest: Manifest, hidden: Opaque, world: World, settings: TenantDaemonSetSettings
) -> Iterator[Finding]:
    """Charts and the like; only the whole stack shows what a release has made, so nothing is said before."""
    owner = world.tenancy.owner(manifest, hidden.namespace)
    if owner.known is False or hidden.chart in settings.trusted_charts or manifest.root.empty:
        return
    if owner.known is None and not world.tenancy.any_known:
        return
    made = counts(manifest)
    if made is not None and daemon_sets(made):
        why = f"{hidden.what} has made {daemon_sets(made)} DaemonSets for {owner.label}"
        yield violation(manifest, "", why, f"{FIX}.")
    elif made is None and settings.opaque != "ignore":
        why = f"nobody can see inside {hidden.what} whether it brings {owner.label} a DaemonSet"
        say = violation if settings.opaque == "violation" else undecided
        yield say(manifest, "", why, f"{LOOK_INSIDE}.")


def _container(
    manifest: Manifest, owner: Owner, world: World, settings: TenantDaemonSetSettings
) -> Iterator[Finding]:
    """A chart component without children: at preview it registers none if one of its inputs is not known."""
    if manifest.token not in CONTAINERS or not world.complete or settings.opaque == "ignore":
        return
    if not any(other.parent == manifest.urn for other in world):
        why = f"it has registered no objects, so nobody can see whether it brings {owner.label} a DaemonSet"
        yield undecided(manifest, "", why, "Give it inputs that are known at preview.")


def _spread(manifest: Manifest, owner: Owner, world: World) -> Iterator[Finding]:
    """A Deployment with as many replicas as nodes and one at most per node does what a DaemonSet does."""
    nodes = sum(nodes_min(group) for group in world.node_groups.values())
    replicas = manifest.root.at("spec", "replicas").number
    pod = pod_of(manifest)
    if not owner.known or pod is None or replicas is None or nodes < FEW_NODES or replicas < nodes:
        return
    if spread := next(_one_per_node(pod.spec), None):
        why = f"{replicas:.0f} replicas, one on each of {nodes} nodes, look like a DaemonSet of {owner.label}"
        yield undecided(manifest, spread, why, f"{FIX}; if it is no agent, exempt it.")


def _one_per_node(spec: Field) -> Iterator[Field]:
    required = spec.at("affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for term in required.items():
        if term["topologyKey"].text == HOSTNAME:
            yield term
    for constraint in spec["topologySpreadConstraints"].items():
        strict = (constraint["whenUnsatisfiable"].text or "DoNotSchedule") == "DoNotSchedule"
        if constraint["topologyKey"].text == HOSTNAME and constraint["maxSkew"].number == 1 and strict:
            yield constraint


PAGE = f"""
## How it decides
Refused in a tenant's namespace, stack or component:
- kind `{DAEMON_SET}` of any API group, typed, as `CustomResource`, as a patch or inside a list;
- custom resources from which an operator makes one pod per node: `OpenTelemetryCollector`, `AmazonCloudWatchAgent` and
  `PrometheusAgent` in DaemonSet mode (their default is another one), `Alloy` (a DaemonSet unless
  `spec.controller.type` says otherwise), `DcgmExporter`, `NeuronMonitor`, `FluentBit`, `FluentbitAgent`,
  `DatadogAgent`, `Beat` and `Agent` with `spec.daemonSet`, and others: the table is in `policies/pods.py`.

Helm releases, Argo CD and Flux objects, EKS add-ons and commands that call kubectl or helm cannot be seen into: the
verdict is *cannot be decided* (setting `opaque`). After an update a Helm release's outputs tell the kinds that it has
made, and a DaemonSet among them is a violation. A chart component (`helm.v4.Chart`, `yaml.v2.ConfigGroup`) whose
inputs are unknown registers no children at preview: that is said too.

A workload with at least as many replicas as there are nodes and one at most per node (required anti-affinity or a
topology spread over host names) does the same by other means: *cannot be decided*.

## What it does not see
Static pods, unless through the `hostPath` that writes their files (`tenant-host-access`); manifests inside a ConfigMap
or Secret that something in the cluster applies; objects of another stack, and kubectl by hand: there the namespace's
quota `count/daemonsets.apps: "0"` holds.
"""

RULE = Rule(
    name="tenant-daemonset",
    summary="A tenant runs no DaemonSet, whatever makes it.",
    level=Level.MANDATORY,
    severity=Severity.HIGH,
    remediation=f"{FIX}.",
    page=PAGE,
    settings=TenantDaemonSetSettings,
    judge=judge,
    joins=True,
)
