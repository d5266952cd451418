"""`memory-hpa`: no autoscaler that memory pins at its maximum."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from pydantic import Field as Setting

from policies.config import RuleSettings
from policies.manifest import Manifest
from policies.pods import Pod, pod_of
from policies.quantities import gibibytes, quantity
from policies.rule import Rule, Severity
from policies.values import Field
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

IDLE_ANNOTATION = "shared-observability/idle-memory"
V1_ANNOTATION = "autoscaling.alpha.kubernetes.io/metrics"
FIX = (
    "Scale on CPU or on requests served, or raise the memory request until target x request is well above what an idle "
    "pod holds; memory that a process keeps does not fall when replicas are added"
)


class MemoryHpaSettings(RuleSettings):
    """What is known of workloads' memory at rest."""

    idle_memory: Mapping[str, str] = Setting(
        default={},
        description="memory of an idle pod by `namespace/name` of the workload, as `1.7Gi`; the annotation "
        f"`{IDLE_ANNOTATION}` on the workload or its pods says the same",
    )


@dataclass(frozen=True)
class Target:
    """A metric of an autoscaler.

    Attributes:
        resource: memory or cpu.
        percent: of the request; None for an absolute amount, which no request pins.
        container: name, if only one container counts.
        field: where.
    """

    resource: str
    percent: Decimal | None
    container: str
    field: Field


def judge(manifest: Manifest, world: World, settings: MemoryHpaSettings) -> Iterator[Finding]:
    """Judges HorizontalPodAutoscalers of all versions and KEDA's ScaledObjects."""
    if manifest.kind not in ("HorizontalPodAutoscaler", "ScaledObject"):
        return
    targets = list(_targets(manifest))
    workload = _workload(manifest, world)
    for target in targets:
        if target.resource == "memory" and target.percent is not None:
            yield from _memory(manifest, target, target.percent, workload, settings)
    yield from _vertical(manifest, targets, world)


def _targets(manifest: Manifest) -> Iterator[Target]:
    spec = manifest.root["spec"]
    for metric in spec["metrics"].items():
        yield from _metric(metric)
    if spec["targetCPUUtilizationPercentage"].number is not None:
        yield Target("cpu", quantity(spec["targetCPUUtilizationPercentage"]), "", spec)
    annotation = manifest.annotations[V1_ANNOTATION]
    for metric in _json(annotation).items():
        yield from _metric(metric)
    for trigger in spec["triggers"].items():
        yield from _trigger(trigger)


def _metric(metric: Field) -> Iterator[Target]:
    """`resource` and `containerResource` of autoscaling/v2 and, in the annotation, of v2beta1."""
    for kind in ("resource", "containerResource"):
        source = metric[kind]
        if source.absent:
            continue
        percent = source.at("target", "averageUtilization")
        if percent.absent:
            percent = source["targetAverageUtilization"]
        container = source["container"].text or ""
        yield Target(source["name"].text or "", quantity(percent), container, source)


def _trigger(trigger: Field) -> Iterator[Target]:
    """KEDA: `metricType: Utilization` (also its former place in metadata), value as text."""
    kind = trigger["metricType"].text or trigger.at("metadata", "type").text or "Utilization"
    value = quantity(trigger.at("metadata", "value"))
    container = trigger.at("metadata", "containerName").text or ""
    yield Target(trigger["type"].text or "", value if kind == "Utilization" else None, container, trigger)


def _json(annotation: Field) -> Field:
    try:
        return Field(json.loads(annotation.text or "[]"), annotation.path)
    except ValueError:
        return Field(None, annotation.path)


def _workload(manifest: Manifest, world: World) -> Manifest | None:
    reference = manifest.root.at("spec", "scaleTargetRef")
    kind = reference["kind"].text or "Deployment"
    found = world.find(kind, reference["name"].text or "", manifest.namespace.text or "")
    return next((workload for workload in found if not workload.patch), None)


def _memory(
    manifest: Manifest,
    target: Target,
    percent: Decimal,
    workload: Manifest | None,
    settings: MemoryHpaSettings,
) -> Iterator[Finding]:
    pod = pod_of(workload) if workload else None
    if workload is None or pod is None:
        why = "the workload that it scales is not here, so its memory request is not known"
        yield undecided(manifest, target.field, why, f"{FIX}.")
        return
    request = _request(pod, target.container)
    if request is None:
        why = f"{workload.label()} has containers without a memory request, so no share of it can be computed"
        yield undecided(manifest, target.field, why, "State a memory request for each container.")
        return
    idle = _idle(workload, pod, settings)
    bound = request * percent / 100
    if idle is not None and idle >= bound:
        why = (
            f"{workload.label()} holds {gibibytes(idle)} at rest and the target is {percent:.0f} % of "
            f"{gibibytes(request)}, so it runs at maxReplicas for ever"
        )
        yield violation(manifest, target.field, why, f"{FIX}.")


