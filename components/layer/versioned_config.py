"""Content-addressed ConfigMaps: a changed text gets a new object, and the pods that mount it roll.

The hash is in the logical name too, and the previous text stays declared. With one stable logical name the engine
deletes the *live* object after a failed rollout and a rollback: measured, see docs/adr/0007-versioned-configuration.md.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap

from components import config_history
from components.context import Context

KEPT = 2
"""Versions that stay declared: the live one, and the one that a rollback goes to."""


def content_hash(data: Mapping[str, str]) -> str:
    """Ten hexadecimal digits of the SHA-256 over names and texts."""
    return hashlib.sha256(json.dumps(dict(data), sort_keys=True).encode()).hexdigest()[:10]


def versions(current: Mapping[str, str], deployed: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The versions to declare: the current one first, then the newest other ones of those deployed before."""
    kept = [dict(current)]
    for version in deployed:
        if dict(version) not in kept:
            kept.append(dict(version))
    return kept[:KEPT]


class VersionedConfig:
    """One configuration, as immutable ConfigMaps named after their content.

    No component: a tenant has one, and each component is a registration more (docs/adr/0020).
    """

    key: str
    """Under which the stack exports it."""

    config_map: str
    """Name of the current ConfigMap: a literal, known at preview."""

    objects: list[pulumi.Resource]
    """The ConfigMaps, for what mounts them to wait for."""

    history: list[dict[str, str]]
    """What the stack exports, for the next deployment to keep."""

    def __init__(
        self,
        name: str,
        data: Mapping[str, str],
        *,
        namespace: str,
        context: Context,
        keep_previous: bool = True,
        parent: pulumi.Resource,
    ) -> None:
        """Declares the current version and, if it is kept, the previous one.

        Args:
            name: of the configuration; objects are called `<name>-<hash>`.
            data: file names and texts; nothing secret, since the texts are exported.
            namespace: where the pods that mount it run.
            context: of the environment, with the versions deployed before.
            keep_previous: false for texts that list tenants: no object names one that is gone. The earlier object then
                goes when a deployment has succeeded; a failed one leaves it, so its pods and `up` with the settings
                from before still find it.
            parent: the component whose pods mount it.
        """
        self.key = config_history.key(namespace, name)
        self.config_map = f"{name}-{content_hash(data)}"
        declared = versions(data, context.config_history.get(self.key, []) if keep_previous else [])
        self.history = declared if keep_previous else []
        self.objects = []
        for version in declared:
            hashed = f"{name}-{content_hash(version)}"
            config_map = ConfigMap(
                f"{namespace}-{hashed}",
                metadata=context.owner.metadata(hashed, namespace, app=name),
                data=version,
                immutable=True,
                opts=pulumi.ResourceOptions(parent=parent),
            )
            self.objects.append(config_map)
