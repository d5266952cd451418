"""The gateway: the only way for a tenant to read. nginx knows who calls, prom-label-proxy keeps to its namespaces."""

import pulumi
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs
from pulumi_kubernetes.policy import v1 as policy

from components import names, objects
from components.cluster.placement import for_pods
from components.context import Context
from components.layer import credentials
from components.layer.config import gateway, gateway_tenants, gateway_text, gateway_tokens
from components.layer.rbac import declare_account
from components.layer.rollout import POD_SECONDS, within
from components.layer.secrets import declare_secret
from components.layer.versioned_config import VersionedConfig

APP = names.GATEWAY
NGINX_UID = 101
NOBODY = 65534
# On the pod, for renders, where Secrets keep their names: a changed token rolls it there too. Keyed: it tells nothing.
DIGEST_ANNOTATION = f"{names.PREFIX}/tokens"


class Gateway(pulumi.ComponentResource):
    """The gateway's Deployment with its configuration, tokens and Service: all of the layer that a new tenant rolls."""

    config: VersionedConfig
    """Its nginx.conf, which names no tenant."""

    deployment: apps.Deployment
    """For what waits until every pod knows the tokens. Its name stays, unlike those of what it mounts: the state of
    whatever depends on it stays as it is when a tenant comes or goes."""

    tenants: VersionedConfig
    """Which tenant reads which namespaces: only the live ones."""

    def __init__(
        self,
        name: str,
        context: Context,
        *,
        stores: list[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares the gateway.

        Args:
            name: logical name.
            context: of the environment.
            stores: what it proxies to; a new credential is known there before it is used here.
            opts: options of this component.
        """
        super().__init__("shared-observability:layer:Gateway", name, None, opts)
        self._context = context
        self._secrets = self._named_secrets()
        account = declare_account(APP, namespace=names.LAYER_NAMESPACE, context=context, parent=self)
        declared = [
            declare_secret(own, files, namespace=names.LAYER_NAMESPACE, context=context, parent=self)
            for own, files in self._secrets.items()
        ]
        self.config, self.tenants = self._config(), self._tenants()
        options = pulumi.ResourceOptions(
            parent=self,
            depends_on=[account, *self.config.objects, *self.tenants.objects, *declared, *stores],
            custom_timeouts=within(POD_SECONDS + gateway.TERMINATION_GRACE_SECONDS),
        )
        self.deployment = apps.Deployment(
            APP,
            metadata=context.owner.metadata(APP, names.LAYER_NAMESPACE, app=APP),
            spec=apps.DeploymentSpecArgs(
                replicas=context.settings.layer.gateway.replicas,
                selector=objects.label_selector(APP),
                strategy=apps.DeploymentStrategyArgs(
                    type="RollingUpdate",
                    rolling_update=apps.RollingUpdateDeploymentArgs(
                        max_surge=gateway.MAX_SURGE, max_unavailable=gateway.MAX_UNAVAILABLE
                    ),
                ),
                template=core.PodTemplateSpecArgs(metadata=self._pod_metadata(), spec=self._pod()),
            ),
            opts=options,
        )
        objects.service(APP, gateway.PORT, namespace=names.LAYER_NAMESPACE, owner=context.owner, opts=options)
        self._keep_one_available()
        self.register_outputs({})

    def _named_secrets(self) -> dict[str, dict[str, str]]:
        """Files by name of the Secret: after its content, or, where somebody else puts it in, by number."""
        secrets = gateway_tokens.secrets(self._context.settings)
        if self._context.renders:
            return {f"{APP}-tokens-{number}": files for number, files in enumerate(secrets, start=1)}
        key = self._context.settings.gateway_key.get_secret_value()
        return {gateway_tokens.secret_name(key, files): files for files in secrets}

    def _config(self) -> VersionedConfig:
        return VersionedConfig(
            APP,
            {gateway.CONFIG_FILE: gateway_text.gateway_config(self._context.settings)},
            namespace=names.LAYER_NAMESPACE,
            context=self._context,
            parent=self,
        )

    def _tenants(self) -> VersionedConfig:
        return VersionedConfig(
            f"{APP}-tenants",
            gateway_tenants.files(self._context.settings),
            namespace=names.LAYER_NAMESPACE,
            context=self._context,
            keep_previous=False,
            parent=self,
        )

    def _keep_one_available(self) -> None:
        """A drain of nodes takes one pod at a time; with a single pod there is nothing to promise."""
        if self._context.settings.layer.gateway.replicas < 2:
            return
        policy.PodDisruptionBudget(
            APP,
            metadata=self._context.owner.metadata(APP, names.LAYER_NAMESPACE, app=APP),
            spec=policy.PodDisruptionBudgetSpecArgs(max_unavailable=1, selector=objects.label_selector(APP)),
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _pod_metadata(self) -> ObjectMetaArgs:
        key = self._context.settings.gateway_key.get_secret_value()
        texts = "\n".join(text for files in self._secrets.values() for _, text in sorted(files.items()))
        digest = credentials.keyed_digest(key, texts)
        return ObjectMetaArgs(labels=self._context.owner.labels(APP), annotations={DIGEST_ANNOTATION: digest})

    def _pod(self) -> core.PodSpecArgs:
        placement = for_pods(self._context.settings.cluster, self._context.settings.layer.runs_on)
        return core.PodSpecArgs(
            service_account_name=APP,
            automount_service_account_token=False,
            node_selector=dict(placement.node_selector),
            affinity=objects.affinity(placement),
            tolerations=objects.tolerations(placement),
            topology_spread_constraints=[
                core.TopologySpreadConstraintArgs(
                    max_skew=1,
                    topology_key="kubernetes.io/hostname",
                    when_unsatisfiable="ScheduleAnyway",
                    label_selector=objects.label_selector(APP),
                )
            ],
            termination_grace_period_seconds=gateway.TERMINATION_GRACE_SECONDS,
            security_context=objects.pod_security(NGINX_UID),
            init_containers=self._label_proxy() if self._has_metrics else None,
            containers=[self._nginx()],
            volumes=[
                objects.config_map_volume("config", self.config.config_map),
                objects.config_map_volume("tenants", self.tenants.config_map),
                objects.secrets_volume("secret", list(self._secrets)),
                objects.empty_dir("run", "256Mi"),
            ],
        )

    @property
    def _has_metrics(self) -> bool:
        return self._context.settings.layer.metrics != "off"

    def _label_proxy(self) -> list[core.ContainerArgs]:
        """A sidecar that ends last: nginx still sends it requests while it finishes what it has."""
        proxy = core.ContainerArgs(
            name="prom-label-proxy",
            image=self._context.image("prom-label-proxy"),
            restart_policy="Always",
            args=list(gateway.LABEL_PROXY_ARGUMENTS),
            # It listens on the loopback address, where the kubelet cannot probe: nginx' readiness asks for it.
            # Measured: 17 MiB idle, 171 MiB with 10 of the costliest queries that the gateway lets through.
            env=[core.EnvVarArgs(name="GOMEMLIMIT", value="230MiB")],  # 90 % of the limit
            resources=objects.resources("50m", "32Mi", "256Mi"),
            security_context=objects.container_security(uid=NOBODY),
        )
        return [proxy]

    def _nginx(self) -> core.ContainerArgs:
        return core.ContainerArgs(
            name="nginx",
            image=self._context.image("nginx"),
            command=list(gateway.COMMAND),
            ports=[
                core.ContainerPortArgs(name="http", container_port=gateway.PORT),
                core.ContainerPortArgs(name="health", container_port=gateway.HEALTH_PORT),
            ],
            lifecycle=core.LifecycleArgs(
                pre_stop=core.LifecycleHandlerArgs(
                    sleep=core.SleepActionArgs(seconds=gateway.PRE_STOP_SECONDS)
                )
            ),
            liveness_probe=objects.http_probe(gateway.ALIVE_PATH, gateway.HEALTH_PORT, period=30),
            readiness_probe=objects.http_probe(gateway.READY_PATH, gateway.HEALTH_PORT),
            # Measured: 5 MiB with one tenant, 8 MiB with 5,000; bodies beyond 256 KiB go to the run folder.
            resources=objects.resources("50m", "32Mi", "256Mi"),
            security_context=objects.container_security(uid=NGINX_UID),
            volume_mounts=[
                objects.mount("config", gateway.CONFIG_FOLDER),
                objects.mount("tenants", gateway.TENANTS_FOLDER),
                objects.mount("secret", gateway.SECRET_FOLDER),
                objects.mount("run", gateway.RUN_FOLDER, read_only=False),
            ],
        )
