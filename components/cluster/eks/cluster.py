"""A cluster on EKS, composed: one that is there, or control plane, add-ons and nodes in their order."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from components.cluster.eks import documents, plans
from components.cluster.eks.addons import AddOns
from components.cluster.eks.cloud import Cloud
from components.cluster.eks.control_plane import ControlPlane
from components.cluster.eks.facts import ClusterFacts
from components.cluster.eks.identity import ROLE_ANNOTATION, Identities
from components.cluster.eks.kubeconfig import identity, kubeconfig
from components.cluster.eks.node_groups import NodeGroups
from components.cluster.eks.storage import LogBucket, lifecycle_days
from components.cluster.eks.tags import aws_tags
from components.settings.eks import EksCreate, EksTarget
from components.settings.model import LogStore, S3Store, Settings


class EksCluster(pulumi.ComponentResource):
    """The cluster, with what the layer needs in AWS."""

    kubeconfig: pulumi.Input[str]
    """As JSON, without a secret."""

    identity: pulumi.Input[str]
    """What tells this cluster from all others; known before, but for a cluster that does not exist yet."""

    ready: list[pulumi.Resource]
    """What has to be there before the first Kubernetes object, and to stay until the last one is gone."""

    account_annotations: Mapping[str, pulumi.Input[str]]
    """On Loki's service account."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        target: EksTarget,
        cloud: Cloud,
        *,
        stack: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declares what is not there.

        Args:
            name: logical name.
            settings: the environment.
            target: `cluster.target`.
            cloud: provider and what was found.
            stack: which owns all of it.
            opts: options of this component.
        """
        super().__init__("shared-observability:cluster:EksCluster", name, None, opts)
        self._name, self._settings, self._target, self._cloud = name, settings, target, cloud
        self._tags = aws_tags(settings, target, stack)
        self.ready, self.account_annotations, self._agent = [], {}, list[pulumi.Resource]()
        identities = self._create(target.create) if target.create else self._use(cloud.facts.cluster)
        self._declare_log_bucket(identities)
        self.register_outputs({})

    def _create(self, create: EksCreate) -> Identities:
        protection = self._settings.layer.protection
        options = pulumi.ResourceOptions(parent=self)
        plane = ControlPlane(
            self._name, self._target, create, protection=protection, tags=self._tags, opts=options
        )
        cluster = plane.cluster
        identities = self._identities_of(cluster)
        settings, data_key = self._settings.cluster, self._target.data_key
        before = self._add_ons("before-nodes", plans.before_nodes(settings, self._target), identities, [])
        nodes = NodeGroups(
            self._name,
            plans.managed_groups(settings, self._target),
            region=self._target.region,
            cluster=cluster.name,
            version=create.version,
            volume_key=data_key,
            tags=self._tags,
            needs=before,
            opts=options,
        )
        after = self._add_ons("after-nodes", plans.after_nodes(settings), identities, nodes.made)
        self._agent = before if identities.provider is None else []
        self.ready += [cluster, *plane.access, *before, *nodes.made, *after]
        self.identity = pulumi.Output.all(arn=cluster.arn, created_at=cluster.created_at).apply(
            lambda known: identity(known["arn"], known["created_at"])
        )
        self.kubeconfig = pulumi.Output.all(
            endpoint=cluster.endpoint, authority=cluster.certificate_authority.apply(lambda found: found.data)
        ).apply(
            lambda known: kubeconfig(
                self._target,
                name=create.name,
                endpoint=known["endpoint"],
                authority=known["authority"],
            )
        )
        return identities

    def _identities_of(self, cluster: aws.eks.Cluster) -> Identities:
        region = self._target.region
        if self._target.identity == "podIdentity":
            return Identities(region, cluster.name, cluster.arn, tags=self._tags)
        issuer = cluster.identities[0].oidcs[0].issuer.apply(str)
        provider = aws.iam.OpenIdConnectProvider(
            f"{self._name}-oidc",
            url=issuer,
            client_id_lists=["sts.amazonaws.com"],
            tags=self._tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return Identities(
            region, cluster.name, cluster.arn, issuer=issuer, provider=provider.arn, tags=self._tags
        )

    def _add_ons(
        self,
        name: str,
        planned: Sequence[plans.AddOnPlan],
        identities: Identities,
        needs: Sequence[pulumi.Resource],
    ) -> list[pulumi.Resource]:
        return AddOns(
            f"{self._name}-{name}",
            planned,
            identities,
            versions=self._cloud.versions,
            kubernetes=self._target.create.version if self._target.create else "",
            volume_key=self._target.data_key,
            needs=needs,
            opts=pulumi.ResourceOptions(parent=self),
        ).made

    def _use(self, found: ClusterFacts | None) -> Identities:
        if found is None:
            raise ValueError("an existing cluster was to be refused by checks.py where it could not be read")
        self.identity = identity(found.arn, found.created_at)
        self.kubeconfig = kubeconfig(
            self._target, name=found.name, endpoint=found.endpoint, authority=found.authority
        )
        by_token = self._target.identity == "irsa"
        return Identities(
            self._target.region,
            found.name,
            found.arn,
            issuer=found.issuer,
            provider=documents.oidc_provider(found.arn, found.issuer) if by_token else None,
            tags=self._tags,
        )

    def _declare_log_bucket(self, identities: Identities) -> None:
        logs, tenants = self._settings.layer.logs, self._settings.tenants.values()
        if not isinstance(logs, LogStore) or not isinstance(logs.store, S3Store):
            return
        retentions = [logs.retention, *(tenant.retention for tenant in tenants if tenant.retention)]
        bucket = LogBucket(
            f"{self._name}-logs-bucket",
            logs.store,
            identities,
            key=self._target.data_key,
            days=lifecycle_days(retentions),
            protection=self._settings.layer.protection,
            agent=self._agent,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.ready += bucket.made
        if identities.provider is not None:
            self.account_annotations = {ROLE_ANNOTATION: bucket.role_arn}
