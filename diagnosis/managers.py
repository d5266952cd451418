"""Field managers that a lost or interrupted deployment has left on objects of ours.

The engine's provider makes up a field manager for each object that it creates, and keeps it in the state. An object
that is created a second time, since the state did not know it, has two: a field that is declared no more would stay,
because the forgotten manager still owns it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from components.cluster.kubectl import Kubectl
from diagnosis.drift import Declared, Manifest, Ref, ref

ENGINE = "pulumi-kubernetes-"
AT_A_TIME = 4


def stale(found: Manifest, own: str) -> list[str]:
    """Managers of the engine's on an object, other than the one that its state knows."""
    entries = found["metadata"].get("managedFields") or []
    applied = {str(e["manager"]) for e in entries if e.get("operation") == "Apply"}
    return sorted(manager for manager in applied if manager.startswith(ENGINE) and manager != own)


def all_stale(state: Sequence[Declared], found: Mapping[Ref, Manifest]) -> Iterator[tuple[Manifest, str]]:
    """Each object with each of its stale managers; of an object whose own manager is unknown nothing is said."""
    for item in state:
        if item.manager and item.ref in found:
            yield from ((item.manifest, manager) for manager in stale(found[item.ref], item.manager))


def free(kubectl: Kubectl, state: Sequence[Declared], found: Mapping[Ref, Manifest]) -> int:
    """Frees objects of managers that no state knows any more; how many there were.

    Args:
        kubectl: of the cluster.
        state: what was declared.
        found: the declared objects that exist, with their managers.

    Raises:
        ClusterUnreachableError: if the cluster does not answer, or refuses.
    """
    stale_ones = list(all_stale(state, found))
    give_up(kubectl, stale_ones)
    return len(stale_ones)


def give_up(kubectl: Kubectl, found: Sequence[tuple[Manifest, str]]) -> None:
    """Lets stale managers apply nothing: what they alone owned goes, what is declared stays as it is.

    Raises:
        ClusterUnreachableError: if the cluster does not answer, or refuses.
    """

    def apply_nothing(one: tuple[Manifest, str]) -> None:
        manifest, manager = one
        which = ref(manifest)
        where = {"namespace": which.namespace} if which.namespace else {}
        nothing = {
            "apiVersion": manifest["apiVersion"],
            "kind": which.kind,
            "metadata": {"name": which.name, **where},
        }
        kubectl.call(
            "apply", "--server-side", f"--field-manager={manager}", "-f", "-", stdin=json.dumps(nothing)
        )

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        list(pool.map(apply_nothing, found))
