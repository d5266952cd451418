"""`per-node-needs-daemonset`: how an operator's collectors and their target allocator fit together.

Read in the operators' sources: `spec.targetAllocator.allocationStrategy` of OpenTelemetryCollector and
AmazonCloudWatchAgent is least-weighted, consistent-hashing (the default) or per-node; OpenTelemetry's webhook refuses
per-node without `mode: daemonset` and the reverse. A target without a node (the API server, static and external
ones) is dropped by per-node unless a fallback is set: CloudWatch's operator always sets consistent-hashing,
OpenTelemetry's only with its feature gate `operator.targetallocator.fallbackstrategy`, which no custom resource
shows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import Field as Setting

from policies.config import RuleSettings
from policies.manifest import Manifest
from policies.pods import per_node
from policies.rule import Rule, Severity
from policies.values import Field, Truth
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

OPEN_TELEMETRY, CLOUD_WATCH = "OpenTelemetryCollector", "AmazonCloudWatchAgent"
GROUPS = {OPEN_TELEMETRY: "opentelemetry.io", CLOUD_WATCH: "cloudwatch.aws.amazon.com"}
PER_NODE = ("per-node", "per_node")
FIX = (
    "Use `mode: daemonset` with `allocationStrategy: per-node`, or another mode with `consistent-hashing`, each agent "
    "then scraping targets of all nodes"
)
FALLBACK_FIX = (
    "Let one scraper that is no DaemonSet take the targets without a node, or start the operator with the feature gate "
    "`operator.targetallocator.fallbackstrategy` and say so by the setting `fallback: operator`"
)


class CollectorSettings(RuleSettings):
    """What a custom resource does not show."""

    fallback: Literal["unknown", "operator"] = Setting(
        default="unknown",
        description="`operator`: OpenTelemetry's operator runs with a fallback for targets that have no node",
    )


@dataclass(frozen=True)
class Collector:
    """An operator's collector.

    Attributes:
        manifest: the custom resource.
        allocator: its target allocator.
        allocates: whether the allocator is on.
        strategy: how it allocates; None if that is not known.
    """

    manifest: Manifest
    allocator: Field
    allocates: Truth
    strategy: str | None

    @property
    def by_node(self) -> Truth:
        """Whether each agent scrapes its own node."""
        return None if self.strategy is None else self.strategy in PER_NODE


def collector(manifest: Manifest) -> Collector | None:
    """The object as a collector, if it is one."""
    if GROUPS.get(manifest.kind) != manifest.group or manifest.patch:
        return None
    allocator = manifest.root.at("spec", "targetAllocator")
    stated = allocator["allocationStrategy"]
    strategy = None if stated.unknown else stated.text or "consistent-hashing"
    return Collector(manifest, allocator, allocator["enabled"].true, strategy)


def judge(manifest: Manifest, world: World, settings: CollectorSettings) -> Iterator[Finding]:
    """Judges collectors whose target allocator is on, or could be."""
    found = collector(manifest)
    if found is None or found.allocates is False:
        return
    where = found.allocator["allocationStrategy"]
    by_node, daemon = found.by_node, per_node(manifest)
    if found.allocates is None or by_node is None or daemon is None:
        if by_node is not False or daemon is not False:
            why = "whether its mode and its allocation strategy fit together depends on values that are not known yet"
            yield undecided(manifest, where, why, f"{FIX}.")
        return
    if by_node and not daemon:
        why = "per-node gives each target to the agent of its node, and without `mode: daemonset` most nodes have none"
        yield violation(manifest, where, why, f"{FIX}.")
    elif daemon and not by_node:
        why = f"every agent of the DaemonSet scrapes targets of other nodes too ({found.strategy})"
        yield violation(manifest, where, why, f"{FIX}.")
    elif by_node:
        yield from _fallback(found, world, settings)


def _fallback(found: Collector, world: World, settings: CollectorSettings) -> Iterator[Finding]:
    """Targets without a node: who scrapes them is chosen, or it is said that nobody does."""
    allocator = found.allocator
    chosen = (
        allocator["allocationFallbackStrategy"],
        allocator.at("allocationStrategyConfig", "perNode", "fallbackStrategy", "name"),
    )
    operator = found.manifest.kind == CLOUD_WATCH or settings.fallback == "operator"
    if operator or any(field.text for field in chosen) or _central_scraper(found, world):
        return
    why = "no fallback is chosen here: targets without a node (the API server, static and external ones) are dropped"
    yield undecided(found.manifest, allocator, why, f"{FALLBACK_FIX}.")


def _central_scraper(found: Collector, world: World) -> bool:
    """Whether another collector, which is no DaemonSet, allocates too."""
    others = [collector(manifest) for manifest in world.of_kind(found.manifest.kind)]
    return any(
        other is not None
        and other.manifest is not found.manifest
        and other.allocates
        and other.by_node is False
        for other in others
    )


PAGE = """
## How it decides
Judged are `OpenTelemetryCollector` and `AmazonCloudWatchAgent` whose `targetAllocator` is enabled:
- `allocationStrategy: per-node` needs `mode: daemonset`; without an agent on each node most targets have no scraper;
- `mode: daemonset` needs `per-node`; otherwise each agent scrapes across nodes, and a node's agent is no help to it.

A missing mode is `deployment`, a missing strategy `consistent-hashing`: the API's defaults.

With per-node, targets without a node need another scraper. A fallback in the custom resource counts, so do CloudWatch's
operator (it always sets one), a second collector that is no DaemonSet and allocates, and the setting
`fallback: operator`. Otherwise the verdict is *cannot be decided*, and says that such targets are dropped.

## What it does not see
Feature gates of the operator, and a target on a node without an agent: it is dropped whatever the fallback.

## Sources
open-telemetry/opentelemetry-operator `internal/webhook/collector_webhook.go`,
`cmd/otel-allocator/internal/allocation/per_node.go`; aws/amazon-cloudwatch-agent-operator.
"""

RULE = Rule(
    name="per-node-needs-daemonset",
    summary="Collectors allocate targets per node exactly where they run on every node.",
    level=Level.MANDATORY,
    severity=Severity.MEDIUM,
    remediation=f"{FIX}.",
    page=PAGE,
    settings=CollectorSettings,
    judge=judge,
    joins=True,
)
