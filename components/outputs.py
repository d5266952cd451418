"""What an environment exports: for people, for the next deployment, and for other stacks."""

from collections.abc import Mapping
from typing import Any

import pulumi

from components import config_history
from components.cluster.refusals.volumes import volumes
from components.names import LAYER_NAMESPACE, NODES_NAMESPACE
from components.settings.model import Settings
from components.settings.tenant import pods_by_namespace
from components.tenant import token_generations


def exports(
    settings: Settings,
    *,
    identity: pulumi.Input[str],
    history: Mapping[str, list[dict[str, str]]],
    generations: Mapping[str, int],
    pod_budget: Mapping[str, Any],
) -> dict[str, Any]:
    """The stack's outputs; nothing in them is secret.

    Args:
        settings: the environment.
        identity: of the cluster; the next deployment refuses another one.
        history: texts that the next deployment keeps declared, by configuration.
        generations: of the tokens of each tenant that there is or was; the next deployment lets none fall.
        pod_budget: as in docs/pod-budget.md.
    """
    return {
        "cluster": settings.cluster.name,
        "target": {"kind": settings.cluster.target.kind, "identity": identity},
        "namespaces": {"layer": LAYER_NAMESPACE, "nodeAgents": NODES_NAMESPACE},
        "tenants": {
            name: sorted(pods_by_namespace(name, tenant)) for name, tenant in settings.tenants.items()
        },
        token_generations.OUTPUT: dict(generations),
        "volumes": {claim: size for claim, (size, _) in volumes(settings).items()},
        "podBudget": dict(pod_budget),
        # Nothing in it is secret: `[secret]` keeps hundreds of lines of configuration out of every preview.
        "configHistory": pulumi.Output.secret(config_history.pack(history)),
    }
