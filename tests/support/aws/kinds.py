"""Every resource type that the stand-in knows; any other is refused. IAM and S3 are here, others in `kinds_*.py`."""

from tests.support.aws import kinds_compute, kinds_eks
from tests.support.aws.kind import Client, Kind, as_pairs, removed
from tests.support.aws.wire import Args, RefusedError

# --- IAM ---


def _role_tags(client: Client, old: Args, new: Args) -> None:
    gone = removed(old, new, "tags")
    if gone:
        client.untag_role(RoleName=new["name"], TagKeys=gone)
    if new.get("tags"):
        client.tag_role(RoleName=new["name"], Tags=as_pairs(new["tags"]))


ROLE = Kind(
    "iam",
    "create_role",
    "get_role",
    "delete_role",
    "{name}",
    key=lambda i: {"RoleName": i["name"]},
    found="Role",
    names="name",
    renames={"name": "RoleName", "assumeRolePolicy": "AssumeRolePolicyDocument"},
    apart=("forceDetachPolicies",),
    updates={
        "assumeRolePolicy": lambda c, _, n: c.update_assume_role_policy(
            RoleName=n["name"], PolicyDocument=n["assumeRolePolicy"]
        ),
        "description": lambda c, _, n: c.update_role(
            RoleName=n["name"], Description=n.get("description", "")
        ),
        "maxSessionDuration": lambda c, _, n: c.update_role(
            RoleName=n["name"], MaxSessionDuration=n["maxSessionDuration"]
        ),
        "tags": _role_tags,
    },
    outputs=lambda d, _: {
        "arn": d["Arn"],
        "uniqueId": d["RoleId"],
        "createDate": d["CreateDate"].isoformat(),
    },
    tagged=True,
)
ROLE_POLICY = Kind(
    "iam",
    "put_role_policy",
    "get_role_policy",
    "delete_role_policy",
    "{role}:{name}",
    key=lambda i: {"RoleName": i["role"], "PolicyName": i["name"]},
    names="name",
    put=True,
    renames={"role": "RoleName", "name": "PolicyName", "policy": "PolicyDocument"},
)
ROLE_POLICY_ATTACHMENT = Kind(
    "iam",
    "attach_role_policy",
    "list_attached_role_policies",
    "detach_role_policy",
    "{role}/{policyArn}",
    key=lambda i: {"RoleName": i["role"]},
    delete_key=lambda i: {"RoleName": i["role"], "PolicyArn": i["policyArn"]},
    renames={"role": "RoleName"},
    present=lambda r, i: i["policyArn"] in [p["PolicyArn"] for p in r["AttachedPolicies"]],
)

OIDC_PROVIDER = Kind(
    "iam",
    "create_open_id_connect_provider",
    "get_open_id_connect_provider",
    "delete_open_id_connect_provider",
    "{r[OpenIDConnectProviderArn]}",
    key=lambda i: {"OpenIDConnectProviderArn": i["_id"]},
    renames={"clientIdLists": "ClientIDList", "thumbprintLists": "ThumbprintList"},
    # AWS answers with the URL less its scheme.
    apart=("url",),
    extra=lambda i: {"Url": i["url"]},
    outputs=lambda _, i: {"arn": i["_id"], "url": i["url"]},
    tagged=True,
)

# --- S3 ---


def _bucket(inputs: Args) -> Args:
    return {"Bucket": inputs["bucket"]}


def _bucket_tags(client: Client, _old: Args, new: Args) -> None:
    if new.get("tags"):
        client.put_bucket_tagging(Bucket=new["bucket"], Tagging={"TagSet": as_pairs(new["tags"])})
    else:
        client.delete_bucket_tagging(Bucket=new["bucket"])


def _bucket_outputs(_description: Args, inputs: Args) -> Args:
    bucket, region = inputs["bucket"], inputs["region"]
    return {
        "arn": f"arn:aws:s3:::{bucket}",
        "bucketRegion": region,
        "bucketRegionalDomainName": f"{bucket}.s3.{region}.amazonaws.com",
    }


def _make_bucket_tags(client: Client, old: Args, new: Args) -> None:
    if new.get("tags"):
        _bucket_tags(client, old, new)


def _in_region(inputs: Args) -> Args:
    return {"CreateBucketConfiguration": {"LocationConstraint": inputs["region"]}}


BUCKET = Kind(
    "s3",
    "create_bucket",
    "head_bucket",
    "delete_bucket",
    "{bucket}",
    key=_bucket,
    names="bucket",
    apart=("forceDestroy", "tags"),
    extra=_in_region,
    after=_make_bucket_tags,
    updates={"tags": _bucket_tags, "forceDestroy": lambda *_: None},
    outputs=_bucket_outputs,
    tagged=True,
)


def _bucket_part(put: str, get: str, delete: str, renames: dict[str, str], found: str = "") -> Kind:
    """A resource that sets one aspect of a bucket."""
    return Kind("s3", put, get, delete, "{bucket}", key=_bucket, found=found, renames=renames, put=True)


S3 = {
    "aws:s3/bucket:Bucket": BUCKET,
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": _bucket_part(
        "put_bucket_encryption",
        "get_bucket_encryption",
        "delete_bucket_encryption",
        {"rules": "ServerSideEncryptionConfiguration.Rules"},
        "ServerSideEncryptionConfiguration",
    ),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _bucket_part(
        "put_public_access_block",
        "get_public_access_block",
        "delete_public_access_block",
        {"*": "PublicAccessBlockConfiguration"},
        "PublicAccessBlockConfiguration",
    ),
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": _bucket_part(
        "put_bucket_lifecycle_configuration",
        "get_bucket_lifecycle_configuration",
        "delete_bucket_lifecycle",
        {"rules": "LifecycleConfiguration.Rules"},
    ),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _bucket_part(
        "put_bucket_ownership_controls",
        "get_bucket_ownership_controls",
        "delete_bucket_ownership_controls",
        {"rule": "OwnershipControls.Rules"},
        "OwnershipControls",
    ),
    "aws:s3/bucketPolicy:BucketPolicy": _bucket_part(
        "put_bucket_policy", "get_bucket_policy", "delete_bucket_policy", {}
    ),
}
KINDS: dict[str, Kind] = {
    **kinds_eks.KINDS,
    **kinds_compute.KINDS,
    "aws:iam/role:Role": ROLE,
    "aws:iam/rolePolicy:RolePolicy": ROLE_POLICY,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": ROLE_POLICY_ATTACHMENT,
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": OIDC_PROVIDER,
    **S3,
}


def find(token: str) -> Kind:
    """What is known of a type.

    Raises:
        RefusedError: nothing is.
    """
    if token not in KINDS:
        raise RefusedError(
            f"{token} is not known to the stand-in for AWS: add it to tests/support/aws/kinds.py, or do not use it"
        )
    return KINDS[token]
