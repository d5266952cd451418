"""`per-node-needs-daemonset` and `monitor-has-one-scraper`: operators' collectors and their target allocators."""

import pytest

from tests.policies.layers import LAYERS, judged

PER_NODE, MONITOR = "per-node-needs-daemonset", "monitor-has-one-scraper"


def otel(spec: str, name: str = "otel") -> str:
    return (
        f"---\n{{apiVersion: opentelemetry.io/v1beta1, kind: OpenTelemetryCollector,"
        f" metadata: {{name: {name}, namespace: n}}, spec: {{{spec}}}}}\n"
    )


def cloud_watch(spec: str, name: str = "cw") -> str:
    return (
        otel(spec, name)
        .replace("opentelemetry.io/v1beta1", "cloudwatch.aws.amazon.com/v1alpha1")
        .replace("OpenTelemetryCollector", "AmazonCloudWatchAgent")
    )


ON = "targetAllocator: {enabled: true, allocationStrategy: %s}"
STRATEGIES: dict[str, tuple[str, list[str]]] = {
    "no allocator": ("mode: daemonset", []),
    "allocator off": ("mode: daemonset, targetAllocator: {allocationStrategy: least-weighted}", []),
    "per node on a deployment": (ON % "per-node", ["violation"]),
    "per node on a statefulset": (f"mode: statefulset, {ON % 'per-node'}", ["violation"]),
    "hashing on a daemonset": (f"mode: daemonset, {ON % 'consistent-hashing'}", ["violation"]),
    "the default strategy on a daemonset": (
        "mode: daemonset, targetAllocator: {enabled: true}",
        ["violation"],
    ),
    "hashing on a statefulset": (f"mode: statefulset, {ON % 'consistent-hashing'}", []),
    "weights on the default mode": (ON % "least-weighted", []),
    # without a node-less fallback that can be seen, it is named
    "per node on a daemonset": (f"mode: daemonset, {ON % 'per-node'}", ["undecided"]),
    "with a fallback": (
        (
            "mode: daemonset, targetAllocator: {enabled: true, allocationStrategy: per-node,"
            " allocationFallbackStrategy: consistent-hashing}"
        ),
        [],
    ),
    "with the newer spelling": (
        (
            "mode: daemonset, targetAllocator: {enabled: true, allocationStrategy: per_node,"
            " allocationStrategyConfig: {perNode: {fallbackStrategy: {name: consistent-hashing}}}}"
        ),
        [],
    ),
    # not known yet
    "mode unknown": (f"mode: <unknown>, {ON % 'per-node'}", ["undecided"]),
    "strategy unknown": (f"mode: daemonset, {ON % '<unknown>'}", ["undecided"]),
    "allocator unknown": ("mode: daemonset, targetAllocator: {enabled: <unknown>}", ["undecided"]),
    "nothing of it is per node": ("mode: statefulset, targetAllocator: {enabled: <unknown>}", []),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", STRATEGIES)
def test_targets_are_allocated_per_node_exactly_on_every_node(name: str, layer: str) -> None:
    spec, expected = STRATEGIES[name]
    assert judged(PER_NODE, otel(spec), layer) == expected


@pytest.mark.parametrize("layer", LAYERS)
def test_cloud_watchs_operator_always_sets_a_fallback(layer: str) -> None:
    assert judged(PER_NODE, cloud_watch(f"mode: daemonset, {ON % 'per-node'}"), layer) == []
    assert judged(PER_NODE, cloud_watch(ON % "per-node"), layer) == ["violation"]


@pytest.mark.parametrize("layer", LAYERS)
def test_a_central_scraper_or_the_operators_gate_takes_the_rest(layer: str) -> None:
    agents = otel(f"mode: daemonset, {ON % 'per-node'}")
    central = otel(f"mode: statefulset, {ON % 'consistent-hashing'}", "central")
    assert judged(PER_NODE, agents + central, layer) == []
    assert judged(PER_NODE, agents, layer, config={PER_NODE: {"fallback": "operator"}}) == []


# --- monitors ---


def monitor(annotations: str = "{}", labels: str = "{}", kind: str = "ServiceMonitor") -> str:
    return (
        f"---\n{{apiVersion: monitoring.coreos.com/v1, kind: {kind},"
        f" metadata: {{name: m, namespace: n, annotations: {annotations}, labels: {labels}}}, spec: {{}}}}\n"
    )


READS = "targetAllocator: {enabled: true, prometheusCR: {enabled: true%s}}"
DEFAULT = cloud_watch(READS % "")
CENTRAL = cloud_watch(READS % ", scraperRole: cluster-scraper", "central")
TO_CENTRAL = "{cloudwatch.aws/scraper: cluster-scraper}"

ROUTES: dict[str, tuple[str, list[str]]] = {
    "default scraper": (DEFAULT + monitor(), []),
    "both scrapers": (DEFAULT + CENTRAL + monitor() + monitor(TO_CENTRAL).replace("name: m", "name: o"), []),
    "routed to one that does not exist": (DEFAULT + monitor(TO_CENTRAL), ["violation"]),
    "no default scraper": (CENTRAL + monitor(), ["violation"]),
    "no default scraper for pods": (CENTRAL + monitor(kind="PodMonitor"), ["violation"]),
    "routed, and no collector here": (monitor(TO_CENTRAL), ["undecided"]),
    "no collector and no route": (monitor(), []),
    "agents that read no monitors": (cloud_watch("mode: daemonset") + monitor(), []),
    "routed to agents that read no monitors": (
        cloud_watch("mode: daemonset") + monitor(TO_CENTRAL),
        ["violation"],
    ),
    "route unknown": (DEFAULT + monitor("{cloudwatch.aws/scraper: <unknown>}"), ["undecided"]),
    "scraper unknown": (
        cloud_watch("targetAllocator: {enabled: <unknown>, prometheusCR: {enabled: true}}") + monitor(),
        ["undecided"],
    ),
    # roles
    "role without an allocator": (
        cloud_watch("targetAllocator: {prometheusCR: {scraperRole: cluster-scraper}}"),
        ["violation"],
    ),
    "empty role": (cloud_watch(READS % ", scraperRole: ''"), ["violation"]),
    "role that nobody knows": (cloud_watch(READS % ", scraperRole: gpu-scraper"), ["violation"]),
    "role unknown": (cloud_watch(READS % ", scraperRole: <unknown>"), ["undecided"]),
    "null role is the default": (cloud_watch(READS % ", scraperRole: null") + monitor(), []),
    "two default scrapers": (DEFAULT + cloud_watch(READS % "", "second"), ["violation"]),
    "two of one role": (
        CENTRAL + cloud_watch(READS % ", scraperRole: cluster-scraper", "central-2"),
        ["violation"],
    ),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", ROUTES)
def test_cloud_watch_scrapes_each_monitor_once(name: str, layer: str) -> None:
    text, expected = ROUTES[name]
    assert judged(MONITOR, text, layer) == expected


@pytest.mark.parametrize("layer", LAYERS)
def test_known_roles_are_a_setting(layer: str) -> None:
    config = {MONITOR: {"scraperRoles": ["cluster-scraper", "gpu-scraper"]}}
    assert judged(MONITOR, cloud_watch(READS % ", scraperRole: gpu-scraper"), layer, config=config) == []


def reader(selector: str, name: str) -> str:
    return otel(READS % f", serviceMonitorSelector: {selector}", name)


SELECTED: dict[str, tuple[str, list[str]]] = {
    "one": (reader("{}", "a") + monitor(), []),
    "two": (reader("{}", "a") + reader("{}", "b") + monitor(), ["violation"]),
    "by different labels": (
        reader("{matchLabels: {team: x}}", "a")
        + reader("{matchExpressions: [{key: team, operator: NotIn, values: [x]}]}", "b")
        + monitor(labels="{team: x}"),
        [],
    ),
    "a missing selector selects nothing": (
        reader("{}", "a") + otel(READS % "", "b") + monitor(),
        [],
    ),
    "none": (reader("{matchLabels: {team: y}}", "a") + monitor(labels="{team: x}"), ["undecided"]),
    "other namespaces": (
        reader("{}", "a")
        + otel(READS % ", serviceMonitorSelector: {}, denyNamespaces: [n]", "b")
        + monitor(),
        [],
    ),
    "only some namespaces": (
        reader("{}", "a")
        + otel(READS % ", serviceMonitorSelector: {}, allowNamespaces: [x]", "b")
        + monitor(),
        [],
    ),
    "a namespace selector cannot be followed": (
        reader("{}", "a")
        + otel(
            READS % ", serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {matchLabels: {a: b}}",
            "b",
        )
        + monitor(),
        [],
    ),
    "labels unknown": (reader("{matchLabels: {team: y}}", "a") + monitor(labels="<unknown>"), []),
    "selector unknown": (reader("<unknown>", "a") + reader("{}", "b") + monitor(), []),
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", SELECTED)
def test_open_telemetry_scrapes_each_monitor_once(name: str, layer: str) -> None:
    text, expected = SELECTED[name]
    assert judged(MONITOR, text, layer) == expected