def _request(pod: Pod, container: str) -> Decimal | None:
    """Memory that a pod requests, or one of its containers; limits stand in for requests that are not stated."""
    total = Decimal(0)
    counted = [c for c in pod.spec["containers"].items() if not container or c["name"].text == container]
    if pod.spec["containers"].has_unknown:
        return None
    for one in counted:
        amount = quantity(one.at("resources", "requests", "memory"))
        if amount is None:
            amount = quantity(one.at("resources", "limits", "memory"))
        if amount is None:
            return None
        total += amount
    return total if counted else None


def _idle(workload: Manifest, pod: Pod, settings: MemoryHpaSettings) -> Decimal | None:
    stated = settings.idle_memory.get(f"{workload.namespace.text or ''}/{workload.name}")
    annotated = (workload.annotations[IDLE_ANNOTATION], pod.metadata["annotations"][IDLE_ANNOTATION])
    amounts = [quantity(field) for field in (*annotated, Field(stated))]
    return next((amount for amount in amounts if amount is not None), None)


def _vertical(manifest: Manifest, targets: list[Target], world: World) -> Iterator[Finding]:
    """A vertical autoscaler moves the requests that a horizontal one divides by."""
    reference = manifest.root.at("spec", "scaleTargetRef")
    resources = {target.resource for target in targets if target.percent is not None}
    for vertical in world.of_kind("VerticalPodAutoscaler"):
        aim = vertical.root.at("spec", "targetRef")
        same = aim["name"].text == reference["name"].text and aim["name"].text
        if not same or vertical.namespace.text != manifest.namespace.text:
            continue
        if vertical.root.at("spec", "updatePolicy", "updateMode").text == "Off":
            continue
        both = sorted(resources & _controlled(vertical))
        if both:
            why = f"{vertical.label()} changes the {' and '.join(both)} request that this one divides by"
            fix = "Let only one of the two look at a resource: `controlledResources`, or `updateMode: Off`."
            yield violation(manifest, manifest.root.at("spec", "scaleTargetRef"), why, fix)


def _controlled(vertical: Manifest) -> set[str]:
    policies = list(vertical.root.at("spec", "resourcePolicy", "containerPolicies").items())
    found = {name for policy in policies for name in policy["controlledResources"].texts()}
    unstated = not policies or any(policy["controlledResources"].absent for policy in policies)
    return found | ({"cpu", "memory"} if unstated else set())


PAGE = f"""
## How it decides
The share that a HorizontalPodAutoscaler compares is memory in use divided by memory *requested*. If an idle pod already
holds target x request or more, the autoscaler adds pods until `maxReplicas` and never removes one: 1.7Gi at rest
against 80 % of a 1Gi request is 170 %.

Judged are `Resource` and `ContainerResource` metrics on memory with a target of utilisation, in autoscaling/v2, in the
annotation `{V1_ANNOTATION}` of autoscaling/v1, and KEDA's memory triggers. The workload is looked up by
`scaleTargetRef`; its request is the sum over its containers, a limit standing in where no request is stated. What an
idle pod holds is stated by the annotation `{IDLE_ANNOTATION}` (`1.7Gi`) on the workload or its pods, or by the setting
`idleMemory`; without either nothing is known against it and it passes. An absolute target (`AverageValue`) passes.

A workload or a request that is not here: *cannot be decided*, since a LimitRange may supply requests in the cluster.

A VerticalPodAutoscaler that changes the same request is a violation.

## What it does not see
What an idle pod holds, unless somebody says it.

## Sources
kubernetes/kubernetes `pkg/apis/autoscaling/annotations.go`, `pkg/controller/podautoscaler`; kubernetes/autoscaler
`vertical-pod-autoscaler/docs/known-limitations.md`.
"""

RULE = Rule(
    name="memory-hpa",
    summary="No autoscaler compares memory with a target that idle pods exceed already.",
    level=Level.MANDATORY,
    severity=Severity.MEDIUM,
    remediation=f"{FIX}.",
    page=PAGE,
    settings=MemoryHpaSettings,
    judge=judge,
    joins=True,
)
