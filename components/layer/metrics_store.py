"""Prometheus, once: discovers, scrapes, keeps samples on its own volume, and answers only to the layer's credential."""

import pulumi
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs
from pulumi_kubernetes.rbac.v1 import PolicyRuleArgs

from components import names, objects
from components.cluster import node_groups
from components.cluster.placement import for_pods
from components.context import Context
from components.layer import credentials
from components.layer.config import prometheus, scrape_jobs
from components.layer.rbac import declare_account, declare_cluster_role, declare_role, read_rule
from components.layer.rollout import STORE_SECONDS, within
from components.layer.secrets import declare_secret
from components.layer.versioned_config import VersionedConfig
from components.settings.model import MetricsStore, Settings

APP = names.PROMETHEUS
SECRET = "prometheus-credential"  # noqa: S105 - an object's name
NOBODY = 65534
LEAST_TARGETS = 1024


def target_limit(settings: Settings) -> int:
    """Bound of the targets of one job: the pod slots of all declared nodes, more targets than which cannot be.

    Rounded up to a power of two, at least 1,024, so that a node more or less changes no configuration and restarts no
    Prometheus.
    """
    groups = settings.cluster.node_groups.values()
    slots = sum(node_groups.nodes_max(group) * node_groups.max_pods(group) for group in groups)
    return max(LEAST_TARGETS, 1 << (slots - 1).bit_length())


def cluster_rules() -> list[PolicyRuleArgs]:
    """Discovery of nodes, pods and namespaces, and the kubelets' and API servers' metrics; nothing else."""
    return [
        read_rule("", "nodes", "pods", "namespaces"),
        read_rule("", "nodes/metrics", verbs=("get",)),
        PolicyRuleArgs(non_resource_urls=["/metrics"], verbs=["get"]),
    ]


class PrometheusStore(pulumi.ComponentResource):
    """The Prometheus Deployment with its account, configuration, credential, volume and Service."""

    config: VersionedConfig
    """Its configuration; it lists no tenant, so adding one restarts nothing."""

    def __init__(
        self, name: str, context: Context, store: MetricsStore, *, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("shared-observability:layer:PrometheusStore", name, None, opts)
        self._context = context
        account = self._account()
        credential = self._credential()
        self.config = self._config()
        volume = self._claim(store)
        options = pulumi.ResourceOptions(
            parent=self,
            depends_on=[account, credential, *self.config.objects, volume],
            custom_timeouts=within(STORE_SECONDS),
        )
        apps.Deployment(
            APP,
            metadata=context.owner.metadata(APP, names.LAYER_NAMESPACE, app=APP),
            spec=apps.DeploymentSpecArgs(
                replicas=1,
                selector=objects.label_selector(APP),
                strategy=objects.recreate(),
                template=core.PodTemplateSpecArgs(
                    metadata=ObjectMetaArgs(labels=context.owner.labels(APP)), spec=self._pod()
                ),
            ),
            opts=options,
        )
        objects.service(
            APP, names.PROMETHEUS_PORT, namespace=names.LAYER_NAMESPACE, owner=context.owner, opts=options
        )
        self.register_outputs({})

    def _account(self) -> core.ServiceAccount:
        account = declare_account(APP, namespace=names.LAYER_NAMESPACE, context=self._context, parent=self)
        declare_cluster_role(
            names.PROMETHEUS_ROLE,
            cluster_rules(),
            account=APP,
            namespace=names.LAYER_NAMESPACE,
            context=self._context,
            parent=self,
        )
        declare_role(
            names.PROMETHEUS_ROLE,
            # The API servers are the endpoints of the Service `kubernetes`, which is in `default`.
            [read_rule("", "services"), read_rule("discovery.k8s.io", "endpointslices")],
            role_namespace="default",
            account=APP,
            namespace=names.LAYER_NAMESPACE,
            context=self._context,
            parent=self,
        )
        return account

    def _credential(self) -> pulumi.Resource:
        """The server rereads its web configuration at each request, its password files at each scrape: no restart."""
        key = self._context.settings.gateway_key.get_secret_value()
        password = credentials.layer_token(key, "metrics")
        values = {
            prometheus.WEB_CONFIG_FILE: prometheus.web_config(
                {scrape_jobs.USER: credentials.bcrypt_hash(password, key)}
            ),
            prometheus.PROBE_FILE: prometheus.probe_config(),
            scrape_jobs.PASSWORD_FILE: password,
            scrape_jobs.LOKI_TOKEN_FILE: credentials.layer_token(key, "scrape"),
        }
        return declare_secret(
            SECRET, values, namespace=names.LAYER_NAMESPACE, context=self._context, parent=self
        )

    def _config(self) -> VersionedConfig:
        settings = self._context.settings
        text = prometheus.prometheus_config(settings, target_limit=target_limit(settings))
        return VersionedConfig(
            APP,
            {prometheus.CONFIG_FILE: text},
            namespace=names.LAYER_NAMESPACE,
            context=self._context,
            parent=self,
        )

    def _claim(self, store: MetricsStore) -> core.PersistentVolumeClaim:
        layer = self._context.settings.layer
        return objects.claim(
            APP,
            store.storage,
            namespace=names.LAYER_NAMESPACE,
            owner=self._context.owner,
            storage_class=layer.storage_class or self._context.storage_class,
            opts=pulumi.ResourceOptions(parent=self, protect=layer.protection),
        )

    def _pod(self) -> core.PodSpecArgs:
        placement = for_pods(self._context.settings.cluster, self._context.settings.layer.runs_on)
        return core.PodSpecArgs(
            service_account_name=APP,
            automount_service_account_token=True,
            node_selector=dict(placement.node_selector),
            affinity=objects.affinity(placement),
            tolerations=objects.tolerations(placement),
            # The write-ahead log is closed and the head is kept; killed earlier it is replayed at the next start.
            termination_grace_period_seconds=120,
            security_context=objects.pod_security(NOBODY),
            containers=[self._container()],
            volumes=[
                objects.config_map_volume("config", self.config.config_map),
                objects.secret_volume("credential", SECRET),
                objects.claim_volume("data", APP),
            ],
        )

    def _container(self) -> core.ContainerArgs:
        return core.ContainerArgs(
            name=APP,
            image=self._context.image("prometheus"),
            args=list(prometheus.ARGUMENTS),
            ports=[core.ContainerPortArgs(name="http", container_port=names.PROMETHEUS_PORT)],
            # Replaying the write-ahead log of a full head took minutes on a busy node; the port is open meanwhile.
            startup_probe=objects.tcp_probe(names.PROMETHEUS_PORT, period=5, failures=60),
            liveness_probe=objects.tcp_probe(names.PROMETHEUS_PORT, period=30),
            readiness_probe=objects.exec_probe(list(prometheus.READY_COMMAND)),
            # Alloy's sizing guide has 11 GiB per million series for the scraping side; 15 nodes with 400 pods are about
            # 150,000 series.
            resources=objects.resources("200m", "1Gi", "3Gi"),
            security_context=objects.container_security(uid=NOBODY),
            volume_mounts=[
                objects.mount("config", prometheus.CONFIG_FOLDER),
                objects.mount("credential", scrape_jobs.CREDENTIAL_FOLDER),
                objects.mount("data", prometheus.STORAGE_FOLDER, read_only=False),
            ],
        )
