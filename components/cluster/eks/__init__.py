"""A cluster on EKS: what is asked of AWS, what is made there, and how the cluster is reached.

Resource types, all through the one explicit provider `aws` (region stated, tags and names stated):
    always              pulumi:providers:aws
    create              iam Role, RolePolicy, RolePolicyAttachment; cloudwatch LogGroup; eks Cluster, AccessEntry,
                        AccessPolicyAssociation, Addon (vpc-cni and aws-ebs-csi-driver with podIdentityAssociations),
                        NodeGroup; ec2 LaunchTemplate (without image); autoscaling Tag (groups with bounds);
                        iam OpenIdConnectProvider (identity: irsa)
    logs in S3          s3 Bucket, BucketOwnershipControls, BucketPublicAccessBlock, BucketPolicy,
                        BucketServerSideEncryptionConfiguration, BucketLifecycleConfiguration; iam Role, RolePolicy;
                        eks PodIdentityAssociation (identity: podIdentity)
Invokes: eks getClusters, getCluster, getClusterVersions, getAddonVersion, getNodeGroups, getNodeGroup;
    ec2 getInstanceTypeOfferings, getInstanceType, getSubnet; s3 getBucket; iam getOpenIdConnectProvider.
The AWS CLI (it is what the kubeconfig calls, so it has to be there): `sts get-caller-identity`, `eks get-token`, and
    `eks describe-cluster` for `make why` and its like.
Of the cluster itself, by kubectl: Node, and in kube-system the DaemonSets aws-node,
    eks-pod-identity-agent and ebs-csi-node.
"""
