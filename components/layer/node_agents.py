"""Alloy, once per node: reads every container's log from the node's disk and pushes it under its namespace's tenant.

With `layer.hostMetrics: alloy` it also measures the node, so that one agent on each node is enough.
"""

import pulumi
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import names, objects
from components.cluster.placement import for_node_agents
from components.context import Context
from components.layer import credentials, parts
from components.layer.config import alloy, alloy_host
from components.layer.namespaces import priority_class_name
from components.layer.rbac import declare_account, declare_cluster_role, read_rule
from components.layer.rollout import agents_seconds, within
from components.layer.secrets import declare_secret
from components.layer.versioned_config import VersionedConfig

APP = names.ALLOY
PUSH_SECRET = "loki-push"  # noqa: S105 - an object's name
# Of the node: positions in files outlive the pod, so that a rollout reads no line twice.
NODE_STORAGE = "/var/lib/shared-observability/alloy"
NOBODY = 65534


class NodeAgents(pulumi.ComponentResource):
    """The Alloy DaemonSet with its account, configuration and push credential."""

    config: VersionedConfig
    """Its configuration; it lists no tenant, so adding one rolls no agent."""

    def __init__(
        self,
        name: str,
        context: Context,
        *,
        stores: list[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares the agents.

        Args:
            name: logical name.
            context: of the environment.
            stores: what they push to; a new credential is known there before the agents have it.
            opts: options of this component.
        """
        super().__init__("shared-observability:layer:NodeAgents", name, None, opts)
        self._context, self._stores = context, stores
        self._logs = context.settings.layer.logs != "off"
        self._measures = parts.alloy_measures_nodes(context.settings)
        account = self._account()
        credential = self._credential()
        self.config = self._config()
        apps.DaemonSet(
            APP,
            metadata=context.owner.metadata(APP, names.NODES_NAMESPACE, app=APP),
            spec=apps.DaemonSetSpecArgs(
                selector=objects.label_selector(APP),
                update_strategy=objects.rolling_daemon_set(context.settings.layer.agents.max_unavailable),
                template=core.PodTemplateSpecArgs(
                    metadata=ObjectMetaArgs(labels=context.owner.labels(APP)), spec=self._pod()
                ),
            ),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[account, *credential, *self.config.objects],
                custom_timeouts=within(agents_seconds(context.settings)),
            ),
        )
        self.register_outputs({})

    def _account(self) -> core.ServiceAccount:
        account = declare_account(APP, namespace=names.NODES_NAMESPACE, context=self._context, parent=self)
        if not self._logs:
            return account
        declare_cluster_role(
            names.ALLOY_ROLE,
            # Pods of its node (the field selector is no boundary: the right is to list all) and namespaces' labels.
            [read_rule("", "pods", "namespaces")],
            account=APP,
            namespace=names.NODES_NAMESPACE,
            context=self._context,
            parent=self,
        )
        return account

    def _credential(self) -> list[pulumi.Resource]:
        if not self._logs:
            return []
        key = self._context.settings.gateway_key.get_secret_value()
        secret = declare_secret(
            PUSH_SECRET,
            {alloy.CREDENTIAL_FILE: credentials.layer_token(key, "push")},
            namespace=names.NODES_NAMESPACE,
            context=self._context,
            parent=self,
            depends_on=self._stores if self._context.settings.gateway_key_previous else [],
        )
        return [secret]

    def _config(self) -> VersionedConfig:
        text = alloy.agent_config(
            self._context.settings.cluster.name, logs=self._logs, host_metrics=self._measures
        )
        return VersionedConfig(
            APP,
            {alloy.CONFIG_FILE: text},
            namespace=names.NODES_NAMESPACE,
            context=self._context,
            parent=self,
        )

    def _pod(self) -> core.PodSpecArgs:
        placement = for_node_agents(self._context.settings.cluster)
        return core.PodSpecArgs(
            service_account_name=APP,
            automount_service_account_token=self._logs,
            priority_class_name=priority_class_name(self._context),
            node_selector=dict(placement.node_selector),
            affinity=objects.affinity(placement),
            tolerations=objects.tolerations(placement),
            # Time to push what was read. Alloy gives up after 15 s (queue_config.drain_timeout, which is experimental),
            # and what it had not sent by then, up to 10 MiB, is lost.
            termination_grace_period_seconds=30,
            security_context=_security(self._logs),
            containers=[self._container()],
            volumes=[volume for volume, _ in self._volumes()],
        )

    def _volumes(self) -> list[tuple[core.VolumeArgs, core.VolumeMountArgs]]:
        """Each volume with its mount. Of the node: what is read for the signals that are on, and nothing else."""
        config = objects.config_map_volume("config", self.config.config_map)
        tmp = objects.empty_dir("tmp", "64Mi")
        found = [
            (config, objects.mount("config", alloy.CONFIG_FOLDER)),
            (tmp, objects.mount("tmp", objects.TMP, read_only=False)),
        ]
        if self._logs:
            storage = objects.host_path("storage", NODE_STORAGE, "DirectoryOrCreate")
            found += [
                (
                    objects.secret_volume("credential", PUSH_SECRET),
                    objects.mount("credential", alloy.CREDENTIAL_FOLDER),
                ),
                (
                    objects.host_path("logs", alloy.LOG_FOLDER, "Directory"),
                    objects.mount("logs", alloy.LOG_FOLDER),
                ),
            ]
        else:
            storage = objects.empty_dir("storage", "64Mi")
        found.append((storage, objects.mount("storage", alloy.STORAGE_FOLDER, read_only=False)))
        return found + [
            (objects.host_path(p.name, p.path, p.kind), objects.mount(p.name, p.mounted))
            for p in (alloy_host.HOST_PATHS if self._measures else ())
        ]

    def _container(self) -> core.ContainerArgs:
        return core.ContainerArgs(
            name=APP,
            image=self._context.image("alloy"),
            args=list(alloy.ARGUMENTS),
            env=[
                objects.field_env(alloy.NODE_NAME_VARIABLE, "spec.nodeName"),
                core.EnvVarArgs(name="GOMEMLIMIT", value="460MiB"),  # 90 % of the limit without measuring
            ],
            ports=[core.ContainerPortArgs(name="http", container_port=names.ALLOY_PORT)],
            # Not /-/healthy for liveness: one unhealthy component would restart the agent, which mends nothing.
            readiness_probe=objects.http_probe(alloy.READY_PATH, names.ALLOY_PORT),
            # Alloy's own estimate is 1 core and 120 MiB per MiB/s of logs; 100Mi crashed at 100 pods (alloy#1185).
            # Measuring costs what node-exporter asks for, but for a process of its own.
            resources=objects.resources("120m", "224Mi", "544Mi")
            if self._measures
            else objects.resources("100m", "192Mi", "512Mi"),
            security_context=_container_security(self._logs),
            volume_mounts=[mount for _, mount in self._volumes()],
        )


def _security(logs: bool) -> core.PodSecurityContextArgs:
    if not logs:
        return objects.pod_security(NOBODY)
    return core.PodSecurityContextArgs(seccomp_profile=core.SeccompProfileArgs(type="RuntimeDefault"))


def _container_security(logs: bool) -> core.SecurityContextArgs:
    """The kubelet writes log files 0640 for root: uid 0 reads them as their owner, without any capability. What is
    measured is readable for everybody."""
    return objects.container_security(root=True) if logs else objects.container_security(uid=NOBODY)
