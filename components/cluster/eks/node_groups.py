"""Managed node groups, their common role and their launch templates."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from components.cluster.eks import documents
from components.cluster.eks.identity import attach
from components.cluster.eks.plans import ManagedGroup
from components.cluster.eks.tags import POD_ADDRESSES_TAG

# The CNI's policy is not among them: it belongs to the CNI's own role.
NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
# A group is replaced node by node, each drained within 15 minutes at most.
TIMEOUTS = pulumi.CustomTimeouts(create="30m", update="180m", delete="60m")


class NodeGroups(pulumi.ComponentResource):
    """All managed groups of a cluster."""

    made: list[pulumi.Resource]
    """The groups, with nodes that are ready."""

    def __init__(
        self,
        name: str,
        groups: Sequence[ManagedGroup],
        *,
        region: str,
        cluster: pulumi.Input[str],
        version: str,
        volume_key: str | None,
        tags: Mapping[str, str],
        needs: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares them.

        Args:
            name: logical name.
            groups: what each is.
            region: AWS region.
            cluster: name of the cluster in EKS.
            version: Kubernetes version; nodes follow the control plane.
            volume_key: KMS key of the root volumes.
            tags: of everything.
            needs: what has to be there before: the VPC CNI above all, or the groups get the wrong max-pods.
            opts: options of this component.
        """
        super().__init__("shared-observability:cluster:NodeGroups", name, None, opts)
        self._name, self._region, self._cluster, self._version = name, region, cluster, version
        self._volume_key, self._tags = volume_key, tags
        self._role, attached = self._declare_role()
        self.made = [self._declare_group(group, [*needs, *attached]) for group in groups]
        self.register_outputs({})

    def _declare_role(self) -> tuple[aws.iam.Role, list[pulumi.Resource]]:
        options = pulumi.ResourceOptions(parent=self)
        role = aws.iam.Role(
            f"{self._name}-node",
            assume_role_policy=documents.text(documents.trusts_service("ec2.amazonaws.com")),
            description="Nodes of all managed groups",
            tags=self._tags,
            opts=options,
        )
        return role, attach(f"{self._name}-node", role, NODE_POLICIES, region=self._region, opts=options)

    def _declare_template(self, group: ManagedGroup) -> aws.ec2.LaunchTemplate:
        """Without an image: EKS chooses it and injects max-pods. Pods, one hop away, do not get the node's role."""
        volumes = [
            aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
                device_name=device,
                ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
                    volume_size=size,
                    volume_type="gp3",
                    encrypted="true",
                    kms_key_id=self._volume_key,
                    delete_on_termination="true",
                ),
            )
            for device, size in group.volumes.items()
        ]
        tagged = [
            aws.ec2.LaunchTemplateTagSpecificationArgs(
                resource_type=kind, tags={**self._tags, "Name": group.name}
            )
            for kind in ("instance", "volume", "network-interface")
        ]
        return aws.ec2.LaunchTemplate(
            f"{self._name}-{group.name}",
            block_device_mappings=volumes,
            metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(
                http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=1
            ),
            tag_specifications=tagged,
            update_default_version=True,
            tags=self._tags,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _declare_group(self, group: ManagedGroup, needs: Sequence[pulumi.Resource]) -> aws.eks.NodeGroup:
        template = self._declare_template(group)
        # How many nodes there are now is an autoscaler's decision, within the bounds.
        ignored = ["scalingConfig.desiredSize"] if group.is_scaled else None
        made = aws.eks.NodeGroup(
            group.name,
            cluster_name=self._cluster,
            node_group_name=group.name,
            node_role_arn=self._role.arn,
            subnet_ids=list(group.subnets),
            version=self._version,
            ami_type=group.ami_type,
            capacity_type=group.capacity,
            instance_types=list(group.instance_types),
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(
                min_size=group.minimum, max_size=group.maximum, desired_size=group.minimum
            ),
            update_config=aws.eks.NodeGroupUpdateConfigArgs(max_unavailable=group.max_unavailable),
            labels=dict(group.labels) or None,
            taints=[
                aws.eks.NodeGroupTaintArgs(key=key, value=value or None, effect=effect)
                for key, value, effect in group.taints
            ],
            launch_template=aws.eks.NodeGroupLaunchTemplateArgs(
                id=template.id, version=template.latest_version.apply(str)
            ),
            tags={**self._tags, POD_ADDRESSES_TAG: group.pod_addresses},
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=list(needs), ignore_changes=ignored, custom_timeouts=TIMEOUTS
            ),
        )
        self._tag_scaling_group(group, made)
        return made

    def _tag_scaling_group(self, group: ManagedGroup, made: aws.eks.NodeGroup) -> None:
        scaling_group = made.resources[0].autoscaling_groups[0].name
        for key, value in group.tags.items():
            aws.autoscaling.Tag(
                f"{group.name}-{key}",
                autoscaling_group_name=scaling_group.apply(str),
                tag=aws.autoscaling.TagTagArgs(key=key, value=value, propagate_at_launch=False),
                opts=pulumi.ResourceOptions(parent=self),
            )
