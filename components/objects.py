"""Parts that objects are made of: metadata with the owner's label, pod security, placement as typed arguments."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs

from components.cluster.placement import Placement
from components.names import OWNER_LABEL, PREFIX

# Scratch space of a container whose root is read-only: an emptyDir of the pod.
TMP = "/tmp"  # noqa: S108 - inside the container
# For a storage class that binds at first use (gp3) provider 4.25.0 awaits the phase Pending, also when a bound claim is
# changed: growing it failed after 5 minutes. That a volume is bound shows in the Deployment that mounts it.
ANY_PHASE = {"pulumi.com/waitFor": "jsonpath={.status.phase}"}


@dataclass(frozen=True)
class Owner:
    """The stack that owns an object; `ownership.py` refuses what lacks its label."""

    stack: str

    def labels(self, app: str = "") -> dict[str, str]:
        """Labels of an object; `app` becomes `app.kubernetes.io/name`."""
        ours = {"app.kubernetes.io/managed-by": PREFIX, OWNER_LABEL: self.stack}
        return {**({"app.kubernetes.io/name": app} if app else {}), **ours}

    def metadata(
        self,
        name: str,
        namespace: str | None = None,
        *,
        app: str = "",
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, pulumi.Input[str]] | None = None,
    ) -> ObjectMetaArgs:
        """Metadata of an object; names are literals, so that two renders are equal and a preview knows them."""
        return ObjectMetaArgs(
            name=name,
            namespace=namespace,
            labels={**(labels or {}), **self.labels(app)},
            annotations=annotations,
        )


def selector(app: str) -> dict[str, str]:
    """The label that a workload's pods are selected by: never the owner's, since a selector cannot change."""
    return {"app.kubernetes.io/name": app}


def label_selector(app: str) -> LabelSelectorArgs:
    """`selector` as a typed argument."""
    return LabelSelectorArgs(match_labels=selector(app))


def affinity(placement: Placement) -> core.AffinityArgs:
    """Required node affinity of a placement."""
    terms = [
        core.NodeSelectorTermArgs(
            match_expressions=[
                core.NodeSelectorRequirementArgs(key=r.key, operator=r.operator, values=list(r.values))
                for r in term
            ]
        )
        for term in placement.terms
    ]
    return core.AffinityArgs(
        node_affinity=core.NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=core.NodeSelectorArgs(
                node_selector_terms=terms
            )
        )
    )


def tolerations(placement: Placement) -> list[core.TolerationArgs]:
    """One toleration per taint; `Equal` with an empty value matches a taint without value."""
    return [
        core.TolerationArgs(key=t.key, operator="Equal", value=t.value, effect=t.effect)
        for t in placement.tolerations
    ]


def resources(cpu: str, memory: str, memory_limit: str) -> core.ResourceRequirementsArgs:
    """Requests and a memory limit. No CPU limit: throttling an idle node's collector loses lines and wins nothing."""
    return core.ResourceRequirementsArgs(
        requests={"cpu": cpu, "memory": memory}, limits={"memory": memory_limit}
    )


def container_security(*, root: bool = False, uid: int | None = None) -> core.SecurityContextArgs:
    """What Pod Security `restricted` asks of a container; `root` only for node agents, which read root's log files."""
    return core.SecurityContextArgs(
        allow_privilege_escalation=False,
        capabilities=core.CapabilitiesArgs(drop=["ALL"]),
        read_only_root_filesystem=True,
        run_as_non_root=not root,
        run_as_user=0 if root else uid,
        seccomp_profile=core.SeccompProfileArgs(type="RuntimeDefault"),
    )


def pod_security(uid: int) -> core.PodSecurityContextArgs:
    """A pod that runs as `uid`, whose volumes that group may write."""
    return core.PodSecurityContextArgs(
        run_as_non_root=True,
        run_as_user=uid,
        run_as_group=uid,
        fs_group=uid,
        fs_group_change_policy="OnRootMismatch",
        seccomp_profile=core.SeccompProfileArgs(type="RuntimeDefault"),
    )


def field_env(name: str, path: str) -> core.EnvVarArgs:
    """An environment variable from the pod's own fields (downward API)."""
    return core.EnvVarArgs(
        name=name,
        value_from=core.EnvVarSourceArgs(field_ref=core.ObjectFieldSelectorArgs(field_path=path)),
    )


def mount(name: str, path: str, *, read_only: bool = True) -> core.VolumeMountArgs:
    """A volume's mount; a whole folder, never a subPath: a file mounted by subPath never changes."""
    return core.VolumeMountArgs(name=name, mount_path=path, read_only=read_only)


