"""What a cluster holds that matters before anything is registered: read once, into plain data."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from components.cluster import daemon_sets, live_pods
from components.cluster.daemon_sets import DaemonSet
from components.cluster.kubectl import Kubectl
from components.cluster.live_nodes import NodeFacts, facts
from components.cluster.live_pods import PodCount
from components.names import (
    COLLECTOR,
    CREATED_LABEL,
    FIELD_MANAGER,
    LABEL_RIGHT_GROUP,
    LABEL_RIGHT_RESOURCE,
    LABEL_RIGHT_VERB,
    LAYER_NAMESPACE,
    OWNER_LABEL,
    POD_SECURITY_LABEL,
    READ_SECRET,
    TENANT_GRAFANA,
)
from components.settings.admission import stated
from components.settings.model import Settings
from components.settings.tenant import all_namespaces, namespaces_of

REPEATED = "pods of the same names and faults as in another namespace here"
# Of kinds that a cluster has many of, Secrets above all, only those of our names are read.
NAMED = {
    COLLECTOR: "deployments,secrets",
    TENANT_GRAFANA: "deployments,services,secrets,ingresses",
    READ_SECRET: "secrets",
}
# Policies and their bindings are served since Kubernetes 1.30.
CLUSTER_SCOPED = ",".join(
    [
        *("clusterroles", "clusterrolebindings", "priorityclasses", "storageclasses"),
        *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
    ]
)
DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_VIOLATED = re.compile(r'existing pods in namespace "([^"]+)" violate')


@dataclass(frozen=True, order=True)
class ObjectRef:
    """One object by kind, namespace (empty if cluster-scoped) and name."""

    kind: str
    namespace: str
    name: str

    @override
    def __str__(self) -> str:
        """What a person reads."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True)
class LiveNamespace:
    """A namespace as it is.

    Attributes:
        owner: the stack whose label it carries, or empty.
        terminating: whether it is being deleted.
        created: whether this program made it.
        labels: all its labels.
        foreign_labels: keys of the labels that somebody else than this program has set.
        unfit_pods: pods that the level wanted for it would not admit, from the server's dry run.
        pods: that have not ended; counted in tenants' namespaces only.
        quota: pods that our quota allows there now; None where there is none yet.
    """

    owner: str = ""
    terminating: bool = False
    created: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    foreign_labels: frozenset[str] = frozenset()
    unfit_pods: tuple[str, ...] = ()
    pods: int = 0
    quota: int | None = None

    @property
    def level(self) -> str:
        """Pod Security level that is enforced, or empty."""
        return self.labels.get(POD_SECURITY_LABEL, "")


@dataclass(frozen=True)
class Live:
    """The cluster, as far as it matters here.

    Attributes:
        identity: UID of the namespace `kube-system`: it lasts as long as the cluster and no longer.
        owners: owner of each object of the kinds that we make outside our own namespaces; empty for foreign ones.
        priorities: value of each PriorityClass.
        default_priority_class: the class of pods that name none, or empty.
        claims: requested size of each volume claim in the layer's namespace.
        bound_claims: StorageClass of those of them that have their volume; empty for a volume without one.
        storage_classes: each StorageClass, and whether it is a default.
        daemon_sets: those that are not ours.
        nodes: all of them.
        server: address of its API server.
        may_label: whether whoever deploys may set a tenant's labels; asked only where a guard refuses them to others.
    """

    identity: str
    namespaces: Mapping[str, LiveNamespace] = field(default_factory=dict)
    owners: Mapping[ObjectRef, str] = field(default_factory=dict)
    priorities: Mapping[str, int] = field(default_factory=dict)
    default_priority_class: str = ""
    claims: Mapping[str, str] = field(default_factory=dict)
    bound_claims: Mapping[str, str] = field(default_factory=dict)
    storage_classes: Mapping[str, bool] = field(default_factory=dict)
    daemon_sets: tuple[DaemonSet, ...] = ()
    nodes: tuple[NodeFacts, ...] = ()
    server: str = ""
    may_label: bool = True


def read(kubectl: Kubectl, settings: Settings) -> Live:
    """Reads the cluster; changes nothing (the Pod Security check is a dry run).

    Raises:
        ClusterUnreachableError: if it does not answer.
    """
    namespaces = {_name(item): item for item in kubectl.objects("namespaces", "--show-managed-fields")}
    objects = kubectl.objects(CLUSTER_SCOPED)
    objects += kubectl.objects("resourcequotas,roles,rolebindings,serviceaccounts", "--all-namespaces")
    for name, kinds in NAMED.items():
        objects += kubectl.objects(kinds, "--all-namespaces", "--field-selector", f"metadata.name={name}")
    classes = {_name(item): item for item in objects if item["kind"] == "PriorityClass"}
    claims = kubectl.objects("persistentvolumeclaims", "--namespace", LAYER_NAMESPACE)
    guards = stated(settings.layer.admission)
    unfit = _unfit_pods(kubectl, settings, namespaces)
    pods = live_pods.read(kubectl, all_namespaces(settings.tenants) & namespaces.keys(), objects)
    return Live(
        identity=namespaces["kube-system"]["metadata"]["uid"],
        namespaces={
            name: _namespace(item, unfit.get(name, ()), pods.get(name, PodCount()))
            for name, item in namespaces.items()
        },
        owners={
            _ref(item): _labels(item).get(OWNER_LABEL, "")
            for item in objects
            if item["kind"] != "StorageClass" or settings.cluster.target.kind == "eks"
        },
        priorities={name: int(item["value"]) for name, item in classes.items()},
        default_priority_class=next(
            (name for name, item in classes.items() if item.get("globalDefault")), ""
        ),
        claims={_name(item): item["spec"]["resources"]["requests"]["storage"] for item in claims},
        bound_claims={
            _name(item): item["spec"].get("storageClassName") or ""
            for item in claims
            if item["spec"].get("volumeName")
        },
        storage_classes={
            _name(item): _is_default(item) for item in objects if item["kind"] == "StorageClass"
        },
        server=kubectl.server(),
        daemon_sets=daemon_sets.read(kubectl),
        nodes=tuple(facts(item) for item in kubectl.objects("nodes")),
        may_label=_may_label(kubectl) if guards and guards.action == "deny" else True,
    )


