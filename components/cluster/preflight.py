"""What has to be true before anything is registered: of the cluster as it is, and of what this stack deployed before.

`check` decides from plain data; `check_or_exit` fetches that data, shows all mistakes and ends the program.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulumi

from components import config_history, names
from components.cluster import live as cluster
from components.cluster import own_state, storage_classes
from components.cluster.eks import in_cluster_checks, reading
from components.cluster.eks.kubeconfig import aws_arguments
from components.cluster.kubectl import ClusterUnreachableError, Kubectl
from components.cluster.live import Live, LiveNamespace, is_stricter
from components.cluster.lost_state import refuse_lost_state
from components.cluster.ownership import foreign_objects
from components.label_keys import mistaken_for
from components.quantities import mebibytes
from components.settings.eks import EksTarget
from components.settings.load import ALREADY_SHOWN
from components.settings.mistakes import Mistake, SettingsError
from components.settings.model import (
    FilesystemStore,
    KubeconfigTarget,
    LogStore,
    MetricsStore,
    S3Store,
    Settings,
)
from components.settings.tenant import namespaces_of
from components.tenant import token_generations

if TYPE_CHECKING:
    from components.cluster.eks.cloud import Cloud

# kubectl's words for a kind that the API server does not serve.
_NO_POLICIES = "the server doesn't have a resource type \"validatingadmissionpolic"
TOO_OLD = Mistake(
    "cluster.target",
    "is a cluster whose API server has no ValidatingAdmissionPolicy, so it is older than Kubernetes 1.30",
    "Upgrade it: see docs/compatibility.md",
)

RENDERED = "rendered"
"""Identity of a target that is no cluster, or none yet."""

IDENTITY = {
    "kubeconfig": "the UID of its namespace kube-system",
    "eks": "its ARN with the time when it was made",
}


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
        live, differs = (None, []) if refused else _live(settings, cloud)
        refused += differs
        refuse_lost_state(live, outputs, stack)
        found = check(settings, live, outputs, stack, refused)
    except SettingsError as error:
        pulumi.log.error(str(error))
        raise SystemExit(ALREADY_SHOWN) from None
    for line in token_generations.warnings(settings, outputs):
        pulumi.log.warn(line)
    return found


def last_outputs() -> Mapping[str, Any]:
    """Outputs of this stack's last deployment: plain values, empty before the first."""
    return own_state.read("pulumi:pulumi:readStackOutputs", {"name": own_state.my_name()})


def _of_aws(settings: Settings, cloud: "Cloud | None", stack: str) -> list[Mistake]:
    target = settings.cluster.target
    if cloud is None or not isinstance(target, EksTarget):
        return []
    from components.cluster.eks import checks, saying  # noqa: PLC0415 - see account.py

    saying.say(settings, target, cloud)
    return checks.mistakes(settings, target, cloud.facts, stack)


def _live(settings: Settings, cloud: "Cloud | None") -> tuple[Live | None, list[Mistake]]:
    """The cluster as it is, and what of a cluster on EKS is otherwise than declared."""
    target = settings.cluster.target
    if isinstance(target, EksTarget):
        return _live_eks(settings, target, cloud)
    return (_live_kubeconfig(settings, target) if isinstance(target, KubeconfigTarget) else None), []


def _live_kubeconfig(settings: Settings, target: KubeconfigTarget) -> Live:
    path = Path(target.path).expanduser()
    if not path.exists():
        hint = "Check the path; the simulated cluster is started by: make simulator"
        raise SettingsError(
            [Mistake("cluster.target.path", f"there is no file {path}", hint)], pulumi.get_stack()
        )
    try:
        return cluster.read(Kubectl(str(path), target.context), settings)
    except ClusterUnreachableError as error:
        if _NO_POLICIES in str(error):
            raise SettingsError([TOO_OLD], pulumi.get_stack()) from None
        command = f"kubectl --kubeconfig {path} --context {target.context} get --raw /readyz"
        raise _unreadable(f"of context '{target.context}'", error, command) from None


