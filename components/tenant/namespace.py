"""A tenant's namespace: adopted or created, labelled, with quotas that the API server enforces."""

import pulumi
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs, ObjectMetaPatchArgs

from components import names
from components.context import Context
from components.settings.tenant import Tenant

# A pruning GitOps tool must not delete a namespace that the team owns, whatever leaves the rendered folder.
NEVER_PRUNE = {
    "argocd.argoproj.io/sync-options": "Prune=false,Delete=false,ServerSideApply=true",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
    "kustomize.toolkit.fluxcd.io/ssa": "Merge",
}
# Our labels are ours: another field manager's value of one of them is replaced, and preflight has looked at it before.
PATCH = {"pulumi.com/patchForce": "true", "pulumi.com/patchFieldManager": names.FIELD_MANAGER}


def namespace_labels(tenant_name: str, tenant: Tenant, level: str | None, context: Context) -> dict[str, str]:
    """The labels by which node agents and Prometheus know a namespace's tenant and signals, and its Pod Security level.

    Not `app.kubernetes.io/managed-by`: in an adopted namespace that label is another tool's.
    """
    security = {names.POD_SECURITY_LABEL: level} if level else {}
    return {
        **tenant.labels,
        **security,
        names.TENANT_LABEL: tenant_name,
        names.LOGS_LABEL: tenant.logs,
        names.METRICS_LABEL: str(tenant.metrics).lower(),
        names.OWNER_LABEL: context.owner.stack,
    }


class TenantNamespace(pulumi.ComponentResource):
    """One namespace of a tenant.

    Everything in it is named after the namespace, not after the tenant: a renamed tenant, or a namespace that moves to
    another one, is then a change of labels, where a new logical name would create the same object and delete it later.
    """

    def __init__(
        self,
        name: str,
        tenant: Tenant,
        *,
        tenant_name: str,
        pods: int,
        level: str | None,
        context: Context,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Labels the namespace and sets its quotas.

        Args:
            name: of the namespace.
            tenant: its tenant.
            tenant_name: the tenant's name.
            pods: peak of pods in this namespace.
            level: Pod Security level to enforce; None leaves the namespace's own.
            context: of the environment.
            opts: options of this component.
        """
        super().__init__("shared-observability:tenant:TenantNamespace", name, None, opts)
        self._context, self._tenant, self._name = context, tenant, name
        labels = namespace_labels(tenant_name, tenant, level, context)
        labelled = self._render(labels) if context.renders else self._label(labels)
        self._limit_pods(pods, labelled)
        self._limit_priority(labelled)
        self.register_outputs({})

    def _render(self, labels: dict[str, str]) -> pulumi.Resource:
        kept = self._tenant.namespace == "adopt" or self._tenant.on_remove == "keep"
        metadata = ObjectMetaArgs(name=self._name, labels=labels, annotations=NEVER_PRUNE if kept else None)
        return core.Namespace(self._name, metadata=metadata, opts=pulumi.ResourceOptions(parent=self))

    def _label(self, labels: dict[str, str]) -> pulumi.Resource:
        """Labels by a patch, also where the namespace is ours: one that is kept must lose them with its tenant."""
        created = [self._create()] if self._tenant.namespace == "create" else []
        return core.NamespacePatch(
            self._name,
            metadata=ObjectMetaPatchArgs(name=self._name, labels=labels, annotations=PATCH),
            opts=pulumi.ResourceOptions(parent=self, depends_on=created),
        )

    def _create(self) -> core.Namespace:
        return core.Namespace(
            self._name,
            metadata=self._context.owner.metadata(self._name, labels={names.CREATED_LABEL: "true"}),
            opts=pulumi.ResourceOptions(parent=self, retain_on_delete=self._tenant.on_remove == "keep"),
        )

    def _limit_pods(self, pods: int, namespace: pulumi.Resource) -> None:
        core.ResourceQuota(
            f"{self._name}-pods",
            metadata=self._context.owner.metadata(names.PODS_QUOTA, self._name),
            spec=core.ResourceQuotaSpecArgs(hard={"pods": str(pods), "count/daemonsets.apps": "0"}),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[namespace]),
        )

    def _limit_priority(self, namespace: pulumi.Resource) -> None:
        """No pod with a PriorityClass but the allowed ones: another could displace the node agents."""
        any_class = core.ScopedResourceSelectorRequirementArgs(scope_name="PriorityClass", operator="Exists")
        allowed = list(self._tenant.priority_classes)
        others = core.ScopedResourceSelectorRequirementArgs(
            scope_name="PriorityClass", operator="NotIn", values=allowed
        )
        core.ResourceQuota(
            f"{self._name}-priority",
            metadata=self._context.owner.metadata(names.PRIORITY_QUOTA, self._name),
            spec=core.ResourceQuotaSpecArgs(
                hard={"pods": "0"},
                scope_selector=core.ScopeSelectorArgs(
                    match_expressions=[any_class, *([others] if allowed else [])]
                ),
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[namespace]),
        )
