"""A cluster with the guards and two tenants, and what its API server says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from components import names
from components.cluster.ownership import GUARD_KINDS
from simulator.api import Object
from tests.support import manifests
from tests.support.cleaning import Snapshot, restore
from tests.support.environments import INCIDENT, changed
from tests.support.kube import Kube, wait_until
from tests.unit.components.environments import environment

TENANTS = ("shop", "billing")
GUARDED = "denied request: "
WARNED = "Validation failed for ValidatingAdmissionPolicy"
# Until the API server has compiled a policy and seen its binding and its parameters.
SECONDS = 60
# An exempted DaemonSet, and a role that was looked into.
LABELLERS = "namespace-labellers"
AS_LABELLER = ("--as=somebody", f"--as-group={LABELLERS}", "--dry-run=server")
EXEMPT = ("daemonset-placement", "gpu", "device-plugin")
TRUSTED = "team-reader"


def settings(action: str) -> Object:
    """The settings of a cluster with the guards."""
    rule, namespace, name = EXEMPT
    exemption = {
        "rule": rule,
        "namespace": namespace,
        "name": name,
        "reason": "only its nodes have the device",
    }
    admission = {"action": action, "exemptions": [exemption], "trustedRoles": [TRUSTED]}
    return changed(INCIDENT, ("layer.admission", admission))


def guards(action: str) -> list[Object]:
    """The guards as the program registers them, with what they read."""
    found = environment(settings(action))
    layer = found.named("Namespace", names.LAYER_NAMESPACE)
    return [layer.inputs, *(item.inputs for item in found.of(*GUARD_KINDS))]


@dataclass(frozen=True)
class Answer:
    """What kubectl got.

    Attributes:
        refused: the message of each refusal.
        warned: each warning of a guard.
        done: whether the request went through.
    """

    refused: tuple[str, ...]
    warned: tuple[str, ...]
    done: bool

    @property
    def rules(self) -> list[str]:
        """Names of the rules that refused or warned, one for each time."""
        said = " ".join((*self.refused, *self.warned))
        return [rule for rule in RULES for _ in range(said.count(f"{rule}: "))]


RULES = (
    "daemonset-placement",
    "daemonset-tolerations",
    "workload-tolerations",
    "tenant-daemonset",
    "tenant-host-access",
    "tenant-priority",
    "tenant-cluster-pod-list",
    "tenant-labels",
)


def apply(kube: Kube, objects: Sequence[Object] | str, *options: str) -> Answer:
    """`kubectl apply`, as people and pipelines do it."""
    text = objects if isinstance(objects, str) else yaml.safe_dump_all(objects)
    return kubectl(kube, "apply", "--filename=-", *options, stdin=text)


def kubectl(kube: Kube, *arguments: str, stdin: str | None = None) -> Answer:
    """One command; anything that it says beside the guards' words is an error of the test."""
    done = kube.kubectl(*arguments, stdin=stdin)
    lines = [line for line in done.stderr.splitlines() if line]
    refused = tuple(line.partition(GUARDED)[2] for line in lines if GUARDED in line)
    warned = tuple(line.partition("': ")[2] for line in lines if line.startswith(f"Warning: {WARNED}"))
    assert len(refused) + len(warned) == len(lines), done.stderr
    return Answer(refused, warned, done.returncode == 0)


@pytest.fixture(scope="module")
def guarded(request: pytest.FixtureRequest, kube: Kube, untouched: Snapshot) -> Iterator[Kube]:
    """The cluster with two tenants, under the action that the module names as `ACTION`."""
    action: str = request.module.ACTION
    for name in TENANTS:
        kube.apply(manifests.namespace(name, **{names.TENANT_LABEL: name}))
    for name in ("agents", "gpu"):
        kube.apply(manifests.namespace(name))
    kube.apply(*labellers(), *guards(action))
    try:
        wait_until(lambda: acts(kube, action), SECONDS, "the guards do not act")
        yield kube
    finally:
        restore(kube, untouched)


def acts(kube: Kube, action: str) -> bool:
    """Whether every guard is in force: each by one request that it judges."""
    probes = [apply(kube, [sent], "--dry-run=server") for sent in PROBES]
    probes.append(kubectl(kube, "label", "namespace", "agents", f"{names.TENANT_LABEL}=x", *AS_LABELLER))
    return all(answer.refused if action == "deny" else answer.warned for answer in probes)


def labellers() -> list[Object]:
    """A group of people who may change namespaces, and not their tenants."""
    rbac = "rbac.authorization.k8s.io"
    namespaces = ["namespaces", "namespaces/status", "namespaces/finalize"]
    rules = [{"apiGroups": [""], "resources": namespaces, "verbs": ["get", "create", "patch", "update"]}]
    subject = {"apiGroup": rbac, "kind": "Group", "name": LABELLERS}
    role = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": LABELLERS},
        "rules": rules,
    }
    return [role, binding(LABELLERS, subject, name=LABELLERS)]


def workload(kind: str, namespace: str, name: str = "agent", **spec: Any) -> Object:
    """A workload of one of the built-in kinds with these fields of a pod."""
    pod = {"containers": [{"name": "c", "image": "example.com/c:1"}], **spec}
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod}
    metadata = {"name": name, "namespace": namespace}
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": pod}
    if kind == "PodTemplate":
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "template": template}
    if kind == "ReplicationController":
        return {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": metadata,
            "spec": {"selector": labels, "template": template},
        }
    job = {"template": {**template, "spec": {"restartPolicy": "Never", **pod}}}
    if kind == "Job":
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": job}
    if kind == "CronJob":
        cron = {"schedule": "@daily", "jobTemplate": {"spec": job}}
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": cron}
    fields: Object = {"selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": fields}


def binding(role: str, *subjects: Object, name: str = "theirs") -> Object:
    """A ClusterRoleBinding."""
    rbac = "rbac.authorization.k8s.io"
    reference = {"apiGroup": rbac, "kind": "ClusterRole", "name": role}
    metadata = {"name": name}
    head = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": metadata}
    return {**head, "subjects": list(subjects), "roleRef": reference}


def account(namespace: str) -> Object:
    """A service account as a subject."""
    return {"kind": "ServiceAccount", "name": "app", "namespace": namespace}


PROBES = (
    workload("Pod", "shop", hostNetwork=True),
    workload("Pod", "billing", hostNetwork=True),
    workload("DaemonSet", "agents"),
    binding("view", account("shop")),
    binding("view", account("billing")),
)
