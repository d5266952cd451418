"""Secrets as what they are on a cluster, and as what may stand in a file: a placeholder, or a reference."""

from collections.abc import Mapping, Sequence

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import Secret

from components.context import Context
from components.settings.model import ExternalSecrets


def placeholder(namespace: str, name: str, key: str) -> str:
    """What stands for a value in a rendered file."""
    return f"placeholder: {namespace}/{name}/{key}"


def declare_secret(
    name: str,
    values: Mapping[str, str],
    *,
    namespace: str,
    context: Context,
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource] = (),
) -> pulumi.Resource:
    """A Secret of the layer; when objects are rendered, no value is written, and a warning names it.

    Args:
        name: of the Secret; it stays the same when a value changes.
        values: text by key.
        namespace: where it is read.
        context: of the environment.
        parent: the component that it belongs to.
        depends_on: what has to be there before the values change.
    """
    options = pulumi.ResourceOptions(parent=parent, depends_on=list(depends_on))
    logical = f"{namespace}-{name}"
    metadata = context.owner.metadata(name, namespace)
    if not context.renders:
        secret = {key: pulumi.Output.secret(value) for key, value in values.items()}
        return Secret(logical, metadata=metadata, type="Opaque", string_data=secret, opts=options)
    external = context.settings.layer.rendered_secrets
    if isinstance(external, ExternalSecrets):
        pulumi.log.warn(
            f"Secret {namespace}/{name} is rendered as a reference: the store '{external.store}' must hold "
            f"'{namespace}/{name}' with the keys {', '.join(sorted(values))}",
            parent,
        )
        return CustomResource(
            logical,
            api_version="external-secrets.io/v1",
            kind="ExternalSecret",
            metadata=metadata,
            spec={
                "refreshInterval": "1h",
                "secretStoreRef": {"kind": "ClusterSecretStore", "name": external.store},
                "target": {"name": name, "creationPolicy": "Owner"},
                "dataFrom": [{"extract": {"key": f"{namespace}/{name}"}}],
            },
            opts=options,
        )
    pulumi.log.warn(
        f"Secret {namespace}/{name} is rendered with placeholders: put its values there by other means before "
        f"the files are applied (keys: {', '.join(sorted(values))})",
        parent,
    )
    return Secret(
        logical,
        metadata=metadata,
        type="Opaque",
        string_data={key: placeholder(namespace, name, key) for key in values},
        opts=options,
    )
