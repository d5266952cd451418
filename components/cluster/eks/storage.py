"""Where data is kept: Loki's bucket with the role that may use it, and the class of encrypted volumes."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.storage.v1 import StorageClass

from components import names
from components.cluster.eks import documents
from components.cluster.eks.identity import Identities, PodRole
from components.cluster.placement import COMPUTE_TYPE_LABEL
from components.cluster.storage_classes import VolumeClass
from components.objects import Owner
from components.settings.model import S3Store
from components.settings.raw import HOURS

# Loki's compactor deletes; the lifecycle only removes what it has missed, so it has to come later.
LIFECYCLE_MARGIN_DAYS = 30
UPLOAD_DAYS = 7


def lifecycle_days(retentions: Sequence[str]) -> int:
    """Days after which the bucket deletes what Loki should have deleted: behind the longest retention of all."""
    longest = max(int(text[:-1]) * HOURS[text[-1]] for text in retentions)
    return -(-longest // HOURS["d"]) + LIFECYCLE_MARGIN_DAYS


class LogBucket(pulumi.ComponentResource):
    """Loki's bucket and its role, which may use this bucket and nothing else."""

    role_arn: pulumi.Output[str]
    """Of the role."""

    made: list[pulumi.Resource]
    """What has to be there before Loki starts."""

    def __init__(
        self,
        name: str,
        store: S3Store,
        identities: Identities,
        *,
        key: str | None,
        days: int,
        protection: bool,
        agent: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares them.

        Args:
            name: logical name.
            store: `layer.logs.store`.
            identities: of the cluster.
            key: KMS key; None: keys of S3's own.
            days: after which objects expire.
            protection: whether the engine refuses to delete the bucket; without it, it goes with all lines.
            agent: the add-on that hands the role to pods, if that is how.
            opts: options of this component.
        """
        super().__init__("shared-observability:cluster:LogBucket", name, None, opts)
        self._store, self._region, self._tags = store, identities.region, identities.tags
        options = pulumi.ResourceOptions(parent=self)
        role = PodRole(
            f"{name}-role",
            identities,
            namespace=names.LAYER_NAMESPACE,
            account=names.LOKI,
            inline=documents.uses_bucket(identities.region, store.bucket, key),
            opts=options,
        )
        self.role_arn = role.arn
        self.made = [*role.ready]
        if store.made_by == "program":
            self.made += self._declare_bucket(key, days, protection)
        if identities.provider is None:
            self.made.append(
                aws.eks.PodIdentityAssociation(
                    f"{name}-role",
                    cluster_name=identities.cluster,
                    namespace=names.LAYER_NAMESPACE,
                    service_account=names.LOKI,
                    role_arn=role.arn,
                    tags=identities.tags,
                    opts=pulumi.ResourceOptions(parent=self, depends_on=list(agent)),
                )
            )
        self.register_outputs({})

    def _declare_bucket(self, key: str | None, days: int, protection: bool) -> list[pulumi.Resource]:
        name, options = self._store.bucket, pulumi.ResourceOptions(parent=self)
        bucket = aws.s3.Bucket(
            name,
            bucket=name,
            force_destroy=not protection,
            tags=self._tags,
            opts=pulumi.ResourceOptions(parent=self, protect=protection),
        )
        owned = aws.s3.BucketOwnershipControls(
            f"{name}-ownership",
            bucket=bucket.bucket,
            rule=aws.s3.BucketOwnershipControlsRuleArgs(object_ownership="BucketOwnerEnforced"),
            opts=options,
        )
        closed = aws.s3.BucketPublicAccessBlock(
            f"{name}-public-access",
            bucket=bucket.bucket,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=options,
        )
        policy = aws.s3.BucketPolicy(
            f"{name}-tls",
            bucket=bucket.bucket,
            policy=documents.text(documents.refuses_plain_http(self._region, name)),
            # S3 refuses two changes of a bucket's policy and its public access at the same time.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[closed]),
        )
        made = [bucket, owned, closed, policy]
        return [*made, self._encrypt(bucket, key), self._expire(bucket, days)]

    def _encrypt(self, bucket: aws.s3.Bucket, key: str | None) -> pulumi.Resource:
        default = aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
            sse_algorithm="aws:kms" if key else "AES256", kms_master_key_id=key
        )
        return aws.s3.BucketServerSideEncryptionConfiguration(
            f"{self._store.bucket}-encryption",
            bucket=bucket.bucket,
            rules=[
                aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
                    apply_server_side_encryption_by_default=default, bucket_key_enabled=key is not None
                )
            ],
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _expire(self, bucket: aws.s3.Bucket, days: int) -> pulumi.Resource:
        """Of the whole bucket, since chunks have their tenant's name first: so only what is older than any line."""
        return aws.s3.BucketLifecycleConfiguration(
            f"{self._store.bucket}-lifecycle",
            bucket=bucket.bucket,
            rules=[
                aws.s3.BucketLifecycleConfigurationRuleArgs(
                    id="behind-retention",
                    status="Enabled",
                    filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix=""),
                    expiration=aws.s3.BucketLifecycleConfigurationRuleExpirationArgs(days=days),
                    abort_incomplete_multipart_upload=(
                        aws.s3.BucketLifecycleConfigurationRuleAbortIncompleteMultipartUploadArgs(
                            days_after_initiation=UPLOAD_DAYS
                        )
                    ),
                )
            ],
            opts=pulumi.ResourceOptions(parent=self),
        )


def declare_volume_class(
    wanted: VolumeClass,
    owner: Owner,
    *,
    key: str | None,
    tags: Mapping[str, str],
    opts: pulumi.ResourceOptions,
) -> StorageClass:
    """Encrypted gp3 volumes, made in the zone of the pod that wants them. Not the cluster's default class: that is not
    the layer's to choose.

    Args:
        wanted: its name, its driver, and what that driver can do.
        owner: the stack.
        key: KMS key; None: the account's default key for EBS.
        tags: of each volume, where the driver may set them.
        opts: options of the object.
    """
    tagged = {
        f"tagSpecification_{number}": f"{name}={value}"
        for number, (name, value) in enumerate(sorted(tags.items()), start=1)
        if wanted.takes_tags
    }
    return StorageClass(
        wanted.name,
        metadata=owner.metadata(wanted.name),
        provisioner=wanted.driver,
        parameters={"type": "gp3", "encrypted": "true", **({"kmsKeyId": key} if key else {}), **tagged},
        allowed_topologies=[_nodes_of(wanted.compute_type)] if wanted.compute_type else None,
        reclaim_policy="Delete",
        volume_binding_mode="WaitForFirstConsumer",
        allow_volume_expansion=True,
        opts=opts,
    )


def _nodes_of(compute_type: str) -> core.TopologySelectorTermArgs:
    label = core.TopologySelectorLabelRequirementArgs(key=COMPUTE_TYPE_LABEL, values=[compute_type])
    return core.TopologySelectorTermArgs(match_label_expressions=[label])
