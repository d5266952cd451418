"""Who may connect to the layer's pods: nobody, but for the few openings below. The second line after credentials.

Ingress only, and only in the layer's own namespaces: a policy in a tenant's namespace would decide over the team's
own traffic. hostNetwork pods (node-exporter) are not covered by any policy; kubelet probes come from the node and
always pass. The VPC CNI enforces policies only with `enableNetworkPolicy`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, LabelSelectorRequirementArgs
from pulumi_kubernetes.networking import v1 as networking

from components import names, objects
from components.context import Context
from components.layer import parts


@dataclass(frozen=True)
class Peer:
    """Pods that may connect: those of one app in one of our namespaces, or all of a namespace, or all of tenants.

    Not only a tenant's Grafana and collector: a pod's labels are the team's to choose, so they would be no line.
    """

    app: str = ""
    namespace: str = ""


TENANTS = Peer()


@dataclass(frozen=True)
class Opening:
    """One port of one app, and who may reach it."""

    namespace: str
    app: str
    port: int
    peers: tuple[Peer, ...]


def openings(apps: Sequence[str], open_to: Sequence[str] = ()) -> list[Opening]:
    """Every opening between the apps that are there.

    Args:
        apps: names of the layer's workloads (`parts`).
        open_to: further namespaces whose pods may reach the gateway.
    """
    layer, nodes = names.LAYER_NAMESPACE, names.NODES_NAMESPACE
    prometheus, gateway = Peer(names.PROMETHEUS, layer), Peer(names.GATEWAY, layer)
    others = tuple(Peer(namespace=namespace) for namespace in open_to)
    wanted = [
        Opening(layer, names.PROMETHEUS, names.PROMETHEUS_PORT, (gateway,)),
        Opening(layer, names.LOKI, names.LOKI_PORT, (Peer(names.ALLOY, nodes), gateway, prometheus)),
        Opening(layer, names.KUBE_STATE_METRICS, names.KUBE_STATE_METRICS_PORT, (prometheus,)),
        Opening(layer, names.GATEWAY, names.GATEWAY_PORT, (TENANTS, Peer(names.GRAFANA, layer), *others)),
        Opening(nodes, names.ALLOY, names.ALLOY_PORT, (prometheus,)),
    ]
    here = [
        Opening(o.namespace, o.app, o.port, tuple(p for p in o.peers if not p.app or p.app in apps))
        for o in wanted
    ]
    return [opening for opening in here if opening.app in apps and opening.peers]


class NetworkPolicies(pulumi.ComponentResource):
    """Default deny for ingress in both of the layer's namespaces, and the openings."""

    def __init__(self, name: str, context: Context, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("shared-observability:layer:NetworkPolicies", name, None, opts)
        self._context = context
        for namespace in (names.LAYER_NAMESPACE, names.NODES_NAMESPACE):
            self._declare(namespace, "default-deny-ingress", networking.NetworkPolicySpecArgs(
                pod_selector=LabelSelectorArgs(), policy_types=["Ingress"]
            ))  # fmt: skip
        open_to = context.settings.layer.gateway.open_to
        for opening in openings(parts.all_apps(context.settings), open_to):
            self._declare(opening.namespace, f"allow-{opening.app}", _spec(opening))
        self.register_outputs({})

    def _declare(self, namespace: str, name: str, spec: networking.NetworkPolicySpecArgs) -> None:
        networking.NetworkPolicy(
            f"{namespace}-{name}",
            metadata=self._context.owner.metadata(name, namespace),
            spec=spec,
            opts=pulumi.ResourceOptions(parent=self),
        )


def _spec(opening: Opening) -> networking.NetworkPolicySpecArgs:
    return networking.NetworkPolicySpecArgs(
        pod_selector=objects.label_selector(opening.app),
        policy_types=["Ingress"],
        ingress=[
            networking.NetworkPolicyIngressRuleArgs(
                from_=[_peer(peer) for peer in opening.peers],
                ports=[networking.NetworkPolicyPortArgs(port=opening.port, protocol="TCP")],
            )
        ],
    )


def _peer(peer: Peer) -> networking.NetworkPolicyPeerArgs:
    if peer == TENANTS:
        labelled = LabelSelectorRequirementArgs(key=names.TENANT_LABEL, operator="Exists")
        return networking.NetworkPolicyPeerArgs(
            namespace_selector=LabelSelectorArgs(match_expressions=[labelled])
        )
    return networking.NetworkPolicyPeerArgs(
        namespace_selector=LabelSelectorArgs(match_labels={"kubernetes.io/metadata.name": peer.namespace}),
        pod_selector=objects.label_selector(peer.app) if peer.app else None,
    )
