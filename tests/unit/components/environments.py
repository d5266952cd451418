"""Whole environments, recorded: `__main__.py` itself runs, with a cluster or an earlier deployment as plain data."""

import functools
import gc
import json
import runpy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import bcrypt
import yaml
from typing_extensions import override

from components.cluster import live as cluster
from components.cluster.eks import cli, reading
from components.cluster.eks.cli import CliError
from components.cluster.eks.facts import Caller
from components.cluster.eks.reading import InCluster
from components.cluster.live import Live, LiveNamespace
from components.settings.model import Settings
from components.settings.tenant import pods_by_namespace
from tests.support.environments import INCIDENT, KEY, PROJECT, changed, config, parsed, secret_keys
from tests.support.mocks import KUBERNETES, Answer, Inputs, Recorder, Registered, record
from tests.support.nodes import as_declared
from tests.unit.components import aws

ROOT = Path(__file__).parents[3]
STACK = "dev"
# `/dev/null` is a file that exists; the cluster behind it is the `Live` that a test gives.
KUBECONFIG = {"kind": "kubeconfig", "path": "/dev/null", "context": "test"}
POD_SPECS = ("template", "jobTemplate")
Raw = dict[str, Any]


@dataclass(frozen=True, repr=False)
class Environment:
    """What one environment registered.

    Attributes:
        settings: as parsed.
        recorder: everything, components too.
        objects: the Kubernetes objects among it.
    """

    settings: Settings
    recorder: Recorder
    objects: tuple["Object", ...]

    def of(self, *kinds: str) -> list["Object"]:
        """The objects of some kinds."""
        return [found for found in self.objects if found.kind in kinds]

    def named(self, kind: str, name: str) -> "Object":
        """The one object of this kind and name."""
        (found,) = (o for o in self.of(kind) if o.name == name)
        return found

    def named_at(self, kind: str, namespace: str) -> "Object":
        """The one object of this kind in a namespace."""
        (found,) = (o for o in self.of(kind) if o.namespace == namespace)
        return found

    def named_in(self, other: "Object") -> "Object":
        """The object that is the same in this environment."""
        (found,) = (o for o in self.objects if o.registered.urn == other.registered.urn)
        return found

    @property
    def tenant_namespaces(self) -> dict[str, str]:
        """Tenant by namespace."""
        tenants = self.settings.tenants.items()
        return {namespace: name for name, tenant in tenants for namespace in pods_by_namespace(name, tenant)}

    @property
    def outputs(self) -> dict[str, Any]:
        """What the stack exported, for the next deployment."""
        return self.recorder.outputs


