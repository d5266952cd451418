"""The control plane: its role, its logs, the cluster, and who may talk to it."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.cluster.eks import documents
from components.cluster.eks.arns import access_policy, managed_policy, who
from components.settings.eks import EksAccess, EksCreate, EksTarget

# An upgrade of a control plane takes about 10 minutes, a new one 10 to 15.
TIMEOUTS = pulumi.CustomTimeouts(create="40m", update="60m", delete="30m")


class ControlPlane(pulumi.ComponentResource):
    """An EKS cluster without nodes and without add-ons."""

    cluster: aws.eks.Cluster
    """The cluster."""

    access: list[pulumi.Resource]
    """What has to be there before the deployer's token is good for anything."""

    def __init__(
        self,
        name: str,
        target: EksTarget,
        create: EksCreate,
        *,
        protection: bool,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares it.

        Args:
            name: logical name.
            target: `cluster.target`.
            create: `cluster.target.create`.
            protection: whether the engine, and EKS itself, refuse to delete the cluster.
            tags: of everything.
            opts: options of this component.
        """
        super().__init__("shared-observability:cluster:ControlPlane", name, None, opts)
        self._name, self._target, self._create, self._tags = name, target, create, tags
        needs = [*self._declare_role(), *self._declare_log_group()]
        self.cluster = self._declare_cluster(needs, protection)
        self.access = [one for entry in create.access for one in self._declare_access(entry)]
        self.register_outputs({})

    def _declare_role(self) -> list[pulumi.Resource]:
        options = pulumi.ResourceOptions(parent=self)
        self._role = aws.iam.Role(
            f"{self._name}-control-plane",
            assume_role_policy=documents.text(documents.trusts_service("eks.amazonaws.com")),
            description=f"Control plane of EKS cluster {self._create.name}",
            tags=self._tags,
            opts=options,
        )
        attached = aws.iam.RolePolicyAttachment(
            f"{self._name}-control-plane-policy",
            role=self._role.name,
            policy_arn=managed_policy(self._target.region, "AmazonEKSClusterPolicy"),
            opts=options,
        )
        key = self._create.secrets_key
        if key is None:
            return [attached]
        use = aws.iam.RolePolicy(
            f"{self._name}-control-plane-key",
            role=self._role.name,
            name="secrets-key",
            policy=documents.text(documents.uses_secrets_key(key)),
            opts=options,
        )
        return [attached, use]

    def _declare_log_group(self) -> list[pulumi.Resource]:
        """Made here, EKS does not make it, without an end of retention and without going with the cluster."""
        logs = self._create.control_plane_logs
        if not logs.types:
            return []
        group = aws.cloudwatch.LogGroup(
            f"{self._name}-logs",
            name=f"/aws/eks/{self._create.name}/cluster",
            retention_in_days=logs.retention_days,
            tags=self._tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return [group]

    def _declare_cluster(self, needs: list[pulumi.Resource], protection: bool) -> aws.eks.Cluster:
        create, endpoint, key = self._create, self._create.endpoint, self._create.secrets_key
        encryption = aws.eks.ClusterEncryptionConfigArgs(
            provider=aws.eks.ClusterEncryptionConfigProviderArgs(key_arn=key or ""), resources=["secrets"]
        )
        return aws.eks.Cluster(
            self._name,
            name=create.name,
            version=create.version,
            role_arn=self._role.arn,
            vpc_config=aws.eks.ClusterVpcConfigArgs(
                subnet_ids=list(create.subnets),
                endpoint_private_access=endpoint.private,
                endpoint_public_access=endpoint.public,
                public_access_cidrs=list(endpoint.public_cidrs) if endpoint.public else None,
            ),
            # Access by entries alone, also the deployer's: no rights that come from who ran the first `up`.
            access_config=aws.eks.ClusterAccessConfigArgs(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
            ),
            # The add-ons are ours, in their order: EKS's own copies of three of them would be there before.
            bootstrap_self_managed_addons=False,
            enabled_cluster_log_types=list(create.control_plane_logs.types),
            encryption_config=encryption if key else None,
            deletion_protection=protection,
            tags=self._tags,
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=needs, protect=protection, custom_timeouts=TIMEOUTS
            ),
        )

    def _declare_access(self, entry: EksAccess) -> list[pulumi.Resource]:
        account, name = who(entry.principal)
        logical = f"{self._name}-access-{account}-{name}"
        options = pulumi.ResourceOptions(parent=self)
        made = aws.eks.AccessEntry(
            logical,
            cluster_name=self.cluster.name,
            principal_arn=entry.principal,
            type="STANDARD",
            tags=self._tags,
            opts=options,
        )
        scope = aws.eks.AccessPolicyAssociationAccessScopeArgs(
            type="namespace" if entry.namespaces else "cluster", namespaces=list(entry.namespaces) or None
        )
        allowed = aws.eks.AccessPolicyAssociation(
            logical,
            cluster_name=self.cluster.name,
            principal_arn=entry.principal,
            policy_arn=access_policy(self._target.region, entry.policy),
            access_scope=scope,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[made]),
        )
        return [made, allowed]
