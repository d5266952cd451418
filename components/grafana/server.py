"""One Grafana: a pod without a volume or a right, its configuration, its credentials and a Service."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import names, objects
from components.cluster.placement import for_pods
from components.context import Context
from components.grafana import config
from components.layer import credentials
from components.layer.rollout import POD_SECONDS, within
from components.layer.secrets import declare_secret
from components.layer.versioned_config import VersionedConfig

GRAFANA_UID = 472
# On the pod: Grafana reads its environment at its start, so a changed credential rolls it. Keyed, so it tells nothing.
DIGEST_ANNOTATION = f"{names.PREFIX}/credentials"
START_SECONDS = 300  # its database is made anew at each start: some hundred steps on a small share of a CPU


@dataclass(frozen=True)
class Instance:
    """What tells one Grafana from another.

    Attributes:
        app: name of its objects, and the label of its pod.
        namespace: where it runs.
        runs_on: node groups.
        texts: its configuration by file name (`config.files`).
        variables: secret environment variables.
        lists_tenants: the texts name tenants, so the earlier version of them is not kept.
    """

    app: str
    namespace: str
    runs_on: tuple[str, ...]
    texts: Mapping[str, str]
    variables: Mapping[str, str] = field(repr=False)
    lists_tenants: bool = False


class Grafana(pulumi.ComponentResource):
    """The Deployment with its account, configuration, Secret and Service."""

    config: VersionedConfig
    """Its configuration and dashboards."""

    service: core.Service
    """For an Ingress, or a port-forward."""

    def __init__(
        self, name: str, instance: Instance, *, context: Context, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Declares the server.

        Args:
            name: logical name, and prefix of those of its objects.
            instance: which one it is.
            context: of the environment.
            opts: options of this component.
        """
        super().__init__("shared-observability:grafana:Grafana", name, None, opts)
        self._name, self._instance, self._context = name, instance, context
        account = self._declare_account()
        secret = declare_secret(
            instance.app, instance.variables, namespace=instance.namespace, context=context, parent=self
        )
        self.config = self._declare_config()
        options = pulumi.ResourceOptions(
            parent=self,
            depends_on=[account, secret, *self.config.objects],
            custom_timeouts=within(POD_SECONDS),
        )
        self._declare_deployment(options)
        self.service = objects.service(
            instance.app,
            config.PORT,
            namespace=instance.namespace,
            owner=context.owner,
            logical=name,
            opts=options,
        )
        self.register_outputs({})

    def _declare_account(self) -> core.ServiceAccount:
        """Its own, without a right: to `default` a team may bind a role, or an identity of the cloud."""
        return core.ServiceAccount(
            self._name,
            metadata=self._context.owner.metadata(self._instance.app, self._instance.namespace),
            automount_service_account_token=False,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _declare_config(self) -> VersionedConfig:
        namespace, app = self._instance.namespace, self._instance.app
        return VersionedConfig(
            app,
            self._instance.texts,
            namespace=namespace,
            context=self._context,
            keep_previous=not self._instance.lists_tenants,
            parent=self,
        )

    def _declare_deployment(self, options: pulumi.ResourceOptions) -> None:
        app = self._instance.app
        apps.Deployment(
            self._name,
            metadata=self._context.owner.metadata(app, self._instance.namespace, app=app),
            spec=apps.DeploymentSpecArgs(
                replicas=1,
                selector=objects.label_selector(app),
                # Sessions and all else that it keeps are in the pod; and a tenant's quota counts one.
                strategy=objects.recreate(),
                template=core.PodTemplateSpecArgs(metadata=self._pod_metadata(), spec=self._pod()),
            ),
            opts=options,
        )

    def _pod_metadata(self) -> ObjectMetaArgs:
        key = self._context.settings.gateway_key.get_secret_value()
        values = "\n".join(f"{name}={value}" for name, value in sorted(self._instance.variables.items()))
        return ObjectMetaArgs(
            labels=self._context.owner.labels(self._instance.app),
            annotations={DIGEST_ANNOTATION: credentials.keyed_digest(key, values)},
        )

    def _pod(self) -> core.PodSpecArgs:
        placement = for_pods(self._context.settings.cluster, self._instance.runs_on)
        paths = {file: config.mounted_at(file) for file in self._instance.texts}
        return core.PodSpecArgs(
            service_account_name=self._instance.app,
            automount_service_account_token=False,
            # Of the Services of a team's namespace it needs none, and their names could be those of its settings.
            enable_service_links=False,
            node_selector=dict(placement.node_selector),
            affinity=objects.affinity(placement),
            tolerations=objects.tolerations(placement),
            security_context=objects.pod_security(GRAFANA_UID),
            containers=[self._container()],
            volumes=[
                objects.config_map_volume("config", self.config.config_map, paths),
                objects.empty_dir("data", "512Mi"),
                objects.empty_dir("tmp", "64Mi"),
            ],
        )

    def _container(self) -> core.ContainerArgs:
        period = 10
        return core.ContainerArgs(
            name="grafana",
            image=self._context.image("grafana"),
            env=[
                *(core.EnvVarArgs(name=name, value=value) for name, value in config.ENVIRONMENT.items()),
                core.EnvVarArgs(name="GOMEMLIMIT", value="460MiB"),  # 90 % of the limit
            ],
            env_from=[core.EnvFromSourceArgs(secret_ref=core.SecretEnvSourceArgs(name=self._instance.app))],
            ports=[core.ContainerPortArgs(name="http", container_port=config.PORT)],
            startup_probe=objects.http_probe(
                config.HEALTH_PATH, config.PORT, period=period, failures=START_SECONDS // period
            ),
            liveness_probe=objects.http_probe(config.HEALTH_PATH, config.PORT, period=30),
            readiness_probe=objects.http_probe(config.HEALTH_PATH, config.PORT, period=period),
            resources=objects.resources("50m", "160Mi", "512Mi"),
            security_context=objects.container_security(uid=GRAFANA_UID),
            volume_mounts=[
                objects.mount("config", config.FOLDER),
                objects.mount("data", config.DATA_FOLDER, read_only=False),
                objects.mount("tmp", objects.TMP, read_only=False),
            ],
        )
