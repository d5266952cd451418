"""What a tenant's own collector may do: read pods and their logs in its namespace, and nothing outside it."""

import pulumi
from pulumi_kubernetes.core.v1 import ServiceAccount
from pulumi_kubernetes.rbac import v1 as rbac

from components.context import Context
from components.names import COLLECTOR


class CollectorAccess(pulumi.ComponentResource):
    """Account, Role and RoleBinding for `logs: api`; a Role, never a ClusterRole."""

    def __init__(self, name: str, *, context: Context, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declares the account and its rights.

        Args:
            name: the namespace.
            context: of the environment.
            opts: options of this component.
        """
        super().__init__("shared-observability:tenant:CollectorAccess", name, None, opts)
        options = pulumi.ResourceOptions(parent=self)
        metadata = context.owner.metadata(COLLECTOR, name)
        ServiceAccount(
            f"{name}-collector", metadata=metadata, automount_service_account_token=False, opts=options
        )
        rbac.Role(
            f"{name}-collector",
            metadata=metadata,
            rules=[
                rbac.PolicyRuleArgs(api_groups=[""], resources=["pods"], verbs=["get", "list", "watch"]),
                rbac.PolicyRuleArgs(api_groups=[""], resources=["pods/log"], verbs=["get"]),
            ],
            opts=options,
        )
        rbac.RoleBinding(
            f"{name}-collector",
            metadata=metadata,
            role_ref=rbac.RoleRefArgs(api_group="rbac.authorization.k8s.io", kind="Role", name=COLLECTOR),
            subjects=[rbac.SubjectArgs(kind="ServiceAccount", name=COLLECTOR, namespace=name)],
            opts=options,
        )
        self.register_outputs({})
