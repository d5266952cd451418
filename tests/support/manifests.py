"""Objects that tests put into a cluster: pods as app teams write them, and pods that must be refused."""

from typing import Any

from simulator import teams
from simulator.api import Object


def namespace(name: str, **labels: str) -> Object:
    """A namespace of somebody else, with labels of theirs given as `**{"team": "a"}`."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def pod(
    namespace: str,
    name: str,
    *,
    annotations: dict[str, str] | None = None,
    ports: list[Object] | None = None,
    containers: int = 1,
    **spec: Any,
) -> Object:
    """A pod that the Pod Security level `restricted` admits; `spec` adds to it, as `nodeName="web-0"`."""
    template = teams.deployment(namespace, name)["spec"]["template"]
    (container,) = template["spec"]["containers"]
    several = [{**container, "name": f"{name}-{i}", "ports": ports or []} for i in range(containers)]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations or {}},
        "spec": {**template["spec"], "containers": several, **spec},
    }


def with_container(manifest: Object, **changes: Any) -> Object:
    """The pod with its containers' fields changed."""
    spec = manifest["spec"]
    containers = [{**container, **changes} for container in spec["containers"]]
    return {**manifest, "spec": {**spec, "containers": containers}}


def privileged(namespace: str, name: str = "privileged") -> Object:
    """A pod that owns its node."""
    return with_container(pod(namespace, name), securityContext={"privileged": True})


def host_path(namespace: str, name: str = "host-path") -> Object:
    """A pod that reads its node's disk, as a node agent does."""
    return pod(namespace, name, volumes=[{"name": "logs", "hostPath": {"path": "/var/log"}}])


def host_network(namespace: str, name: str = "host-network") -> Object:
    """A pod with its node's address."""
    return pod(namespace, name, hostNetwork=True)


def root(namespace: str, name: str = "root") -> Object:
    """A pod that `baseline` admits and `restricted` does not."""
    security = {"runAsUser": 0, "seccompProfile": {"type": "RuntimeDefault"}}
    return pod(namespace, name, securityContext=security)


def daemon_set(namespace: str, name: str = "agent") -> Object:
    """An agent of an app team's own, one on each node."""
    deployment = teams.deployment(namespace, name)
    spec = {key: deployment["spec"][key] for key in ("selector", "template")}
    return {**deployment, "kind": "DaemonSet", "spec": spec}


def per_node(namespace: str, name: str, pod: Object, label: str = "app") -> Object:
    """A DaemonSet of this pod specification, whose pods are known by one label."""
    labels = {label: name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def config_map(namespace: str, name: str) -> Object:
    """An object of somebody else that does nothing."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"whose": "theirs"}}


def quota(namespace: str, name: str, **hard: str) -> Object:
    """A quota of somebody else."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}}
