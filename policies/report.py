"""Findings as text, JSON and SARIF."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from policies.rules import RULES
from policies.verdict import Finding, Level, Verdict

if TYPE_CHECKING:
    from policies.check import Result

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def text(result: "Result") -> str:
    """For people: one line each, then the sums."""
    lines = [
        f"{found.verdict} [{level}] {found.rule}: {found.message} ({_source(found)})"
        for found, level in result.findings
    ]
    violations = sum(found.verdict is Verdict.VIOLATION for found, _ in result.findings)
    undecided = len(result.findings) - violations
    sums = f"{result.judged} objects judged: {violations} violations, {undecided} undecided, {result.exempted} exempted"
    return "\n".join([*lines, *result.notes, sums]) + "\n"


def as_json(result: "Result") -> str:
    """A list, one entry for each finding."""
    return json.dumps([entry(found, level) for found, level in result.findings], indent=2) + "\n"


def entry(found: Finding, level: Level) -> dict[str, str]:
    """One finding as JSON; the keys are the interface of tools."""
    return {
        "rule": found.rule,
        "verdict": str(found.verdict),
        "level": str(level),
        "apiVersion": found.subject.api_version,
        "kind": found.subject.kind,
        "namespace": found.namespace,
        "name": found.subject.name,
        "path": found.path,
        "message": found.message,
        "source": _source(found),
    }


def sarif(result: "Result") -> str:
    """SARIF 2.1.0, for code hosts that show findings beside the files."""
    rules = [
        {
            "id": rule.name,
            "shortDescription": {"text": rule.summary},
            "help": {"text": rule.remediation},
        }
        for rule in RULES
    ]
    run = {
        "tool": {"driver": {"name": "shared-observability policies", "rules": rules}},
        "results": [_sarif_result(found, level) for found, level in result.findings],
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _sarif_result(found: Finding, level: Level) -> dict[str, Any]:
    kinds = {Level.MANDATORY: "error", Level.ADVISORY: "warning"}
    return {
        "ruleId": found.rule,
        "level": "note" if found.verdict is Verdict.UNDECIDED else kinds.get(level, "none"),
        "message": {"text": found.message},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": _source(found)}},
                "logicalLocations": [{"fullyQualifiedName": f"{found.subject.label()} {found.path}".strip()}],
            }
        ],
    }


def _source(found: Finding) -> str:
    return found.subject.source


FORMATS: Mapping[str, Callable[["Result"], str]] = {"text": text, "json": as_json, "sarif": sarif}
