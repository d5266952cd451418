"""One of each resource type that the stand-in knows, for its own tests; `change` is how a test varies it."""

import json

import pulumi
import pulumi_aws as aws

config = pulumi.Config()
change: dict[str, str] = config.require_object("change")
subnets: list[str] = config.require_object("subnets")
provider = aws.Provider(
    "aws",
    region="eu-central-1",
    default_tags=aws.ProviderDefaultTagsArgs(tags={"made-by": "a-test"}),
)
mine = pulumi.ResourceOptions(provider=provider)


def trusted(service: str) -> str:
    """A trust policy for a service."""
    actions = ["sts:AssumeRole", "sts:TagSession"]
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": actions}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


zone = aws.ec2.get_subnet(id=subnets[0], opts=pulumi.InvokeOptions(provider=provider)).availability_zone
cluster_role = aws.iam.Role("cluster", assume_role_policy=trusted("eks.amazonaws.com"), opts=mine)
node_role = aws.iam.Role("nodes", assume_role_policy=trusted("ec2.amazonaws.com"), opts=mine)
attachment = aws.iam.RolePolicyAttachment(
    "cluster",
    role=cluster_role.name,
    policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy",
    opts=mine,
)
cluster = aws.eks.Cluster(
    "cluster",
    name="example",
    role_arn=cluster_role.arn,
    version=change.get("version", "1.35"),
    vpc_config=aws.eks.ClusterVpcConfigArgs(subnet_ids=subnets, endpoint_private_access=True),
    access_config=aws.eks.ClusterAccessConfigArgs(authentication_mode=change.get("mode", "API")),
    enabled_cluster_log_types=["audit"],
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[attachment]),
)
cni = aws.eks.Addon(
    "vpc-cni",
    addon_name="vpc-cni",
    cluster_name=cluster.name,
    configuration_values=change.get("cni", "{}"),
    addon_version=change.get("cniVersion"),
    resolve_conflicts_on_create="OVERWRITE",
    opts=mine,
)
taint = aws.eks.NodeGroupTaintArgs(key="dedicated", value=change.get("taint", "batch"), effect="NO_SCHEDULE")
template = aws.ec2.LaunchTemplate(
    "group",
    block_device_mappings=[
        aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
            device_name="/dev/xvda",
            ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
                volume_size=int(change.get("disk", "50")), encrypted="true"
            ),
        )
    ],
    metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(http_tokens="required"),
    tag_specifications=[
        aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type="instance", tags={"Name": "workers"})
    ],
    update_default_version=True,
    opts=mine,
)
group = aws.eks.NodeGroup(
    "group",
    node_group_name="workers",
    cluster_name=cluster.name,
    node_role_arn=node_role.arn,
    subnet_ids=subnets,
    instance_types=[change.get("instanceType", "m5.large")],
    launch_template=aws.eks.NodeGroupLaunchTemplateArgs(
        id=template.id, version=template.latest_version.apply(str)
    ),
    labels={"team": change.get("label", "a")},
    taints=[taint],
    scaling_config=aws.eks.NodeGroupScalingConfigArgs(desired_size=2, max_size=3, min_size=1),
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[cni]),
)
aws.autoscaling.Tag(
    "group",
    autoscaling_group_name=group.resources[0].autoscaling_groups[0].name.apply(str),
    tag=aws.autoscaling.TagTagArgs(key="pods", value="29", propagate_at_launch=False),
    opts=mine,
)
aws.cloudwatch.LogGroup("cluster", name="/aws/eks/example/cluster", retention_in_days=30, opts=mine)
aws.iam.OpenIdConnectProvider(
    "cluster",
    url=cluster.identities[0].oidcs[0].issuer.apply(str),
    client_id_lists=["sts.amazonaws.com"],
    opts=mine,
)
agent = aws.eks.Addon(
    "agent",
    addon_name="eks-pod-identity-agent",
    cluster_name=cluster.name,
    tags={"purpose": change.get("tag", "roles for pods")},
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[group]),
)
bucket = aws.s3.Bucket("logs", tags={"purpose": "logs"}, opts=mine)
aws.s3.BucketServerSideEncryptionConfiguration(
    "logs",
    bucket=bucket.bucket,
    rules=[
        aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
            apply_server_side_encryption_by_default=aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
                sse_algorithm="AES256"
            ),
            bucket_key_enabled=True,
        )
    ],
    opts=mine,
)
aws.s3.BucketPublicAccessBlock(
    "logs",
    bucket=bucket.bucket,
    block_public_acls=True,
    block_public_policy=True,
    ignore_public_acls=True,
    restrict_public_buckets=True,
    opts=mine,
)
aws.s3.BucketLifecycleConfiguration(
    "logs",
    bucket=bucket.bucket,
    rules=[
        aws.s3.BucketLifecycleConfigurationRuleArgs(
            id="expire",
            status="Enabled",
            filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix=""),
            expiration=aws.s3.BucketLifecycleConfigurationRuleExpirationArgs(days=10),
        )
    ],
    opts=mine,
)
aws.s3.BucketOwnershipControls(
    "logs",
    bucket=bucket.bucket,
    rule=aws.s3.BucketOwnershipControlsRuleArgs(object_ownership="BucketOwnerEnforced"),
    opts=mine,
)
aws.s3.BucketPolicy(
    "logs",
    bucket=bucket.bucket,
    policy=bucket.arn.apply(
        lambda arn: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Deny",
                        "Principal": "*",
                        "Action": "s3:*",
                        "Resource": [arn, f"{arn}/*"],
                        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                    }
                ],
            }
        )
    ),
    opts=mine,
)
writer = aws.iam.Role("writer", assume_role_policy=trusted("pods.eks.amazonaws.com"), opts=mine)
statement = {"Effect": "Allow", "Action": ["s3:PutObject"], "Resource": "*"}
aws.iam.RolePolicy(
    "writer",
    role=writer.name,
    policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
    opts=mine,
)
aws.eks.PodIdentityAssociation(
    "writer",
    cluster_name=cluster.name,
    namespace="observability",
    service_account=change.get("account", "loki"),
    role_arn=writer.arn,
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[agent]),
)
admin = aws.iam.Role("admin", assume_role_policy=trusted("ec2.amazonaws.com"), opts=mine)
entry = aws.eks.AccessEntry("admin", cluster_name=cluster.name, principal_arn=admin.arn, opts=mine)
aws.eks.AccessPolicyAssociation(
    "admin",
    cluster_name=cluster.name,
    principal_arn=admin.arn,
    policy_arn="arn:aws:eks::aws:cluster-access-policy/AmazonEKSAdminPolicy",
    access_scope=aws.eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[entry]),
)
if change.get("unknown"):
    aws.sqs.Queue("queue", opts=mine)
pulumi.export("zone", zone)
pulumi.export("bucket", bucket.bucket)
