"""Where objects go: to files, or to a cluster. Makes the one provider that every object of ours names."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as kubernetes

from components.cluster import storage_classes
from components.objects import Owner
from components.settings.eks import EksTarget
from components.settings.model import RenderTarget, Settings

if TYPE_CHECKING:
    from components.cluster.eks.cloud import Cloud
    from components.cluster.eks.cluster import EksCluster

# 200 tenants are about 1,000 objects; client-go's default of 5 requests a second would take minutes for that alone.
REQUESTS_PER_SECOND = 100.0
BURST = 200
NO_TIMEOUT = 0  # of single requests, the client's default; how long a rollout may take is each object's own


class Target(pulumi.ComponentResource):
    """The provider for `cluster.target`, with nothing taken from the environment."""

    provider: kubernetes.Provider
    """What every component is given, by `providers=[...]`."""

    renders: bool
    """Whether objects become files: then secrets are placeholders and nothing is read from a cluster."""

    identity: pulumi.Input[str]
    """What tells this cluster from all others; for the next deployment, which refuses another one."""

    storage_class: str | None
    """Class of the layer's volumes where the settings name none; None: the cluster's default."""

    account_annotations: Mapping[str, pulumi.Input[str]]
    """On Loki's service account: the IAM role that its pod takes, where it takes one by its token."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        *,
        identity: str,
        cloud: "Cloud | None" = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Registers the provider, and before it what the cluster itself needs.

        Args:
            name: logical name.
            settings: the environment.
            identity: what tells this cluster from all others; it never changes for a living cluster. A changed one
                would make the engine create every object anew and then delete the originals, which are the same
                objects; `preflight.py` refuses it before that. Of a cluster on EKS AWS tells it.
            cloud: provider and facts of AWS; for a cluster on EKS.
            opts: options of this component.
        """
        super().__init__("shared-observability:cluster:Target", name, None, opts)
        target = settings.cluster.target
        self.renders = isinstance(target, RenderTarget)
        self.identity, self.storage_class, self.account_annotations = identity, None, {}
        if isinstance(target, EksTarget):
            self._register_eks(name, settings, target, cloud)
        elif isinstance(target, RenderTarget):
            # A render has no cluster, and an empty kubeconfig is not the ambient one.
            self.provider = self._register_provider(name, directory=target.directory, kubeconfig="")
        else:
            path = str(Path(target.path).expanduser())
            self.provider = self._register_provider(
                name, kubeconfig=path, context=target.context, identity=identity
            )
        self.register_outputs({})

    def _register_eks(self, name: str, settings: Settings, target: EksTarget, cloud: "Cloud | None") -> None:
        from components.cluster.eks import cluster, storage, tags  # noqa: PLC0415 - see account.py
        from components.cluster.eks.kubeconfig import CONTEXT  # noqa: PLC0415

        if cloud is None:
            raise ValueError("a target on EKS was given nothing of AWS")
        owner = Owner(pulumi.get_stack())
        made: EksCluster = cluster.EksCluster(
            f"{name}-eks",
            settings,
            target,
            cloud,
            stack=owner.stack,
            opts=pulumi.ResourceOptions(parent=self, providers=[cloud.provider]),
        )
        self.identity, self.account_annotations = made.identity, made.account_annotations
        # Every object waits for its provider, so for nodes and add-ons too; and is gone before they go.
        self.provider = self._register_provider(
            name, kubeconfig=made.kubeconfig, context=CONTEXT, identity=made.identity, needs=made.ready
        )
        if wanted := storage_classes.of_ours(settings):
            self.storage_class = wanted.name
            storage.declare_volume_class(
                wanted,
                owner,
                key=target.data_key,
                tags=tags.aws_tags(settings, target, owner.stack),
                opts=pulumi.ResourceOptions(parent=self, provider=self.provider),
            )

    def _register_provider(
        self,
        name: str,
        *,
        kubeconfig: pulumi.Input[str],
        directory: str | None = None,
        context: str | None = None,
        identity: pulumi.Input[str] | None = None,
        needs: Sequence[pulumi.Resource] = (),
    ) -> kubernetes.Provider:
        client = kubernetes.KubeClientSettingsArgs(qps=REQUESTS_PER_SECOND, burst=BURST, timeout=NO_TIMEOUT)
        # Each argument that the SDK would fill from an environment variable is stated: KUBECONFIG, PULUMI_K8S_*.
        return kubernetes.Provider(
            f"{name}-provider",
            kubeconfig=kubeconfig,
            context=context,
            render_yaml_to_directory=directory,
            cluster_identifier=identity,
            kube_client_settings=client if context else None,
            enable_server_side_apply=True,
            # Overrides are reloaded at run time and tokens are reread: these objects keep their names.
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
            delete_unreachable=False,
            skip_update_unreachable=False,
            suppress_deprecation_warnings=False,
            suppress_helm_hook_warnings=False,
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(needs)),
        )
