"""What a rule says of an object: nothing (it passes), a violation, or that it cannot be decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from policies.manifest import Manifest
from policies.values import Field


class Verdict(StrEnum):
    """The verdicts that are reported; passing is the absence of a finding."""

    VIOLATION = "violation"
    UNDECIDED = "undecided"


class Level(StrEnum):
    """What a violation does to a deployment, in Pulumi's words."""

    MANDATORY = "mandatory"
    ADVISORY = "advisory"
    DISABLED = "disabled"


@dataclass(frozen=True)
class Subject:
    """What a finding is about, if it is no object: a node group, an exemption."""

    kind: str
    name: str
    source: str
    namespace: str = ""
    api_version: str = ""
    urn: str = ""

    def label(self) -> str:
        """For messages: `NodeGroup web`."""
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or that cannot be known.

    Attributes:
        subject: the object, or what stands for it.
        path: the field inside it; empty for the whole object.
        why: one clause: what is wrong with it.
        fix: one sentence: what to do.
        facts: for tests and tools, what the finding rests on; never a value that could be secret.
        rule: name of the rule, set by whoever runs it.
    """

    verdict: Verdict
    subject: Manifest | Subject
    path: str
    why: str
    fix: str
    facts: Mapping[str, str] = field(default_factory=dict)
    rule: str = ""

    @property
    def message(self) -> str:
        """Object, field, why, and the fix."""
        where = f"{self.subject.label()}{f', {self.path}' if self.path else ''}"
        return f"{where}: {self.why}. {self.fix}"

    @property
    def namespace(self) -> str:
        """The subject's namespace, as far as it is known."""
        if isinstance(self.subject, Subject):
            return self.subject.namespace
        return self.subject.namespace.text or ""

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What makes two findings the same, whenever they were found."""
        where = self.subject.urn or f"{self.subject.source} {self.subject.label()}"
        return (self.rule, self.verdict, where, self.path, self.why)


def violation(subject: Manifest | Subject, path: Field | str, why: str, fix: str, **facts: str) -> Finding:
    """The object breaks the rule."""
    return Finding(Verdict.VIOLATION, subject, _path(path), why, fix, facts)


def undecided(subject: Manifest | Subject, path: Field | str, why: str, fix: str, **facts: str) -> Finding:
    """Whether the object breaks the rule cannot be known here and now."""
    return Finding(Verdict.UNDECIDED, subject, _path(path), why, fix, facts)


def _path(path: Field | str) -> str:
    return path.path if isinstance(path, Field) else path
