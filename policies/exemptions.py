"""Objects that a rule lets pass: stated in the pack's settings, with a reason and an end; AWS's own agents besides."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from policies.config import PACK_SETTINGS, Exemption
from policies.manifest import Manifest
from policies.pods import DAEMON_SET
from policies.verdict import Finding, Subject, violation

# DaemonSets of EKS add-ons that AWS ships and nobody else can change, in kube-system. Each by its exact name: whoever
# deploys something of another name there has no business with it.
AWS_NAMESPACE = "kube-system"
AWS_AGENTS = frozenset(
    {
        "aws-node",
        "kube-proxy",
        "ebs-csi-node",
        "ebs-csi-node-windows",
        "efs-csi-node",
        "fsx-csi-node",
        "s3-csi-node",
        "file-cache-csi-node",
        "eks-pod-identity-agent",
        "eks-node-monitoring-agent",
        "dcgm-server",
    }
)


def is_aws_agent(manifest: Manifest) -> bool:
    """Whether it is a DaemonSet that AWS ships: by exact kind, API group, namespace and name."""
    return (
        manifest.kind == DAEMON_SET
        and manifest.group == "apps"
        and manifest.namespace.text == AWS_NAMESPACE
        and manifest.root.at("metadata", "name").text in AWS_AGENTS
    )


@dataclass
class Exemptions:
    """The stated exemptions, and which of them were used.

    Attributes:
        stated: from the pack's settings.
        today: an exemption counts until its last day is over.
        covered: how many findings passed.
    """

    stated: tuple[Exemption, ...]
    today: date
    covered: int = 0
    _used: set[Exemption] = field(default_factory=set)

    def cover(self, finding: Finding) -> bool:
        """Whether an exemption lets this finding pass; an expired one is used, but covers nothing."""
        matching = [exemption for exemption in self.stated if _matches(exemption, finding)]
        self._used.update(matching)
        covered = any(self.today <= exemption.expiry for exemption in matching)
        self.covered += covered
        return covered

    def report(self, *, complete: bool) -> Iterator[Finding]:
        """Exemptions that are over, and, once all objects were judged, those that nothing needs."""
        for exemption in self.stated:
            subject = Subject("Exemption", exemption.label(), PACK_SETTINGS)
            if exemption.expiry < self.today:
                why = f"it ended on {exemption.expiry.isoformat()} and covers nothing any more"
                yield violation(subject, "", why, "Mend the object, or state a new reason and a new end.")
            elif complete and exemption not in self._used:
                why = "nothing that was judged needs it"
                yield violation(
                    subject, "", why, "Remove it: an exemption that nobody needs hides the next object."
                )


def _matches(exemption: Exemption, finding: Finding) -> bool:
    subject = finding.subject
    return (
        exemption.rule == finding.rule
        and exemption.kind == subject.kind
        and exemption.name == subject.name
        and exemption.namespace == finding.namespace
    )
