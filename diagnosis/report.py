"""Findings as text: one block for each object, with its node, the reason and the remedy."""

import re
from collections.abc import Sequence
from textwrap import wrap

from components.names import LOGS_LABEL, METRICS_LABEL, OWNER_LABEL, TENANT_LABEL
from diagnosis.drift import Drift, Ref
from diagnosis.finding import Finding

WIDTH = 100
OUR_LABELS = (OWNER_LABEL, TENANT_LABEL, LOGS_LABEL, METRICS_LABEL)


# Without ENV a command acts on dev, whatever environment the report is about.
_COMMAND = re.compile(r"\bmake (up|destroy|preview|refresh|repair|drift|why)\b(?! ENV=)")


def report(found: Sequence[Finding], environment: str) -> str:
    """All findings, the layer's first; a line says so when there are none."""
    ours, tenants = [f for f in found if f.fails], [f for f in found if f.tenant]
    nodes = [f for f in found if f.growth]
    blocks = [_block(finding, environment) for finding in ours]
    verb = "is" if len(ours) == 1 else "are"
    head = f"{len(ours)} of the layer's objects {verb} not ready:"
    text = "\n\n".join([head, *blocks]) if ours else "All of the layer's objects are ready."
    if tenants:
        text += "\n\nRefused in tenants' namespaces (no fault of the deployment):\n\n"
        text += "\n\n".join(_block(finding, environment) for finding in tenants)
    if nodes:
        text += "\n\nNodes otherwise than declared (no fault of the deployment):\n\n"
        text += "\n\n".join(_block(finding, environment) for finding in nodes)
    return text


def remains_report(found: Sequence[Finding], environment: str) -> str:
    """What is left after a destroy; a line says so when there is nothing."""
    if not found:
        return "The layer's namespaces are gone."
    return "\n\n".join(["Of the layer is left:", *(_block(finding, environment) for finding in found)])


def left_report(found: Sequence[Ref], environment: str) -> str:
    """What still carries this stack's label after a destroy that the engine calls a success."""
    some = "objects with this stack's label are" if len(found) > 1 else "object with this stack's label is"
    head = f"{len(found)} {some} left in the cluster, which the state did not know:"
    ways = [
        "If another backend has the state, destroy from there: PULUMI_BACKEND_URL names it.",
        f"If none has: make take-over ENV={environment} && make destroy ENV={environment}",
    ]
    return "\n".join([head, *(f"  {one}" for one in found), *ways])


def drift_report(found: Sequence[Drift], environment: str) -> str:
    """What is not as declared; a line says so when all is."""
    if not found:
        return "The cluster holds what was deployed, unchanged."
    head = f"{len(found)} object{'s are' if len(found) > 1 else ' is'} not as deployed:"
    blocks = ["\n".join([str(one.ref), *(f"  {what}" for what in one.what)]) for one in found]
    unknown = [one.ref for one in found if not one.urn]
    ways = [f"Back to what was deployed: make repair ENV={environment}"] if len(unknown) < len(found) else []
    if unknown:
        ways += ["To remove what the state does not know:", *(f"  {_deletion(one)}" for one in unknown)]
    return "\n\n".join([head, *blocks, "\n".join(ways)])


def _deletion(one: Ref) -> str:
    """How to get rid of an object; of a namespace, in which an app team lives, only of our labels."""
    if one.kind == "Namespace":
        return f"kubectl label namespace {one.name} {' '.join(f'{label}-' for label in OUR_LABELS)}"
    where = f" -n {one.namespace}" if one.namespace else ""
    return f"kubectl delete {one.kind.lower()} {one.name}{where}"


def _block(finding: Finding, environment: str) -> str:
    remedy = _COMMAND.sub(rf"make \1 ENV={environment}", finding.remedy)
    rows = [("node", finding.node), ("reason", finding.reason), ("remedy", remedy)]
    return "\n".join([finding.subject, *(line for name, text in rows if text for line in _lines(name, text))])


def _lines(name: str, text: str) -> list[str]:
    indent = " " * 10
    lines = wrap(text, WIDTH - len(indent), break_long_words=False, break_on_hyphens=False)
    return [f"  {name:<8}{lines[0]}", *(f"{indent}{line}" for line in lines[1:])]
