"""How pods become IAM roles: by EKS Pod Identity, or by the cluster's OIDC provider (docs/adr/0016-pod-identity.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from components.cluster.eks import documents
from components.cluster.eks.arns import managed_policy

ROLE_ANNOTATION = "eks.amazonaws.com/role-arn"


@dataclass(frozen=True)
class Identities:
    """What every role for pods needs to know of the cluster.

    Attributes:
        region: AWS region.
        cluster: name of the cluster.
        arn: of the cluster.
        issuer: URL of its OIDC issuer; only for IRSA.
        provider: ARN of the IAM OIDC provider; None: Pod Identity.
        tags: of everything.
    """

    region: str
    cluster: pulumi.Input[str]
    arn: pulumi.Input[str]
    issuer: pulumi.Input[str] = ""
    provider: pulumi.Input[str] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


def attach(
    name: str, role: aws.iam.Role, policies: Sequence[str], *, region: str, opts: pulumi.ResourceOptions
) -> list[pulumi.Resource]:
    """Gives a role some of AWS's own policies.

    Args:
        name: prefix of the logical names.
        role: the role.
        policies: their names.
        region: AWS region, for its partition.
        opts: options of each attachment.
    """
    return [
        aws.iam.RolePolicyAttachment(
            f"{name}-{policy.rpartition('/')[2]}",
            role=role.name,
            policy_arn=managed_policy(region, policy),
            opts=opts,
        )
        for policy in policies
    ]


class PodRole(pulumi.ComponentResource):
    """An IAM role that pods of one service account take, and nobody else."""

    arn: pulumi.Output[str]
    """Of the role."""

    ready: list[pulumi.Resource]
    """What has to be there before a pod uses the role."""

    def __init__(
        self,
        name: str,
        identities: Identities,
        *,
        namespace: str,
        account: str,
        managed: tuple[str, ...] = (),
        inline: documents.Document | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares the role.

        Args:
            name: logical name.
            identities: of the cluster.
            namespace: of the service account.
            account: name of the service account.
            managed: AWS's own policies, by name.
            inline: what else it may do.
            opts: options of this component.
        """
        super().__init__("shared-observability:cluster:PodRole", name, None, opts)
        options = pulumi.ResourceOptions(parent=self)
        role = aws.iam.Role(
            name,
            assume_role_policy=_trust(identities, namespace, account),
            description=f"Pods of service account {namespace}/{account}",
            tags=identities.tags,
            opts=options,
        )
        self.arn = role.arn
        attached = attach(name, role, managed, region=identities.region, opts=options)
        if inline:
            attached.append(
                aws.iam.RolePolicy(
                    f"{name}-inline",
                    role=role.name,
                    name="use",
                    policy=documents.text(inline),
                    opts=options,
                )
            )
        self.ready = [role, *attached]
        self.register_outputs({})


def _trust(identities: Identities, namespace: str, account: str) -> pulumi.Output[str]:
    if identities.provider is None:
        return pulumi.Output.from_input(identities.arn).apply(
            lambda arn: documents.text(documents.trusts_pods(arn, namespace, account))
        )
    return pulumi.Output.all(provider=identities.provider, issuer=identities.issuer).apply(
        lambda known: documents.text(
            documents.trusts_token(known["provider"], known["issuer"], namespace, account)
        )
    )
