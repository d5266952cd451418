"""The app teams of a simulated cluster: the namespaces that tenants adopt, with one small Deployment in each."""

from components.settings.model import Settings
from components.settings.tenant import namespaces_of
from simulator.api import Object

REPLICAS = 2
IMAGE = "registry.k8s.io/pause:3.10"  # the name only: nothing is pulled or run


def namespaces(settings: Settings) -> list[str]:
    """Namespaces that must exist before the environment is deployed; created ones are the program's own work."""
    return [
        namespace
        for name, tenant in settings.tenants.items()
        if tenant.namespace == "adopt"
        for namespace in namespaces_of(name, tenant)
    ]


def namespace(name: str) -> Object:
    """A namespace as an app team's own tooling makes it: without a label of ours."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def deployment(namespace: str, name: str = "app", *, replicas: int = REPLICAS) -> Object:
    """An app that the Pod Security level `restricted` admits, with requests as a quota may demand."""
    labels = {"app.kubernetes.io/name": name}
    container = {
        "name": name,
        "image": IMAGE,
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "32Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "nodeSelector": {"kubernetes.io/os": "linux"},
                    "automountServiceAccountToken": False,
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": 65534,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [container],
                },
            },
        },
    }
