"""`requests-set`: every container says what it needs."""

from collections.abc import Iterator

from pydantic import Field as Setting

from policies.config import RuleSettings
from policies.manifest import Manifest
from policies.pods import Pod, pod_of
from policies.rule import Rule, Severity
from policies.values import Field
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

FIX = "State `resources.requests` for cpu and memory; for node agents one DaemonSet and one size per class of nodes"


class RequestsSettings(RuleSettings):
    """What has to be requested."""

    resources: tuple[str, ...] = Setting(default=("cpu", "memory"), description="resources to be requested")


def judge(manifest: Manifest, world: World, settings: RequestsSettings) -> Iterator[Finding]:
    """Judges the containers of all workloads."""
    pod = pod_of(manifest)
    # A LimitRange can still come as long as not all objects are known.
    if pod is None or not pod.whole or not world.complete or _supplied(manifest, world):
        return
    if pod.spec.unknown or pod.spec["containers"].unknown:
        yield undecided(manifest, pod.spec["containers"], "its containers are not known yet", f"{FIX}.")
        return
    for container in _running(pod):
        yield from _container(manifest, container, settings)


def _container(manifest: Manifest, container: Field, settings: RequestsSettings) -> Iterator[Finding]:
    where = container["resources"]
    requests, limits = where["requests"], where["limits"]
    missing = [name for name in settings.resources if requests[name].absent and limits[name].absent]
    if missing:
        why = f"without a request for {' and '.join(missing)} the scheduler counts it as nothing"
        yield violation(manifest, where, why, f"{FIX}.")
    elif where.unknown or requests.unknown:
        yield undecided(manifest, where, "what it requests is not known yet", f"{FIX}.")


def _running(pod: Pod) -> Iterator[Field]:
    """Containers that stay: the normal ones, and init containers that never end."""
    yield from pod.spec["containers"].items()
    for container in pod.spec["initContainers"].items():
        if container["restartPolicy"].text == "Always":
            yield container


def _supplied(manifest: Manifest, world: World) -> bool:
    """Whether a LimitRange of the namespace supplies requests."""
    for found in world.of_kind("LimitRange"):
        if found.namespace.text == manifest.namespace.text:
            for limit in found.root.at("spec", "limits").items():
                if not limit["defaultRequest"].empty or not limit["default"].empty:
                    return True
    return False


PAGE = """
## How it decides
Each container that stays (init containers with `restartPolicy: Always` too) requests the resources of the setting
`resources`; a limit stands in for a request. A LimitRange with defaults in the same namespace supplies them, if it is
declared here. Without requests the scheduler, Karpenter and autoscalers count a pod as nothing, so nodes fill by pods.

AWS's own node agents pass.

## What it does not see
LimitRanges that are not declared here.
"""

RULE = Rule(
    name="requests-set",
    summary="Every container requests cpu and memory.",
    level=Level.ADVISORY,
    severity=Severity.LOW,
    remediation=f"{FIX}.",
    page=PAGE,
    settings=RequestsSettings,
    judge=judge,
    joins=True,
    spares_aws_agents=True,
)
