"""node-exporter, once per node."""

import pulumi
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import objects
from components.cluster.placement import for_node_agents
from components.context import Context
from components.layer.config.alloy_host import POD_INTERFACES
from components.layer.namespaces import priority_class_name
from components.layer.rbac import declare_account
from components.layer.rollout import agents_seconds, within
from components.names import NODE_EXPORTER, NODE_EXPORTER_PORT, NODES_NAMESPACE

NOBODY = 65534


class NodeExporter(pulumi.ComponentResource):
    """The node-exporter DaemonSet: no token, no root, the node's file system read-only."""

    def __init__(self, name: str, context: Context, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("shared-observability:layer:NodeExporter", name, None, opts)
        self._context = context
        account = declare_account(NODE_EXPORTER, namespace=NODES_NAMESPACE, context=context, parent=self)
        apps.DaemonSet(
            NODE_EXPORTER,
            metadata=context.owner.metadata(NODE_EXPORTER, NODES_NAMESPACE, app=NODE_EXPORTER),
            spec=apps.DaemonSetSpecArgs(
                selector=objects.label_selector(NODE_EXPORTER),
                update_strategy=objects.rolling_daemon_set(context.settings.layer.agents.max_unavailable),
                template=core.PodTemplateSpecArgs(
                    metadata=ObjectMetaArgs(labels=context.owner.labels(NODE_EXPORTER)), spec=self._pod()
                ),
            ),
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[account], custom_timeouts=within(agents_seconds(context.settings))
            ),
        )
        self.register_outputs({})

    def _pod(self) -> core.PodSpecArgs:
        placement = for_node_agents(self._context.settings.cluster)
        return core.PodSpecArgs(
            service_account_name=NODE_EXPORTER,
            automount_service_account_token=False,
            # The node's interfaces and processes are what it measures; hostNetwork also saves an address per node.
            host_network=True,
            host_pid=True,
            priority_class_name=priority_class_name(self._context),
            node_selector=dict(placement.node_selector),
            affinity=objects.affinity(placement),
            tolerations=objects.tolerations(placement),
            security_context=objects.pod_security(NOBODY),
            containers=[self._container()],
            volumes=[objects.host_path("root", "/", "Directory")],
        )

    def _container(self) -> core.ContainerArgs:
        return core.ContainerArgs(
            name=NODE_EXPORTER,
            image=self._context.image("node-exporter"),
            args=[
                f"--web.listen-address=:{NODE_EXPORTER_PORT}",
                "--path.procfs=/host/root/proc",
                "--path.sysfs=/host/root/sys",
                "--path.rootfs=/host/root",
                "--collector.filesystem.mount-points-exclude=^/(dev|proc|run/containerd/.+|sys|var/lib/kubelet/.+)($|/)",
                f"--collector.netclass.ignored-devices={POD_INTERFACES}",
                f"--collector.netdev.device-exclude={POD_INTERFACES}",
            ],
            ports=[core.ContainerPortArgs(name="metrics", container_port=NODE_EXPORTER_PORT)],
            readiness_probe=objects.http_probe("/", NODE_EXPORTER_PORT),
            liveness_probe=objects.http_probe("/", NODE_EXPORTER_PORT, period=30),
            # CloudWatch's chart asks 50m/30Mi with a limit of 100Mi; 50Mi was killed on busy nodes (harvester#1531).
            resources=objects.resources("20m", "48Mi", "128Mi"),
            security_context=objects.container_security(uid=NOBODY),
            volume_mounts=[
                core.VolumeMountArgs(
                    name="root", mount_path="/host/root", read_only=True, mount_propagation="HostToContainer"
                )
            ],
        )
