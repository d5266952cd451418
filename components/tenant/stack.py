"""One tenant: its namespaces and what its own collector may read. No DaemonSet, no cluster-wide right, no hostPath."""

from collections.abc import Mapping

import pulumi

from components.context import Context
from components.settings.model import Tenant
from components.tenant.access import CollectorAccess
from components.tenant.namespace import TenantNamespace

_NO_COLLECTOR = (
    "tenants.{tenant}.logs is api: the node agents leave namespace '{namespace}' out, and the collector that would "
    "read it instead is not part of this version. Until it is, nobody collects these lines unless the team does"
)


def pods_by_namespace(name: str, tenant: Tenant) -> dict[str, int]:
    """Quota of each namespace of a tenant: as written, or all of it for the only one.

    Args:
        name: of the tenant; also of its namespace, if it names none.
        tenant: whose pods add up, as the settings have checked.
    """
    if not tenant.namespaces:
        return {name: tenant.pods or 0}
    return {namespace: stated.pods or tenant.pods or 0 for namespace, stated in tenant.namespaces.items()}


class TenantStack(pulumi.ComponentResource):
    """One app team's slice of the cluster."""

    def __init__(
        self,
        name: str,
        tenant: Tenant,
        *,
        context: Context,
        pod_security: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares the tenant's namespaces.

        Args:
            name: of the tenant.
            tenant: its settings.
            context: of the environment.
            pod_security: level to enforce, by namespace; absent where the namespace keeps its own.
            opts: options of this component.
        """
        super().__init__("shared-observability:tenant:TenantStack", name, None, opts)
        options = pulumi.ResourceOptions(parent=self)
        for namespace, pods in pods_by_namespace(name, tenant).items():
            labelled = TenantNamespace(
                namespace,
                tenant,
                tenant_name=name,
                pods=pods,
                level=pod_security.get(namespace),
                context=context,
                opts=options,
            )
            if tenant.logs == "api":
                pulumi.log.warn(_NO_COLLECTOR.format(tenant=name, namespace=namespace), self)
                CollectorAccess(
                    namespace,
                    context=context,
                    opts=pulumi.ResourceOptions(parent=self, depends_on=[labelled]),
                )
        self.register_outputs({})
