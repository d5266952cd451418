"""The AWS account behind a target on EKS; nothing of AWS is imported for any other target, which would cost 0.25 s."""

from typing import TYPE_CHECKING

from components.settings.eks import EksTarget
from components.settings.model import Settings

if TYPE_CHECKING:
    from components.cluster.eks.cloud import Cloud


def look_or_exit(settings: Settings) -> "Cloud | None":
    """What AWS says, and its provider; None where the target is no cluster on EKS.

    Raises:
        SystemExit: with status 32, where AWS cannot be asked and more than a first preview is wanted.
    """
    target = settings.cluster.target
    if not isinstance(target, EksTarget):
        return None
    from components.cluster.eks.look import look_or_exit as look  # noqa: PLC0415 - see above

    return look(settings, target)
