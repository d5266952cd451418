"""Runs rules on objects: the same for Pulumi, files, state and clusters."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

from policies.config import PackConfig, RuleSettings, parse
from policies.exemptions import Exemptions, is_aws_agent
from policies.manifest import Manifest
from policies.props import plain
from policies.rule import Rule
from policies.verdict import Finding, Verdict
from policies.world import World


def today() -> date:
    """The date that exemptions are compared with."""
    return datetime.now(tz=UTC).date()


@dataclass
class Judge:
    """Rules, the objects that are known, and what was found so far.

    Attributes:
        world: the objects.
        exemptions: what rules let pass.
    """

    world: World
    exemptions: Exemptions
    _said: set[tuple[str, ...]] = field(default_factory=set)
    _settings: dict[str, RuleSettings] = field(default_factory=dict)

    def configure(self, rule: Rule, raw: Mapping[str, Any]) -> RuleSettings:
        """The rule's settings, validated once.

        Raises:
            ConfigError: they are wrong.
        """
        if rule.name not in self._settings:
            self._settings[rule.name] = parse(rule.settings, plain(raw), rule.name)
        return self._settings[rule.name]

    def one(self, rule: Rule, manifest: Manifest, settings: RuleSettings) -> Iterator[Finding]:
        """What the rule says of one object."""
        if rule.judge is None or manifest.blank or not manifest.judged:
            return
        if rule.spares_aws_agents and is_aws_agent(manifest):
            return
        found = rule.judge(manifest, self.world, settings)
        if rule.joins and not self.world.complete:
            # What is open now may be answered by an object that comes later; what is wrong now stays wrong.
            found = (finding for finding in found if finding.verdict is Verdict.VIOLATION)
        for finding in self._named(rule, found, settings):
            self._said.add(finding.key)
            if not self.exemptions.cover(finding):
                yield finding

    def everything(self, rule: Rule, settings: RuleSettings) -> Iterator[Finding]:
        """What the rule says once all objects are known, and did not say before."""
        before = frozenset(self._said)
        if rule.joins:
            found = (finding for manifest in self.world for finding in self.one(rule, manifest, settings))
            yield from (finding for finding in found if finding.key not in before)
        if rule.judge_all is not None:
            theirs = (found for found in rule.judge_all(self.world, settings) if not _is_only_known(found))
            for finding in self._named(rule, theirs, settings):
                if not self.exemptions.cover(finding):
                    yield finding

    @staticmethod
    def _named(rule: Rule, findings: Iterator[Finding], settings: RuleSettings) -> Iterator[Finding]:
        """The findings with the rule's name; as violations if what is undecided counts as one."""
        for finding in findings:
            verdict = Verdict.VIOLATION if settings.undecided == "violation" else finding.verdict
            yield replace(finding, rule=rule.name, verdict=verdict)


def _is_only_known(finding: Finding) -> bool:
    """Whether it is about an object that is not judged."""
    return isinstance(finding.subject, Manifest) and not finding.subject.judged


def judge_for(world: World, config: PackConfig) -> Judge:
    """A judge with the pack's exemptions."""
    return Judge(world, Exemptions(config.settings.exemptions, today()))