def config_map_volume(name: str, config_map: str, paths: Mapping[str, str] | None = None) -> core.VolumeArgs:
    """A ConfigMap as a folder; with `paths`, each of its files where they say, in folders of its own."""
    items = [core.KeyToPathArgs(key=key, path=path) for key, path in (paths or {}).items()]
    source = core.ConfigMapVolumeSourceArgs(name=config_map, items=items or None)
    return core.VolumeArgs(name=name, config_map=source)


def secret_volume(name: str, secret: str) -> core.VolumeArgs:
    """A Secret as a folder, readable by the pod's group only."""
    return core.VolumeArgs(
        name=name,
        secret=core.SecretVolumeSourceArgs(secret_name=secret, default_mode=0o440),
    )


def secrets_volume(name: str, secrets: list[str]) -> core.VolumeArgs:
    """Several Secrets as one folder."""
    sources = [core.VolumeProjectionArgs(secret=core.SecretProjectionArgs(name=secret)) for secret in secrets]
    return core.VolumeArgs(
        name=name, projected=core.ProjectedVolumeSourceArgs(sources=sources, default_mode=0o440)
    )


def empty_dir(name: str, size: str) -> core.VolumeArgs:
    """Scratch space of a container whose root is read-only."""
    return core.VolumeArgs(name=name, empty_dir=core.EmptyDirVolumeSourceArgs(size_limit=size))


def host_path(name: str, path: str, kind: str) -> core.VolumeArgs:
    """A folder of the node; only in the node agents' namespace."""
    return core.VolumeArgs(name=name, host_path=core.HostPathVolumeSourceArgs(path=path, type=kind))


def claim_volume(name: str, claim: str) -> core.VolumeArgs:
    """A volume of its own claim."""
    return core.VolumeArgs(
        name=name,
        persistent_volume_claim=core.PersistentVolumeClaimVolumeSourceArgs(claim_name=claim),
    )


def tcp_probe(port: int, *, period: int = 10, failures: int = 3) -> core.ProbeArgs:
    """Is the port open."""
    return core.ProbeArgs(
        tcp_socket=core.TCPSocketActionArgs(port=port),
        period_seconds=period,
        failure_threshold=failures,
    )


def http_probe(path: str, port: int, *, period: int = 10, failures: int | None = None) -> core.ProbeArgs:
    """Does the path answer with 2xx."""
    return core.ProbeArgs(
        http_get=core.HTTPGetActionArgs(path=path, port=port),
        period_seconds=period,
        failure_threshold=failures,
    )


def exec_probe(command: list[str], *, period: int = 15, timeout: int = 5) -> core.ProbeArgs:
    """Does the command, run in the container, end with status 0."""
    return core.ProbeArgs(
        exec_=core.ExecActionArgs(command=command),
        period_seconds=period,
        timeout_seconds=timeout,
    )


def rolling_daemon_set(max_unavailable: int) -> apps.DaemonSetUpdateStrategyArgs:
    """Few nodes at a time: an agent that starts lists its pods, and all at once would be a herd of lists."""
    return apps.DaemonSetUpdateStrategyArgs(
        type="RollingUpdate", rolling_update=apps.RollingUpdateDaemonSetArgs(max_unavailable=max_unavailable)
    )


def recreate() -> apps.DeploymentStrategyArgs:
    """The old pod ends before the new one starts: both want the one volume, which attaches to one node."""
    return apps.DeploymentStrategyArgs(type="Recreate")


def claim(
    name: str,
    size: str,
    *,
    namespace: str,
    owner: Owner,
    storage_class: str | None,
    opts: pulumi.ResourceOptions,
) -> core.PersistentVolumeClaim:
    """A volume claim of its own: it is grown in place, and outlives the workload that mounts it."""
    return core.PersistentVolumeClaim(
        name,
        metadata=owner.metadata(name, namespace, app=name, annotations=ANY_PHASE),
        spec=core.PersistentVolumeClaimSpecArgs(
            access_modes=["ReadWriteOnce"],
            storage_class_name=storage_class,
            resources=core.VolumeResourceRequirementsArgs(requests={"storage": size}),
        ),
        opts=opts,
    )


def service(
    name: str, port: int, *, namespace: str, owner: Owner, opts: pulumi.ResourceOptions, logical: str = ""
) -> core.Service:
    """A cluster-internal Service with one port; `logical` is its name in the program, where that is another."""
    return core.Service(
        logical or name,
        metadata=owner.metadata(name, namespace, app=name),
        spec=core.ServiceSpecArgs(
            type="ClusterIP",
            selector=selector(name),
            ports=[core.ServicePortArgs(name="http", port=port, target_port=port)],
        ),
        opts=opts,
    )
