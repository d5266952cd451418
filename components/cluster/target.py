"""Where objects go: to files, or to a cluster. Makes the one provider that every object of ours names."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from components.settings.model import KubeconfigTarget, RenderTarget

# 200 tenants are about 1,000 objects; client-go's default of 5 requests a second would take minutes for that alone.
REQUESTS_PER_SECOND = 100.0
BURST = 200


class Target(pulumi.ComponentResource):
    """The provider for `cluster.target`, with nothing taken from the environment."""

    provider: kubernetes.Provider
    """What every component is given, by `providers=[...]`."""

    renders: bool
    """Whether objects become files: then secrets are placeholders and nothing is read from a cluster."""

    def __init__(
        self,
        name: str,
        settings: RenderTarget | KubeconfigTarget,
        *,
        identity: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Registers the provider.

        Args:
            name: logical name.
            settings: `cluster.target`.
            identity: what tells this cluster from all others; it never changes for a living cluster. A changed one
                would make the engine create every object anew and then delete the originals, which are the same
                objects; `preflight.py` refuses it before that.
            opts: options of this component.
        """
        super().__init__("shared-observability:cluster:Target", name, None, opts)
        self.renders = isinstance(settings, RenderTarget)
        self.provider = self._register_provider(name, settings, identity)
        self.register_outputs({})

    def _register_provider(
        self, name: str, settings: RenderTarget | KubeconfigTarget, identity: str
    ) -> kubernetes.Provider:
        # Each argument that the SDK would fill from an environment variable is stated: KUBECONFIG, PULUMI_K8S_*.
        if isinstance(settings, RenderTarget):
            return kubernetes.Provider(
                f"{name}-provider",
                kubeconfig="",
                render_yaml_to_directory=settings.directory,
                enable_server_side_apply=True,
                opts=pulumi.ResourceOptions(parent=self),
            )
        return kubernetes.Provider(
            f"{name}-provider",
            kubeconfig=str(Path(settings.path).expanduser()),
            context=settings.context,
            cluster_identifier=identity,
            enable_server_side_apply=True,
            # Overrides are reloaded at run time and tokens are reread: these objects keep their names.
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
            delete_unreachable=False,
            skip_update_unreachable=False,
            kube_client_settings=kubernetes.KubeClientSettingsArgs(qps=REQUESTS_PER_SECOND, burst=BURST),
            opts=pulumi.ResourceOptions(parent=self),
        )
