"""A tenant's own collector, for `logs: api`: one small Alloy in its namespace, with rights there and nowhere else."""

import pulumi
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import objects
from components.cluster.placement import for_pods
from components.context import Context
from components.layer import credentials
from components.layer.config import alloy
from components.layer.rollout import POD_SECONDS, within
from components.layer.secrets import declare_secret
from components.layer.versioned_config import VersionedConfig
from components.names import ALLOY_PORT, COLLECTOR
from components.settings.tenant import Tenant
from components.tenant import collector_config as text
from components.tenant.access import CollectorAccess

ALLOY_UID = 473


class Collector(pulumi.ComponentResource):
    """The collector of one namespace. Its pod is restricted, and counts in the tenant's own quota."""

    config: VersionedConfig
    """Its configuration."""

    def __init__(
        self,
        name: str,
        tenant: Tenant,
        *,
        tenant_name: str,
        context: Context,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares the collector.

        Args:
            name: the namespace.
            tenant: whose pods it may run beside.
            tenant_name: name of the tenant, for its token.
            context: of the environment.
            opts: options of this component.
        """
        super().__init__("shared-observability:tenant:Collector", name, None, opts)
        self._namespace, self._tenant, self._context = name, tenant, context
        access = CollectorAccess(name, context=context, opts=pulumi.ResourceOptions(parent=self))
        token = self._token(tenant_name)
        self.config = self._config(tenant_name)
        apps.Deployment(
            f"{name}-collector",
            metadata=context.owner.metadata(COLLECTOR, name, app=COLLECTOR),
            spec=apps.DeploymentSpecArgs(
                replicas=1,
                selector=objects.label_selector(COLLECTOR),
                # Two at once would send every line twice; and the quota counts one.
                strategy=objects.recreate(),
                template=core.PodTemplateSpecArgs(
                    metadata=ObjectMetaArgs(labels=context.owner.labels(COLLECTOR)), spec=self._pod()
                ),
            ),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[access, token, *self.config.objects],
                custom_timeouts=within(POD_SECONDS),
            ),
        )
        self.register_outputs({})

    def _token(self, tenant_name: str) -> pulumi.Resource:
        """The tenant's write token: Alloy rereads the file, so a new one rolls nothing."""
        key = self._context.settings.gateway_key.get_secret_value()
        token = credentials.token(key, tenant_name, "write", self._tenant.token_generation)
        return declare_secret(
            COLLECTOR,
            {text.CREDENTIAL_FILE: token},
            namespace=self._namespace,
            context=self._context,
            parent=self,
        )

    def _config(self, tenant_name: str) -> VersionedConfig:
        return VersionedConfig(
            COLLECTOR,
            {text.CONFIG_FILE: text.collector_config(self._context.settings.cluster.name, tenant_name)},
            namespace=self._namespace,
            context=self._context,
            parent=self,
        )

    def _pod(self) -> core.PodSpecArgs:
        placement = for_pods(self._context.settings.cluster, self._tenant.runs_on)
        return core.PodSpecArgs(
            service_account_name=COLLECTOR,
            automount_service_account_token=True,
            node_selector=dict(placement.node_selector),
            affinity=objects.affinity(placement),
            tolerations=objects.tolerations(placement),
            security_context=objects.pod_security(ALLOY_UID),
            containers=[self._container()],
            volumes=[
                objects.config_map_volume("config", self.config.config_map),
                objects.secret_volume("credential", COLLECTOR),
                objects.empty_dir("storage", "256Mi"),
                objects.empty_dir("tmp", "64Mi"),
            ],
        )

    def _container(self) -> core.ContainerArgs:
        return core.ContainerArgs(
            name="alloy",
            image=self._context.image("alloy"),
            args=list(text.ARGUMENTS),
            env=[core.EnvVarArgs(name="GOMEMLIMIT", value="230MiB")],  # 90 % of the limit
            ports=[core.ContainerPortArgs(name="http", container_port=ALLOY_PORT)],
            readiness_probe=objects.http_probe(alloy.READY_PATH, ALLOY_PORT),
            # One namespace's lines through one process; Alloy estimates 120 MiB per MiB/s of logs.
            resources=objects.resources("25m", "96Mi", "256Mi"),
            security_context=objects.container_security(uid=ALLOY_UID),
            volume_mounts=[
                objects.mount("config", text.CONFIG_FOLDER),
                objects.mount("credential", text.CREDENTIAL_FOLDER),
                objects.mount("storage", text.STORAGE_FOLDER, read_only=False),
                objects.mount("tmp", objects.TMP, read_only=False),
            ],
        )