def _live_eks(
    settings: Settings, target: EksTarget, cloud: "Cloud | None"
) -> tuple[Live | None, list[Mistake]]:
    """Read by the same kubeconfig that the provider gets; None for a cluster that does not exist yet."""
    found = cloud.facts.cluster if cloud else None
    if found is None:
        return None, []
    try:
        with reading.reader(target, found) as kubectl:
            live = replace(cluster.read(kubectl, settings), identity=reading.identity_of(found))
            in_cluster = reading.read(kubectl)
    except ClusterUnreachableError as error:
        command = " ".join(["aws", *aws_arguments(target, "eks", "get-token", "--cluster-name", found.name)])
        raise _unreadable(f"'{found.name}'", error, command) from None
    differs = in_cluster_checks.mistakes(settings, target, in_cluster)
    if target.existing:
        return live, differs
    for one in differs:  # of a cluster that is made here these are nodes that are being replaced
        pulumi.log.warn(str(one))
    return live, []


def _unreadable(which: str, error: Exception, command: str) -> SettingsError:
    problem = f"the cluster {which} cannot be read ({error}), and nothing about it is guessed"
    return SettingsError([Mistake("cluster.target", problem, f"Try: {command}")], pulumi.get_stack())


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
        *_target(settings, live, outputs, stack),
        *_volumes(settings, live, outputs),
        *token_generations.mistakes(settings, outputs),
        *_priorities(settings, live),
    ]
    if live is not None:
        mistakes += [*foreign_objects(settings, live, stack), *_namespaces(settings, live, stack)]
        mistakes += [*_label_right(live), *storage_classes.mistakes(settings, live)]
    if mistakes:
        raise SettingsError(mistakes, stack)
    return Preflight(
        identity=live.identity if live else RENDERED,
        config_history=config_history.unpack(outputs.get("configHistory") or {}),
        pod_security=dict(_pod_security(settings, live)),
        token_generations=token_generations.known(settings, outputs),
    )


def _label_right(live: Live) -> Iterator[Mistake]:
    if not live.may_label:
        yield Mistake(
            "layer.admission",
            "is deny, and whoever deploys may not set the labels by which a namespace belongs to a tenant, so the "
            "guard of these labels would refuse them",
            "Apply docs/deployer.yaml anew, as an administrator: its rule for `tenants` of the API group "
            f"{names.LABEL_RIGHT_GROUP} gives that right",
        )


def _target(
    settings: Settings, live: Live | None, outputs: Mapping[str, Any], stack: str
) -> Iterator[Mistake]:
    before = outputs.get("target") or {}
    kind = settings.cluster.target.kind
    anew = f"make destroy ENV={stack} with the old target, then deploy; or use another stack for the new one"
    if before and before.get("kind") != kind:
        yield Mistake(
            "cluster.target.kind",
            f"was {before.get('kind')} at the last deployment and is {kind} now: the "
            "engine would take what it rendered for what runs, or the reverse",
            anew,
        )
    elif before and live and before.get("identity") != live.identity:
        yield Mistake(
            "cluster.target",
            f"leads to another cluster than at the last deployment ({IDENTITY[kind]} is {live.identity}, it was "
            f"{before.get('identity')}): the engine would take the old cluster's objects for this one's",
            f"Point it at the old cluster, or: {anew}",
        )


def volumes(settings: Settings) -> dict[str, tuple[str, str]]:
    """Size and setting of each volume, by the name of its claim."""
    layer, found = settings.layer, {}
    if isinstance(layer.metrics, MetricsStore):
        found[names.PROMETHEUS] = (layer.metrics.storage, "layer.metrics.storage")
    if isinstance(layer.logs, LogStore) and isinstance(layer.logs.store, FilesystemStore | S3Store):
        found[names.LOKI] = (layer.logs.store.size, "layer.logs.store.size")
    return found


def _volumes(settings: Settings, live: Live | None, outputs: Mapping[str, Any]) -> Iterator[Mistake]:
    before = {**(outputs.get("volumes") or {}), **(live.claims if live else {})}
    for claim, (size, path) in volumes(settings).items():
        if claim in before and mebibytes(size) < mebibytes(before[claim]):
            yield Mistake(
                path,
                f"is {size}, but the volume has {before[claim]}, and a volume can grow but never shrink",
                f"Write {before[claim]} or more",
            )


def _namespaces(settings: Settings, live: Live, stack: str) -> Iterator[Mistake]:
    for name, tenant in settings.tenants.items():
        for namespace in namespaces_of(name, tenant):
            path = f"tenants.{name}"
            found = live.namespaces.get(namespace)
            if found is None:
                if tenant.namespace == "adopt":
                    yield Mistake(
                        path,
                        f"namespace '{namespace}' does not exist, and adopting never creates one",
                        f"Write `namespace: create`, or: kubectl create namespace {namespace}",
                    )
                continue
            yield from _existing_namespace(path, namespace, found, tenant.namespace, stack)
            yield from _foreign_labels(path, namespace, found, tenant.labels)
            yield from _lookalikes(path, namespace, found)


