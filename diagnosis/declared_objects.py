"""The objects of a stack as they are in its cluster, read by kubectl."""

from collections.abc import Iterable, Iterator, Sequence

from components.cluster.kubectl import Kubectl
from components.names import OWNER_LABEL
from diagnosis.drift import Declared, Drift, Manifest, Ref, drifts, ref

# Every kind that this program makes: an object of one of these with our label is ours.
KINDS = (
    *("namespaces", "configmaps", "secrets", "serviceaccounts", "services", "persistentvolumeclaims"),
    *("resourcequotas", "daemonsets.apps", "deployments.apps", "poddisruptionbudgets.policy"),
    *("networkpolicies.networking.k8s.io", "ingresses.networking.k8s.io"),
    *(
        f"{kind}.rbac.authorization.k8s.io"
        for kind in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
    ),
    "priorityclasses.scheduling.k8s.io",
)


def labelled(kubectl: Kubectl, stack: str) -> list[Manifest]:
    """Every object with the stack's label.

    Raises:
        ClusterUnreachableError: if the cluster does not answer.
    """
    selector = f"{OWNER_LABEL}={stack}"
    return list(
        kubectl.objects(",".join(KINDS), "--all-namespaces", "--selector", selector, "--show-managed-fields")
    )


def live(kubectl: Kubectl, state: Sequence[Declared], ours: Iterable[Manifest]) -> dict[Ref, Manifest]:
    """The declared objects that exist; one whose label somebody took away is asked for by name.

    Raises:
        ClusterUnreachableError: if the cluster does not answer.
    """
    found = {ref(item): item for item in ours}
    for item in state:
        if item.ref not in found:
            found |= {ref(one): one for one in _by_name(kubectl, item)}
    return found


def _by_name(kubectl: Kubectl, item: Declared) -> Iterator[Manifest]:
    group, _, version = str(item.manifest["apiVersion"]).rpartition("/")
    where = ["--namespace", item.ref.namespace] if item.ref.namespace else []
    yield from kubectl.objects(f"{item.ref.kind}.{version}.{group}", item.ref.name, *where)


def found_drifts(kubectl: Kubectl, stack: str, state: Sequence[Declared]) -> list[Drift]:
    """Every object that is not as declared.

    Raises:
        ClusterUnreachableError: if the cluster does not answer.
    """
    ours = labelled(kubectl, stack)
    return drifts(state, live(kubectl, state, ours), ours)
