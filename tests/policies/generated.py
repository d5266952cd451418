"""What the tests of properties share: settings, objects and the verdicts on them."""

from typing import Any

from policies.check import check
from policies.config import take_apart
from policies.manifest import Manifest, Origin
from policies.manifests import Reading
from policies.props import plain
from policies.values import Field

CONFIG = take_apart(
    {
        "pack-settings": {
            "tenants": {"shop": {"groups": ["devs"]}},
            "nodeGroups": {"web": {"instanceTypes": ["t3.small"], "nodes": 3}},
        },
        "tenant-cluster-pod-list": {"unboundRoles": True},
    }
)
RBAC = "rbac.authorization.k8s.io/v1"


def bound(rules: Any, subject: dict[str, str] | None = None) -> list[dict[str, Any]]:
    account = subject or {"kind": "ServiceAccount", "name": "app", "namespace": "shop"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}
    return [
        {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": "r"}, "rules": rules},
        {
            "apiVersion": RBAC,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "b"},
            "subjects": [account],
            "roleRef": reference,
        },
    ]


def verdicts(*raws: dict[str, Any]) -> set[tuple[str, str]]:
    manifests = [Manifest(Field(plain(raw)), "test", Origin.FILE) for raw in raws]
    return {(found.rule, str(found.verdict)) for found, _ in check(Reading(manifests), CONFIG).findings}


def daemon_set(pod: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "agents"}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata,
        "spec": {"template": {"spec": pod}},
    }
