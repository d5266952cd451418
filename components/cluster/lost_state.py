"""A cluster that holds this stack's objects while its state knows none: refused, since nobody can tell what that means.

The state may be lost, or lie in another backend, and then another checkout deploys the same objects. Going on would
take them over without a word: the engine's create is an upsert, what has changed since becomes a field conflict, and
what is declared no more stays for ever.
"""

import os
from collections.abc import Mapping
from typing import Any

from components import names
from components.cluster import own_state
from components.cluster.live import Live, ObjectRef
from components.settings.mistakes import Mistake, SettingsError
from components.wording import listed

TAKE_OVER_VARIABLE = "SHARED_OBSERVABILITY_TAKE_OVER"
"""Names the stack whose objects are to be taken over; set by `make take-over` alone."""

_SHOWN = 3
_ENGINES_OWN = "pulumi:"


def refuse_lost_state(live: Live | None, outputs: Mapping[str, Any], stack: str) -> None:
    """Refuses a cluster with objects of this stack whose state holds nothing.

    Args:
        live: the cluster; None when objects are rendered.
        outputs: what this stack exported last; it always exports something.
        stack: name of the stack.

    Raises:
        SettingsError: saying what was found and what to do.
    """
    found = owned(live, stack) if live and not outputs else []
    if found and os.environ.get(TAKE_OVER_VARIABLE) != stack and not state_holds_objects():
        raise SettingsError([mistake(found, stack)], stack)


def mistake(found: list[ObjectRef], stack: str) -> Mistake:
    """What is said about these objects."""
    shown = listed([str(ref) for ref in found], _SHOWN)
    return Mistake(
        "layer",
        f"the cluster holds objects with this stack's label ({shown}), and the stack's state is empty: it is "
        "lost, or lies in another backend (PULUMI_BACKEND_URL)",
        "Use the backend with the state, or bring it back from a backup (docs/runbooks/lost-state.md). Without any: "
        f"make take-over ENV={stack}",
    )


def owned(live: Live, stack: str) -> list[ObjectRef]:
    """Objects with the stack's label, but for namespaces of tenants: those that it made outlive it on purpose.

    The layer's namespaces alone are none: docs/deployer.yaml makes them before the first deployment.
    """
    ours = (names.LAYER_NAMESPACE, names.NODES_NAMESPACE)
    namespaces = [
        ObjectRef("Namespace", "", name)
        for name in ours
        if name in live.namespaces and live.namespaces[name].owner == stack
    ]
    objects = sorted(ref for ref, owner in live.owners.items() if owner == stack)
    return [*namespaces, *objects] if objects else []


def state_holds_objects() -> bool:
    """Whether the state knows anything of ours; a refused deployment too leaves the stack in it, and what asks here."""
    known = own_state.read("pulumi:pulumi:readStackResourceOutputs", {"stackName": own_state.my_name()})
    return any(not str(resource["type"]).startswith(_ENGINES_OWN) for resource in known.values())