def _existing_namespace(
    path: str, namespace: str, found: LiveNamespace, mode: str, stack: str
) -> Iterator[Mistake]:
    if found.terminating:
        yield Mistake(
            path, f"namespace '{namespace}' is being deleted", "Wait until it is gone, or take the tenant out"
        )
    if found.owner and found.owner != stack:
        yield Mistake(
            path,
            f"namespace '{namespace}' belongs to stack '{found.owner}'",
            "Take it from one of the stacks",
        )
    if not found.created and mode == "create":
        yield Mistake(
            f"{path}.namespace",
            f"is create, but namespace '{namespace}' exists and was not made by this program",
            "Write `namespace: adopt`",
        )
    if found.created and found.owner == stack and mode == "adopt":
        yield Mistake(
            f"{path}.namespace",
            f"is adopt, but this program created namespace '{namespace}': with what creates it gone from the settings, "
            "`onRemove: delete` as deployed last would delete it with everything in it",
            "Write `namespace: create`; with `onRemove: keep` it stays when the tenant goes",
        )
    if found.unfit_pods:
        pods = "; ".join(found.unfit_pods)
        yield Mistake(
            f"{path}.podSecurity",
            f"would not admit pods that run in namespace '{namespace}' now: {pods}",
            "Mend the pods, or write `podSecurity: baseline` or `keep`",
        )


def _foreign_labels(
    path: str, namespace: str, found: LiveNamespace, wanted: Mapping[str, str]
) -> Iterator[Mistake]:
    for key, value in wanted.items():
        if key in found.foreign_labels and found.labels.get(key) != value:
            yield Mistake(
                f'{path}.labels["{key}"]',
                f"is somebody else's label on namespace '{namespace}' already, with another value: it would be changed "
                "now and be gone when the tenant is removed",
                "Leave it out, or write the value that it has",
            )


def _lookalikes(path: str, namespace: str, found: LiveNamespace) -> Iterator[Mistake]:
    for key in found.labels:
        if ours := mistaken_for(key):
            yield Mistake(
                path,
                f"namespace '{namespace}' has the label {key}, which Alloy and Prometheus read as {ours}: which of the "
                "two counts is chance, so its lines and samples could become another tenant's",
                f"Take it off: kubectl label namespace {namespace} {key}-",
            )


# Known without a cluster: Kubernetes' own classes, and the node agents', which the first deployment is yet to make.
PRIORITIES = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
    names.AGENTS_PRIORITY_CLASS: names.AGENTS_PRIORITY,
    names.AGENTS_PRIORITY_CLASS_WAITING: names.AGENTS_PRIORITY,
}


def _priorities(settings: Settings, live: Live | None) -> Iterator[Mistake]:
    priorities = {**(live.priorities if live else {}), **PRIORITIES}
    default = live.default_priority_class if live else ""
    for name, tenant in settings.tenants.items():
        for i, allowed in enumerate(tenant.priority_classes):
            value = priorities.get(allowed)
            if value is not None and value >= names.AGENTS_PRIORITY:
                yield Mistake(
                    f"tenants.{name}.priorityClasses[{i}]",
                    f"'{allowed}' has priority {value}, not below the "
                    f"node agents' {names.AGENTS_PRIORITY}: its pods would displace them",
                    "Allow a class of lower value",
                )
        if default and default not in tenant.priority_classes:
            yield Mistake(
                f"tenants.{name}.priorityClasses",
                f"does not allow '{default}', which the cluster gives to every "
                "pod that names no class, so the tenant's quota would refuse all its pods",
                f"Write `priorityClasses: [{default}]`",
            )


def _pod_security(settings: Settings, live: Live | None) -> Iterator[tuple[str, str]]:
    """Where a level is set. A level of somebody else that is as strict or stricter stays theirs, also when we leave."""
    for name, tenant in settings.tenants.items():
        if tenant.pod_security == "keep":
            continue
        for namespace in namespaces_of(name, tenant):
            found = live.namespaces.get(namespace, LiveNamespace()) if live else LiveNamespace()
            if names.POD_SECURITY_LABEL not in found.foreign_labels or is_stricter(
                tenant.pod_security, found.level
            ):
                yield namespace, tenant.pod_security