@dataclass(frozen=True, repr=False)
class Object:
    """A Kubernetes object as it was registered."""

    registered: Registered

    @property
    def inputs(self) -> Inputs:
        """The manifest, secrets in plain text."""
        return self.registered.inputs

    @property
    def kind(self) -> str:
        """Its kind."""
        return str(self.inputs["kind"])

    @property
    def name(self) -> str:
        """Its name in the cluster; a KeyError where it has none."""
        return str(self.inputs["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Its namespace; empty for what is cluster-scoped."""
        return str(self.inputs["metadata"].get("namespace", ""))

    @property
    def labels(self) -> dict[str, str]:
        """Its labels."""
        return dict(self.inputs["metadata"].get("labels", {}))

    @property
    def pod(self) -> dict[str, Any] | None:
        """The specification of the pods that it makes, if it makes any."""
        return next(_pod_specs(self.inputs), None)

    @override
    def __str__(self) -> str:
        """For messages and test ids."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def _pod_specs(value: Any) -> Iterator[dict[str, Any]]:
    """Wherever containers are listed: in a template, a job's template, or a pod itself."""
    if isinstance(value, dict):
        if "containers" in value:
            yield value
        for item in value.values():
            yield from _pod_specs(item)
    elif isinstance(value, list):
        for item in value:
            yield from _pod_specs(item)


def containers(pod: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All containers of a pod's specification, init containers first."""
    return [*pod.get("initContainers", []), *pod["containers"]]


def environment(
    raw: Raw,
    *,
    live: Live | None = None,
    outputs: Mapping[str, Any] | None = None,
    answers: Mapping[str, Answer] | None = None,
    state: Mapping[str, Any] | None = None,
    caller: Caller | CliError = aws.CALLER,
    preview: bool = False,
    in_cluster: InCluster = aws.IN_CLUSTER,
) -> Environment:
    """Records an environment; the same one only once.

    Args:
        raw: the settings as plain data.
        live: the cluster; by default one in which nothing is deployed and the adopted namespaces exist.
        outputs: what the stack exported last.
        answers: of AWS; by default an account without clusters, or with the one that is said to exist.
        state: the stack's own state, type and outputs by URN.
        caller: whose AWS credentials there are, or why there are none.
        preview: whether it is recorded for a preview.
        in_cluster: what kubectl says of a cluster on EKS.
    """
    if live is not None or answers is not None or state is not None:
        return _record(
            raw,
            live or empty_cluster(raw),
            outputs or {},
            answers,
            state,
            caller=caller,
            preview=preview,
            in_cluster=in_cluster,
        )
    return _recorded(json.dumps(raw), json.dumps(dict(outputs or {})))


@functools.lru_cache(maxsize=64)
def _recorded(raw: str, outputs: str) -> Environment:
    return _record(json.loads(raw), empty_cluster(json.loads(raw)), json.loads(outputs))


def _record(
    raw: Raw,
    live: Live,
    outputs: Mapping[str, Any],
    answers: Mapping[str, Answer] | None = None,
    state: Mapping[str, Any] | None = None,
    *,
    caller: Caller | CliError = aws.CALLER,
    preview: bool = False,
    in_cluster: InCluster = aws.IN_CLUSTER,
) -> Environment:
    with (
        mock.patch.object(cli, "caller", side_effect=[caller]),
        mock.patch.object(reading, "read", return_value=in_cluster),
        mock.patch.object(cluster, "read", return_value=live),
        mock.patch.object(bcrypt, "hashpw", _hashed_once),
    ):
        recorder = record(
            _main,
            project=PROJECT,
            stack=STACK,
            config=config(raw),
            secret_keys=tuple(sorted(secret_keys(raw))),
            answers={
                "pulumi:pulumi:readStackOutputs": lambda asked: {**asked, "outputs": outputs},
                "pulumi:pulumi:readStackResourceOutputs": lambda asked: {**asked, "outputs": state or {}},
                **(_of_aws(raw) if answers is None else answers),
            },
            computed=aws.COMPUTED,
            preview=preview,
        )
    made = (found for found in recorder.registered.values() if found.type.startswith(KUBERNETES))
    return Environment(parsed(raw, STACK), recorder, tuple(Object(found) for found in made))


def _of_aws(raw: Raw) -> dict[str, Answer]:
    """An account without clusters, or with the one that is said to exist."""
    name = raw["cluster"]["target"].get("existing")
    return aws.answers(getClusters=lambda _: {"names": [name]}) if name else aws.answers()


# Made slow on purpose, and always asked for the same: a third of the time of an environment.
_hashed_once = functools.cache(bcrypt.hashpw)


def _main() -> None:
    try:
        runpy.run_path(str(ROOT / "__main__.py"), run_name="__main__")
    finally:
        gc.enable()  # the program turns it off for its own process


def empty_cluster(raw: Raw, **namespaces: LiveNamespace) -> Live:
    """The declared nodes, a default StorageClass and the namespaces to adopt, with nothing of ours deployed."""
    adopted = {
        namespace: LiveNamespace()
        for name, tenant in parsed(raw, STACK).tenants.items()
        for namespace in pods_by_namespace(name, tenant)
        if tenant.namespace == "adopt"
    }
    return Live(
        identity="uid-of-kube-system",
        namespaces={**adopted, **namespaces},
        storage_classes={"gp3": True},
        nodes=as_declared(parsed(raw, STACK)),
    )


def dev() -> Raw:
    """The settings that the project ships as `dev`, with a key of the tests'."""
    written = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text(encoding="utf-8"))["config"]
    return {**{key.partition(":")[2]: value for key, value in written.items()}, "gatewayKey": KEY}


EXISTING = {"kind": "existing", "selector": {"app": "their-exporter"}, "port": 9101}
MIXED_GROUPS = {
    "web": {"instanceTypes": ["t3.large"], "nodes": 5},
    "general": {"kind": "nodePool", "instanceTypes": ["m5.large"], "nodes": {"min": 0, "max": 9}},
    "auto": {
        "kind": "autoMode",
        "maxPods": 50,
        "nodes": 3,
        "startupTaints": [{"key": "node.example.com/init", "effect": "NoExecute"}],
    },
    "metal": {
        "kind": "other",
        "selector": {"key": "example.com/pool", "values": ["a", "b"]},
        "maxPods": 110,
        "nodes": 2,
        "taints": [
            {"key": "gpu", "value": "yes", "effect": "NoSchedule"},
            {"key": "prefer", "effect": "PreferNoSchedule"},
        ],
    },
}

PROVIDER = {
    "authUrl": "https://login.example.com/authorize",
    "tokenUrl": "https://login.example.com/token",
    "apiUrl": "https://login.example.com/userinfo",
}
CLIENT_SECRET = "a-secret-of-the-identity-provider"
BY_HOST: Raw = {
    "host": "shop.grafana.example.com",
    "ingressClass": "alb",
    "annotations": {"alb.ingress.kubernetes.io/scheme": "internal"},
    "tlsSecret": "shop-tls",
    "oauth": {"clientId": "shop-grafana", "groups": ["team-shop", "on-call"]},
}

VARIANTS: dict[str, Raw] = {
    "dev as shipped": dev(),
    "rendered": INCIDENT,
    "on a cluster": changed(INCIDENT, ("cluster.target", KUBECONFIG)),
    "no tenants": changed(INCIDENT, ("tenants", {})),
    "all kinds of node groups": changed(
        INCIDENT,
        ("cluster.target", KUBECONFIG),
        ("cluster.nodeGroups", MIXED_GROUPS),
        ("layer.runsOn", ["general", "metal"]),
        ("tenants.shop.runsOn", None),
    ),
    "layer on all groups without taints": changed(INCIDENT, ("layer.runsOn", None)),
    "logs off": changed(INCIDENT, ("layer.logs", "off"), ("tenants.wiki.logs", None)),
    "metrics off": changed(INCIDENT, ("layer.metrics", "off")),
    "both off": changed(INCIDENT, ("layer.metrics", False), ("layer.logs", False)),
    "exporter of others": changed(INCIDENT, ("layer.hostMetrics", EXISTING)),
    "measured by alloy": changed(
        INCIDENT, ("cluster.target", KUBECONFIG), ("layer.hostMetrics", "alloy")
    ),
    "measured by alloy, logs off": changed(
        INCIDENT, ("layer.hostMetrics", "alloy"), ("layer.logs", "off"), ("tenants.wiki.logs", None)
    ),
    "no exporter": changed(INCIDENT, ("layer.hostMetrics", "none")),
    "agents wait": changed(INCIDENT, ("cluster.target", KUBECONFIG), ("layer.agents", {"preempt": False})),
    "logs in S3": changed(
        INCIDENT, ("layer.logs", {"store": {"kind": "s3", "bucket": "lines", "region": "eu-west-1"}})
    ),
    "external secrets": changed(INCIDENT, ("layer.renderedSecrets", {"kind": "externalSecret", "store": "vault"})),
    "on EKS, made here": changed(aws.MADE_HERE, ("layer.logs", {"store": aws.S3})),
    "on EKS, Auto Mode": changed(
        INCIDENT,
        ("cluster.target", aws.EXISTING),
        ("cluster.nodeGroups", {"general": {"kind": "autoMode", "instanceTypes": ["m5.large"], "nodes": 9}}),
        ("layer.runsOn", None),
        ("tenants.shop.runsOn", None),
    ),
    "all of a tenant's settings": changed(
        INCIDENT,
        ("cluster.target", KUBECONFIG),
        ("layer.protection", "on"),
        ("layer.storageClass", "gp3"),
        ("tenants.shop.logs", "api"),
        ("tenants.shop.namespace", "create"),
        ("tenants.shop.priorityClasses", ["batch", "web"]),
        ("tenants.billing.namespace", "create"),
        ("tenants.billing.onRemove", "delete"),
        ("tenants.search.podSecurity", "baseline"),
        ("tenants.mail.podSecurity", "keep"),
        ("tenants.mail.logs", "api"),
        ("tenants.mail.labels", {"example.com/cost-centre": "42"}),
        ("tenants.mail.retention", "3d"),
    ),
    "dashboards of all kinds": changed(
        INCIDENT,
        ("cluster.target", KUBECONFIG),
        ("cluster.networkPolicies", "enforced"),
        ("layer.dashboards", True),
        ("layer.imageRegistry", "registry.example.com/mirror"),
        ("layer.gateway", {"replicas": 3, "openTo": ["central"]}),
        ("layer.oauth", PROVIDER),
        ("oauth", {"shop-grafana": CLIENT_SECRET}),
        ("tenants.shop.dashboards", BY_HOST),
        ("tenants.search.dashboards", {"host": "search.grafana.example.com", "tls": False}),
        ("tenants.billing.dashboards", False),
    ),
}  # fmt: skip
