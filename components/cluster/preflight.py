"""What has to be true before anything is registered: of the cluster as it is, and of what this stack deployed before.

`check` decides from plain data; `check_or_exit` fetches that data, shows all mistakes and ends the program.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pulumi

from components import config_history
from components.cluster import current, own_state, storage_classes
from components.cluster.live import Live
from components.cluster.lost_state import refuse_lost_state
from components.cluster.ownership import foreign_objects
from components.cluster.refusals import (
    label_right,
    namespaces,
    nodes,
    other_agents,
    pod_security,
    priorities,
    public_key,
    quotas,
    target,
    volumes,
)
from components.settings.eks import EksTarget
from components.settings.load import ALREADY_SHOWN
from components.settings.mistakes import THIS_ENVIRONMENT, Mistake, SettingsError
from components.settings.model import Settings
from components.tenant import token_generations

if TYPE_CHECKING:
    from components.cluster.eks.cloud import Cloud


@dataclass(frozen=True)
class Preflight:
    """What was found, for the components.

    Attributes:
        identity: what tells this cluster from others; never changes for a living cluster.
        config_history: per configuration, the texts deployed last, newest first.
        token_generations: of each tenant that there is or was.
        pod_security: Pod Security level to set on each tenant namespace; absent where the namespace keeps its own.
    """

    identity: str
    config_history: Mapping[str, list[dict[str, str]]] = field(default_factory=dict)
    token_generations: Mapping[str, int] = field(default_factory=dict)
    pod_security: Mapping[str, str] = field(default_factory=dict)


def check_or_exit(settings: Settings, cloud: "Cloud | None" = None) -> Preflight:
    """Reads the cluster (if there is one) and the stack's last outputs.

    Args:
        settings: the environment.
        cloud: what AWS says, of a target on EKS.

    Raises:
        SystemExit: with status 32, after showing every mistake.
    """
    stack = pulumi.get_stack()
    outputs = last_outputs()
    try:
        refused = _of_aws(settings, cloud, stack)
        live, differs = (None, []) if refused else current.live(settings, cloud)
        refused += differs
        refuse_lost_state(live, outputs, stack)
        refused += _public_key(settings, live)
        found = check(settings, live, outputs, stack, refused)
    except SettingsError as error:
        pulumi.log.error(str(error))
        raise SystemExit(ALREADY_SHOWN) from None
    for line in _notes(settings, live, outputs):
        pulumi.log.warn(line)
    return found


def _notes(settings: Settings, live: Live | None, outputs: Mapping[str, Any]) -> Iterator[str]:
    """What is worth knowing and refuses nothing."""
    yield from token_generations.warnings(settings, outputs)
    yield from other_agents.notes(settings, live)
    if live is not None:
        yield from nodes.notes(settings, live.nodes)


def _public_key(settings: Settings, live: Live | None) -> list[Mistake]:
    """Refused where it would be deployed; a preview of an example shows everything else as well."""
    found = list(public_key.mistakes(settings, live))
    if not pulumi.runtime.is_dry_run():
        return found
    for one in found:
        told = str(one).replace(THIS_ENVIRONMENT, pulumi.get_stack())
        pulumi.log.warn(f"`up` will refuse this: {told}")
    return []


def last_outputs() -> Mapping[str, Any]:
    """Outputs of this stack's last deployment: plain values, empty before the first."""
    return own_state.read("pulumi:pulumi:readStackOutputs", {"name": own_state.my_name()})


def _of_aws(settings: Settings, cloud: "Cloud | None", stack: str) -> list[Mistake]:
    on_eks = settings.cluster.target
    if cloud is None or not isinstance(on_eks, EksTarget):
        return []
    from components.cluster.eks import checks, saying  # noqa: PLC0415 - see account.py

    saying.say(settings, on_eks, cloud)
    return checks.mistakes(settings, on_eks, cloud.facts, stack)


def _of_cluster(settings: Settings, live: Live, stack: str) -> list[Mistake]:
    return [
        *nodes.mistakes(settings, live.nodes),
        *foreign_objects(settings, live, stack),
        *namespaces.mistakes(settings, live, stack),
        *pod_security.mistakes(settings, live),
        *quotas.mistakes(settings, live),
        *label_right.mistakes(live),
        *storage_classes.mistakes(settings, live),
        *other_agents.mistakes(settings, live),
    ]


def check(
    settings: Settings,
    live: Live | None,
    outputs: Mapping[str, Any],
    stack: str,
    refused: Sequence[Mistake] = (),
) -> Preflight:
    """Decides whether this environment may be deployed.

    Args:
        settings: the environment.
        live: its cluster as it is; None when objects are rendered.
        outputs: what this stack exported last; empty before the first deployment and after `destroy`.
        stack: name of the stack, which owns the objects.
        refused: what AWS has shown to be wrong.

    Raises:
        SettingsError: with every mistake.
    """
    mistakes = [
        *refused,
        *target.mistakes(settings, live, outputs, stack),
        *volumes.mistakes(settings, live, outputs),
        *token_generations.mistakes(settings, outputs),
        *priorities.mistakes(settings, live),
    ]
    if live is not None:
        mistakes += _of_cluster(settings, live, stack)
    if mistakes:
        raise SettingsError(mistakes, stack)
    return Preflight(
        identity=live.identity if live else target.RENDERED,
        config_history=config_history.unpack(outputs.get("configHistory") or {}),
        pod_security=dict(pod_security.levels(settings, live)),
        token_generations=token_generations.known(settings, outputs),
    )
