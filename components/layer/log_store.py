"""Loki, once: keeps lines per tenant, behind an authenticating sidecar on the pod's only open port."""

import pulumi
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import names, objects
from components.cluster.placement import for_pods
from components.context import Context
from components.layer import credentials
from components.layer.config import loki, loki_sidecar
from components.layer.rbac import declare_account
from components.layer.rollout import STORE_SECONDS, within
from components.layer.secrets import declare_secret
from components.layer.versioned_config import VersionedConfig
from components.settings.model import LogStore

APP = names.LOKI
SIDECAR = f"{APP}-sidecar"
SECRET = f"{APP}-sidecar-credential"
OVERRIDES = f"{APP}-overrides"
LOKI_UID = 10001
NGINX_UID = 101
# On the pod: nginx reads its tokens at start only, so a changed one has to roll the pod. Keyed, so it tells nothing.
DIGEST_ANNOTATION = f"{names.PREFIX}/credential"


class LokiStore(pulumi.ComponentResource):
    """The Loki Deployment with its sidecar, configuration, overrides, credential, volume and Service."""

    configs: list[VersionedConfig]
    """Loki's and the sidecar's configuration. Tenants are in the overrides alone, which Loki rereads while it runs."""

    def __init__(
        self, name: str, context: Context, store: LogStore, *, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("shared-observability:layer:LokiStore", name, None, opts)
        self._context = context
        account = declare_account(
            APP,
            namespace=names.LAYER_NAMESPACE,
            context=context,
            parent=self,
            annotations=context.account_annotations,
        )
        self._tokens = self._token_map()
        credential = declare_secret(
            SECRET,
            {loki_sidecar.TOKEN_MAP_FILE: self._tokens},
            namespace=names.LAYER_NAMESPACE,
            context=context,
            parent=self,
        )
        self._config = self._versioned(APP, loki.CONFIG_FILE, loki.loki_config(context.settings))
        self._sidecar = self._versioned(SIDECAR, loki_sidecar.CONFIG_FILE, loki_sidecar.sidecar_config())
        self.configs = [self._config, self._sidecar]
        texts = [version for config in self.configs for version in config.objects]
        needs = [account, credential, *texts, self._overrides(), self._claim(store)]
        options = pulumi.ResourceOptions(parent=self, depends_on=needs, custom_timeouts=within(STORE_SECONDS))
        apps.Deployment(
            APP,
            metadata=context.owner.metadata(APP, names.LAYER_NAMESPACE, app=APP),
            spec=apps.DeploymentSpecArgs(
                replicas=1,
                selector=objects.label_selector(APP),
                strategy=objects.recreate(),
                template=core.PodTemplateSpecArgs(metadata=self._pod_metadata(), spec=self._pod()),
            ),
            opts=options,
        )
        objects.service(
            APP, names.LOKI_PORT, namespace=names.LAYER_NAMESPACE, owner=context.owner, opts=options
        )
        self.register_outputs({})

    def _token_map(self) -> str:
        """While the gateway key is replaced both keys' tokens are good: an agent drops what is answered with 401."""
        keys = credentials.gateway_keys(self._context.settings)
        roles: tuple[loki_sidecar.Role, ...] = ("push", "scrape", "gateway")
        return loki_sidecar.token_map(
            {role: [credentials.layer_token(key, role) for key in keys] for role in roles}
        )

    def _versioned(self, name: str, file: str, text: str) -> VersionedConfig:
        return VersionedConfig(
            name,
            {file: text},
            namespace=names.LAYER_NAMESPACE,
            context=self._context,
            parent=self,
        )

    def _overrides(self) -> core.ConfigMap:
        """One name, changed in place: what tenants may do is reread every few seconds, and nothing restarts."""
        return core.ConfigMap(
            OVERRIDES,
            metadata=self._context.owner.metadata(OVERRIDES, names.LAYER_NAMESPACE, app=APP),
            data={loki.OVERRIDES_FILE: loki.overrides(self._context.settings)},
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _claim(self, store: LogStore) -> core.PersistentVolumeClaim:
        layer = self._context.settings.layer
        return objects.claim(
            APP,
            store.store.size,
            namespace=names.LAYER_NAMESPACE,
            owner=self._context.owner,
            storage_class=layer.storage_class or self._context.storage_class,
            opts=pulumi.ResourceOptions(parent=self, protect=layer.protection),
        )

    def _pod_metadata(self) -> ObjectMetaArgs:
        digest = credentials.keyed_digest(self._context.settings.gateway_key.get_secret_value(), self._tokens)
        return ObjectMetaArgs(labels=self._context.owner.labels(APP), annotations={DIGEST_ANNOTATION: digest})

    def _pod(self) -> core.PodSpecArgs:
        placement = for_pods(self._context.settings.cluster, self._context.settings.layer.runs_on)
        return core.PodSpecArgs(
            service_account_name=APP,
            automount_service_account_token=False,
            node_selector=dict(placement.node_selector),
            affinity=objects.affinity(placement),
            tolerations=objects.tolerations(placement),
            # Chunks in memory are flushed, or replayed from the write-ahead log at the next start.
            termination_grace_period_seconds=300,
            security_context=objects.pod_security(LOKI_UID),
            containers=[self._loki(), self._nginx()],
            volumes=[
                objects.config_map_volume("config", self._config.config_map),
                objects.config_map_volume("overrides", OVERRIDES),
                objects.config_map_volume("sidecar", self._sidecar.config_map),
                objects.secret_volume("credential", SECRET),
                objects.claim_volume("data", APP),
                objects.empty_dir("tmp", "256Mi"),
                # Bodies larger than nginx's buffer are written here: 16 agents with 16 MB each.
                objects.empty_dir("run", "256Mi"),
            ],
        )

    def _loki(self) -> core.ContainerArgs:
        return core.ContainerArgs(
            name=APP,
            image=self._context.image("loki"),
            args=list(loki.ARGUMENTS),
            env=[core.EnvVarArgs(name="GOMEMLIMIT", value="1800MiB")],  # 90 % of the limit
            # No port: it listens on the loopback address only, where the kubelet cannot probe; the sidecar asks for it.
            resources=objects.resources("200m", "512Mi", "2Gi"),
            security_context=objects.container_security(uid=LOKI_UID),
            volume_mounts=[
                objects.mount("config", loki.CONFIG_FOLDER),
                objects.mount("overrides", loki.OVERRIDES_FOLDER),
                objects.mount("data", loki.STORAGE_FOLDER, read_only=False),
                objects.mount("tmp", objects.TMP, read_only=False),
            ],
        )

    def _nginx(self) -> core.ContainerArgs:
        return core.ContainerArgs(
            name="nginx",
            image=self._context.image("nginx"),
            command=list(loki_sidecar.COMMAND),
            ports=[core.ContainerPortArgs(name="http", container_port=names.LOKI_PORT)],
            liveness_probe=objects.tcp_probe(names.LOKI_PORT, period=30),
            # Both at once: wget runs where Loki's loopback address is, and nginx has to be up to run it.
            readiness_probe=objects.exec_probe(["wget", "-q", "-O", "/dev/null", loki.READY_URL]),
            resources=objects.resources("20m", "32Mi", "128Mi"),
            security_context=objects.container_security(uid=NGINX_UID),
            volume_mounts=[
                objects.mount("sidecar", loki_sidecar.CONFIG_FOLDER),
                objects.mount("credential", loki_sidecar.CREDENTIAL_FOLDER),
                objects.mount("run", loki_sidecar.RUN_FOLDER, read_only=False),
            ],
        )