def _may_label(kubectl: Kubectl) -> bool:
    """Asks the authorizer what the guard of the tenants' labels asks it."""
    right = {"group": LABEL_RIGHT_GROUP, "resource": LABEL_RIGHT_RESOURCE, "verb": LABEL_RIGHT_VERB}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": right},
    }
    # kubectl's own validation would list CustomResourceDefinitions, which a deployer need not be able to.
    asked = ("create", "--validate=false", "--filename", "-", "--output", "json")
    answer = kubectl.call(*asked, stdin=json.dumps(review))
    return bool(json.loads(answer.text)["status"]["allowed"])


def _name(item: Mapping[str, Any]) -> str:
    return str(item["metadata"]["name"])


def _labels(item: Mapping[str, Any]) -> Mapping[str, str]:
    return item["metadata"].get("labels") or {}


def _ref(item: Mapping[str, Any]) -> ObjectRef:
    return ObjectRef(item["kind"], item["metadata"].get("namespace", ""), _name(item))


def _is_default(storage_class: Mapping[str, Any]) -> bool:
    """As the API server decides it, by either annotation (pkg/volume/util/storageclass.go)."""
    annotations = storage_class["metadata"].get("annotations") or {}
    return "true" in (annotations.get(annotation) for annotation in DEFAULT_CLASS)


def _namespace(item: Mapping[str, Any], unfit_pods: tuple[str, ...], count: PodCount) -> LiveNamespace:
    labels = _labels(item)
    return LiveNamespace(
        owner=labels.get(OWNER_LABEL, ""),
        terminating=item.get("status", {}).get("phase") == "Terminating",
        created=labels.get(CREATED_LABEL) == "true",
        labels=labels,
        foreign_labels=frozenset(_foreign_labels(item)),
        unfit_pods=unfit_pods,
        pods=count.pods,
        quota=count.quota,
    )


def _foreign_labels(item: Mapping[str, Any]) -> Iterator[str]:
    """Labels whose field managers are not ours alone."""
    for entry in item["metadata"].get("managedFields") or []:
        if entry.get("manager") != FIELD_MANAGER:
            managed = entry.get("fieldsV1", {}).get("f:metadata", {}).get("f:labels", {})
            yield from (key.removeprefix("f:") for key in managed if key != ".")


STRICTNESS = {"": 0, "privileged": 0, "baseline": 1, "restricted": 2}


def is_stricter(level: str, than: str) -> bool:
    """Whether one Pod Security level admits less than another; an absent level admits everything."""
    return STRICTNESS.get(level, 0) > STRICTNESS.get(than, 0)


def _unfit_pods(
    kubectl: Kubectl, settings: Settings, namespaces: Mapping[str, Mapping[str, Any]]
) -> dict[str, tuple[str, ...]]:
    """Asks the API server, by a dry run, which pods the wanted level would not admit, where it is stricter than now."""
    wanted: dict[str, list[str]] = {}
    for name, tenant in settings.tenants.items():
        for namespace in namespaces_of(name, tenant):
            now = (
                _labels(namespaces[namespace]).get(POD_SECURITY_LABEL, "")
                if namespace in namespaces
                else "restricted"
            )
            if tenant.pod_security != "keep" and is_stricter(tenant.pod_security, now):
                wanted.setdefault(tenant.pod_security, []).append(namespace)
    found: dict[str, tuple[str, ...]] = {}
    for level, names in wanted.items():
        label = f"{POD_SECURITY_LABEL}={level}"
        answer = kubectl.call("label", "namespace", *names, label, "--overwrite", "--dry-run=server")
        found |= violations(answer.warnings)
    return found


def violations(warnings: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Pods by namespace from the API server's warnings: one line names the namespace, the next ones its pods.

    kubectl prints equal lines once (client-go, WarningWriterOptions.Deduplicate): of two namespaces whose pods have the
    same names and faults, the second is named without any pod, and is violated all the same.
    """
    found: dict[str, tuple[str, ...]] = {}
    namespace = ""
    for warning in warnings:
        match = _VIOLATED.search(warning)
        if match:
            namespace = match[1]
            found[namespace] = ()
        elif namespace:
            found[namespace] = (*found[namespace], warning)
    return {namespace: pods or (REPEATED,) for namespace, pods in found.items()}
