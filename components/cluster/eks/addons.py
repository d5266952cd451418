"""EKS add-ons, each with its role; the order between them and the nodes is the caller's, by `depends_on`."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from components.cluster.eks import documents
from components.cluster.eks.identity import Identities, PodRole
from components.cluster.eks.plans import EBS_CSI, AddOnPlan
from components.cluster.eks.tags import KUBERNETES_TAG

SYSTEM = "kube-system"
TIMEOUTS = pulumi.CustomTimeouts(create="20m", update="20m", delete="20m")


class AddOns(pulumi.ComponentResource):
    """Some add-ons, next to each other."""

    made: list[pulumi.Resource]
    """The add-ons."""

    def __init__(
        self,
        name: str,
        plans: Sequence[AddOnPlan],
        identities: Identities,
        *,
        versions: Mapping[str, str],
        kubernetes: str,
        volume_key: str | None,
        needs: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares them.

        Args:
            name: logical name.
            plans: what each is.
            identities: of the cluster.
            versions: by add-on; EKS chooses that of one that is not in it, at the first deployment.
            kubernetes: version of Kubernetes for which these versions were chosen.
            volume_key: KMS key of volumes, which the EBS CSI driver then needs.
            needs: what has to be there before.
            opts: options of this component.
        """
        super().__init__("shared-observability:cluster:AddOns", name, None, opts)
        self._name, self._identities, self._versions = name, identities, versions
        self._kubernetes, self._volume_key, self._needs = kubernetes, volume_key, needs
        self.made = [self._declare(plan) for plan in plans]
        self.register_outputs({})

    def _declare(self, plan: AddOnPlan) -> pulumi.Resource:
        role = self._declare_role(plan)
        arn = role.arn if role else None
        by_token = self._identities.provider is not None
        association = (
            [aws.eks.AddonPodIdentityAssociationArgs(role_arn=arn, service_account=plan.role.account)]
            if arn and plan.role and not by_token
            else None
        )
        return aws.eks.Addon(
            plan.name,
            addon_name=plan.name,
            cluster_name=self._identities.cluster,
            addon_version=self._versions.get(plan.name),
            configuration_values=plan.values,
            pod_identity_associations=association,
            service_account_role_arn=arn if by_token else None,
            # Ours is what is declared: a value that somebody has edited in the cluster is set back.
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            tags={**self._identities.tags, KUBERNETES_TAG: self._kubernetes},
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*self._needs, *(role.ready if role else [])],
                custom_timeouts=TIMEOUTS,
            ),
        )

    def _declare_role(self, plan: AddOnPlan) -> PodRole | None:
        if plan.role is None:
            return None
        key = self._volume_key if plan.name == EBS_CSI else None
        return PodRole(
            f"{self._name}-{plan.name}",
            self._identities,
            namespace=SYSTEM,
            account=plan.role.account,
            managed=(plan.role.policy,),
            inline=documents.uses_volume_key(key) if key else None,
            opts=pulumi.ResourceOptions(parent=self),
        )
