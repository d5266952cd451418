"""`tenant-label-lookalike`: no label of a namespace passes for one of the layer's."""

from collections.abc import Iterator

from components.label_keys import DISCOVERED, mistaken_for
from policies.config import RuleSettings
from policies.manifest import Manifest
from policies.rule import Rule, Severity
from policies.verdict import Finding, Level, undecided, violation
from policies.world import World

FIX = "Take the label out, or give it a key of another name"


def judge(manifest: Manifest, _world: World, _settings: RuleSettings) -> Iterator[Finding]:
    """Judges namespaces, whoever's they are: the label makes them a tenant's."""
    if manifest.kind != "Namespace" or manifest.group:
        return
    if manifest.labels.unknown:
        why = "its labels are not known yet, and one of them could pass for one of the layer's"
        yield undecided(manifest, manifest.labels, why, "Give labels whose keys are known at preview.")
    for key, label in manifest.labels.members():
        ours = mistaken_for(key)
        if ours and not label.absent:
            why = f"Alloy and Prometheus read it as {ours}, and which of the two counts is chance"
            yield violation(manifest, label, why, f"{FIX}.")


PAGE = f"""
## How it decides
Alloy and Prometheus see a namespace's labels under names in which every character but letters, digits and `_` is `_`,
so different keys become one. Refused on every namespace is a label that becomes the same as one of the layer's and is
not it: {", ".join(f"`{key}`" for key in DISCOVERED)}. Among them are
`shared.observability/tenant` and `shared-observability_tenant`. With such a label a namespace's lines and samples count
as a tenant's that it does not belong to; beside the right label it can take its place.

## What it does not see
Labels that somebody puts on a namespace by other means. On the namespaces of tenants the program looks for them before
it deploys.

## Sources
prometheus/prometheus `util/strutil/strconv.go`, `SanitizeLabelName`.
"""

RULE = Rule(
    name="tenant-label-lookalike",
    summary="No label of a namespace passes for one of the layer's.",
    level=Level.MANDATORY,
    severity=Severity.HIGH,
    remediation=f"{FIX}.",
    page=PAGE,
    judge=judge,
)
