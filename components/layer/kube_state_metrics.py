"""kube-state-metrics, once: the state of Kubernetes objects as metrics, without a right to read a secret."""

import pulumi
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs
from pulumi_kubernetes.rbac.v1 import PolicyRuleArgs

from components import names, objects
from components.cluster.placement import for_pods
from components.context import Context
from components.layer.rbac import declare_account, declare_cluster_role, read_rule
from components.layer.rollout import POD_SECONDS, within

APP = names.KUBE_STATE_METRICS
NOBODY = 65534
LIST = ("list", "watch")

# Kinds by API group. No `secrets` and no `configmaps`: their metrics are names only, and the right to list them is not.
RESOURCES = {
    "": (
        "limitranges",
        "namespaces",
        "nodes",
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "replicationcontrollers",
        "resourcequotas",
        "services",
    ),
    "apps": ("daemonsets", "deployments", "replicasets", "statefulsets"),
    "autoscaling": ("horizontalpodautoscalers",),
    "batch": ("cronjobs", "jobs"),
    "policy": ("poddisruptionbudgets",),
    "storage.k8s.io": ("storageclasses", "volumeattachments"),
}


NODE_LABELS = ("eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool", "node.kubernetes.io/instance-type")


def rules() -> list[PolicyRuleArgs]:
    """Listing and watching exactly the kinds that are collected."""
    return [read_rule(group, *kinds, verbs=LIST) for group, kinds in RESOURCES.items()]


class KubeStateMetrics(pulumi.ComponentResource):
    """One pod, its account, and a Service that Prometheus scrapes once."""

    def __init__(self, name: str, context: Context, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("shared-observability:layer:KubeStateMetrics", name, None, opts)
        self._context = context
        account = declare_account(APP, namespace=names.LAYER_NAMESPACE, context=context, parent=self)
        declare_cluster_role(
            names.KUBE_STATE_METRICS_ROLE,
            rules(),
            account=APP,
            namespace=names.LAYER_NAMESPACE,
            context=context,
            parent=self,
        )
        options = pulumi.ResourceOptions(
            parent=self, depends_on=[account], custom_timeouts=within(POD_SECONDS)
        )
        apps.Deployment(
            APP,
            metadata=context.owner.metadata(APP, names.LAYER_NAMESPACE, app=APP),
            spec=apps.DeploymentSpecArgs(
                replicas=1,
                selector=objects.label_selector(APP),
                # Two at once would show every object twice.
                strategy=objects.recreate(),
                template=core.PodTemplateSpecArgs(
                    metadata=ObjectMetaArgs(labels=context.owner.labels(APP)), spec=self._pod()
                ),
            ),
            opts=options,
        )
        objects.service(
            APP,
            names.KUBE_STATE_METRICS_PORT,
            namespace=names.LAYER_NAMESPACE,
            owner=context.owner,
            opts=options,
        )
        self.register_outputs({})

    def _pod(self) -> core.PodSpecArgs:
        placement = for_pods(self._context.settings.cluster, self._context.settings.layer.runs_on)
        return core.PodSpecArgs(
            service_account_name=APP,
            automount_service_account_token=True,
            node_selector=dict(placement.node_selector),
            affinity=objects.affinity(placement),
            tolerations=objects.tolerations(placement),
            security_context=objects.pod_security(NOBODY),
            containers=[self._container()],
        )

    def _container(self) -> core.ContainerArgs:
        kinds = ",".join(sorted(kind for group in RESOURCES.values() for kind in group))
        return core.ContainerArgs(
            name=APP,
            image=self._context.image("kube-state-metrics"),
            args=[
                f"--port={names.KUBE_STATE_METRICS_PORT}",
                f"--telemetry-port={names.KUBE_STATE_METRICS_TELEMETRY_PORT}",
                f"--resources={kinds}",
                # Named labels only: all labels of all objects were 7 million series in one scrape (#1475).
                f"--metric-labels-allowlist=namespaces=[{names.TENANT_LABEL}],nodes=[{','.join(NODE_LABELS)}]",
            ],
            ports=[
                core.ContainerPortArgs(name="http", container_port=names.KUBE_STATE_METRICS_PORT),
                core.ContainerPortArgs(
                    name="telemetry", container_port=names.KUBE_STATE_METRICS_TELEMETRY_PORT
                ),
            ],
            liveness_probe=objects.http_probe("/livez", names.KUBE_STATE_METRICS_PORT, period=30),
            readiness_probe=objects.http_probe("/readyz", names.KUBE_STATE_METRICS_TELEMETRY_PORT),
            # The project's own rule is 0.1 core and 250 MiB for 100 nodes; kube-prometheus asks 10m/190Mi.
            resources=objects.resources("50m", "190Mi", "400Mi"),
            security_context=objects.container_security(uid=NOBODY),
        )
