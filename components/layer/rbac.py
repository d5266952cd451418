"""Accounts of the layer and what they may read: each role is written out, none reads secrets."""

from collections.abc import Mapping, Sequence

import pulumi
from pulumi_kubernetes.core.v1 import ServiceAccount
from pulumi_kubernetes.rbac import v1 as rbac

from components.context import Context

READ = ("get", "list", "watch")


def read_rule(group: str, *resources: str, verbs: Sequence[str] = READ) -> rbac.PolicyRuleArgs:
    """Reading resources of one API group (the empty text is the core group)."""
    return rbac.PolicyRuleArgs(api_groups=[group], resources=list(resources), verbs=list(verbs))


def declare_account(
    name: str,
    *,
    namespace: str,
    context: Context,
    parent: pulumi.Resource,
    annotations: Mapping[str, pulumi.Input[str]] | None = None,
) -> ServiceAccount:
    """A service account whose token is mounted only where a pod asks for it."""
    return ServiceAccount(
        name,
        metadata=context.owner.metadata(name, namespace, app=name, annotations=annotations or None),
        automount_service_account_token=False,
        opts=pulumi.ResourceOptions(parent=parent),
    )


def declare_cluster_role(
    role: str,
    rules: Sequence[rbac.PolicyRuleArgs],
    *,
    account: str,
    namespace: str,
    context: Context,
    parent: pulumi.Resource,
) -> None:
    """A ClusterRole and its binding to one account."""
    options = pulumi.ResourceOptions(parent=parent)
    rbac.ClusterRole(role, metadata=context.owner.metadata(role), rules=list(rules), opts=options)
    rbac.ClusterRoleBinding(
        role,
        metadata=context.owner.metadata(role),
        role_ref=rbac.RoleRefArgs(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name=role),
        subjects=[rbac.SubjectArgs(kind="ServiceAccount", name=account, namespace=namespace)],
        opts=options,
    )


def declare_role(
    role: str,
    rules: Sequence[rbac.PolicyRuleArgs],
    *,
    role_namespace: str,
    account: str,
    namespace: str,
    context: Context,
    parent: pulumi.Resource,
) -> None:
    """A Role in one namespace and its binding to an account, which may live in another."""
    options = pulumi.ResourceOptions(parent=parent)
    metadata = context.owner.metadata(role, role_namespace)
    rbac.Role(role, metadata=metadata, rules=list(rules), opts=options)
    rbac.RoleBinding(
        role,
        metadata=metadata,
        role_ref=rbac.RoleRefArgs(api_group="rbac.authorization.k8s.io", kind="Role", name=role),
        subjects=[rbac.SubjectArgs(kind="ServiceAccount", name=account, namespace=namespace)],
        opts=options,
    )
