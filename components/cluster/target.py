"""Where objects go: to files, or to a cluster. Makes the one provider that every object of ours names."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from components.settings.model import KubeconfigTarget, RenderTarget

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
        directory, kubeconfig, context = _destination(settings)
        client = kubernetes.KubeClientSettingsArgs(qps=REQUESTS_PER_SECOND, burst=BURST, timeout=NO_TIMEOUT)
        # Each argument that the SDK would fill from an environment variable is stated: KUBECONFIG, PULUMI_K8S_*.
        return kubernetes.Provider(
            f"{name}-provider",
            kubeconfig=kubeconfig,
            context=context,
            render_yaml_to_directory=directory,
            cluster_identifier=identity if context else None,
            kube_client_settings=client if context else None,
            enable_server_side_apply=True,
            # Overrides are reloaded at run time and tokens are reread: these objects keep their names.
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
            delete_unreachable=False,
            skip_update_unreachable=False,
            suppress_deprecation_warnings=False,
            suppress_helm_hook_warnings=False,
            opts=pulumi.ResourceOptions(parent=self),
        )


def _destination(settings: RenderTarget | KubeconfigTarget) -> tuple[str | None, str, str | None]:
    """Folder, kubeconfig and its context: a render has no cluster, and an empty kubeconfig is not the ambient one."""
    if isinstance(settings, RenderTarget):
        return settings.directory, "", None
    return None, str(Path(settings.path).expanduser()), settings.context
