"""What a rule is: a pure function with a name, a level, settings and the text of its page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from policies.config import RuleSettings
from policies.manifest import Manifest
from policies.verdict import Finding, Level
from policies.world import World

Judge = Callable[[Manifest, World, Any], Iterator[Finding]]
JudgeAll = Callable[[World, Any], Iterator[Finding]]


class Severity(StrEnum):
    """How bad a violation is, in Pulumi's words."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        name: also of its page and of its Pulumi policy.
        summary: one sentence: what must hold.
        level: what a violation does unless the pack's settings say otherwise.
        remediation: how to get rid of a violation, in general.
        page: what its page says beyond that: how it decides, what it does not see, sources.
        settings: model of its settings.
        judge: judges one object.
        judge_all: judges all objects together, once all are known.
        joins: `judge` looks at other objects too, so objects are judged again once all are known.
        spares_aws_agents: AWS's own node agents in kube-system pass: nobody but AWS can change them.
    """

    name: str
    summary: str
    level: Level
    severity: Severity
    remediation: str
    page: str
    settings: type[RuleSettings] = RuleSettings
    judge: Judge | None = None
    judge_all: JudgeAll | None = None
    joins: bool = False
    spares_aws_agents: bool = False

    @property
    def needs_all(self) -> bool:
        """Whether it has something to say once all objects are known."""
        return self.joins or self.judge_all is not None
