"""EC2 launch templates, tags of Auto Scaling groups, and CloudWatch log groups."""

from tests.support.aws.kind import Client, Kind, as_pairs, removed
from tests.support.aws.wire import Args

# --- launch templates ---

TEMPLATE_DATA = {
    "blockDeviceMappings": "LaunchTemplateData.BlockDeviceMappings",
    "metadataOptions": "LaunchTemplateData.MetadataOptions",
    "tagSpecifications": "LaunchTemplateData.TagSpecifications",
    "userData": "LaunchTemplateData.UserData",
    "imageId": "LaunchTemplateData.ImageId",
}


def _new_version(client: Client, _old: Args, new: Args) -> None:
    key = {"LaunchTemplateId": new["_id"]}
    made = client.create_launch_template_version(
        **key, LaunchTemplateData=new["_create"]["LaunchTemplateData"]
    )
    if new.get("updateDefaultVersion"):
        number = str(made["LaunchTemplateVersion"]["VersionNumber"])
        client.modify_launch_template(**key, DefaultVersion=number)


def _retag(client: Client, old: Args, new: Args) -> None:
    gone = [{"Key": key} for key in removed(old, new, "tags")]
    if gone:
        client.delete_tags(Resources=[new["_id"]], Tags=gone)
    if new.get("tags"):
        client.create_tags(Resources=[new["_id"]], Tags=as_pairs(new["tags"]))


LAUNCH_TEMPLATE = Kind(
    "ec2",
    "create_launch_template",
    "describe_launch_template_versions",
    "delete_launch_template",
    "{r[LaunchTemplate][LaunchTemplateId]}",
    key=lambda i: {"LaunchTemplateId": i["_id"], "Versions": ["$Latest"]},
    delete_key=lambda i: {"LaunchTemplateId": i["_id"]},
    found="LaunchTemplateVersions.0",
    inside="LaunchTemplateData",
    names="name",
    renames={"name": "LaunchTemplateName", **TEMPLATE_DATA},
    apart=("tags", "updateDefaultVersion"),
    after=_retag,  # moto would take tags of the call for tags of what the template makes
    updates={**dict.fromkeys(TEMPLATE_DATA, _new_version), "tags": _retag},
    outputs=lambda d, _: {
        "arn": f"arn:aws:ec2:::launch-template/{d['LaunchTemplateId']}",
        "latestVersion": d["VersionNumber"],
        "defaultVersion": d["VersionNumber"],
    },
    tagged=True,
)

# --- tags of Auto Scaling groups ---


def _scaling_tag_key(inputs: Args) -> Args:
    tag = inputs["tag"]
    return {"Tags": [{**_scaling_group(inputs), "Key": tag["key"]}]}


def _scaling_group(inputs: Args) -> Args:
    return {"ResourceId": inputs["autoscalingGroupName"], "ResourceType": "auto-scaling-group"}


def _scaling_tag(inputs: Args) -> Args:
    tag = inputs["tag"]
    given = {"Key": tag["key"], "Value": tag["value"], "PropagateAtLaunch": tag["propagateAtLaunch"]}
    return {"Tags": [{**_scaling_group(inputs), **given}]}


SCALING_TAG = Kind(
    "autoscaling",
    "create_or_update_tags",
    "describe_tags",
    "delete_tags",
    "{autoscalingGroupName},{tag[key]}",
    key=lambda i: {
        "Filters": [
            {"Name": "auto-scaling-group", "Values": [i["autoscalingGroupName"]]},
            {"Name": "key", "Values": [i["tag"]["key"]]},
        ]
    },
    delete_key=_scaling_tag_key,
    apart=("autoscalingGroupName", "tag"),
    extra=_scaling_tag,
    updates={"tag": lambda c, _, n: c.create_or_update_tags(**_scaling_tag(n))},
    present=lambda r, i: i["tag"]["value"] in [tag["Value"] for tag in r["Tags"]],
)

# --- log groups ---


def _retention(client: Client, _old: Args, new: Args) -> None:
    name = new["name"]
    if new.get("retentionInDays"):
        client.put_retention_policy(logGroupName=name, retentionInDays=new["retentionInDays"])


def _log_group_tags(client: Client, old: Args, new: Args) -> None:
    gone = removed(old, new, "tags")
    if gone:
        client.untag_log_group(logGroupName=new["name"], tags=gone)
    if new.get("tags"):
        client.tag_log_group(logGroupName=new["name"], tags=new["tags"])


LOG_GROUP = Kind(
    "logs",
    "create_log_group",
    "describe_log_groups",
    "delete_log_group",
    "{name}",
    key=lambda i: {"logGroupNamePrefix": i["name"]},
    delete_key=lambda i: {"logGroupName": i["name"]},
    found="logGroups.0",
    names="name",
    renames={"name": "logGroupName"},
    create_apart=("retentionInDays",),
    after=_retention,
    updates={"retentionInDays": _retention, "tags": _log_group_tags},
    outputs=lambda d, _: {"arn": d["arn"]},
    tagged=True,
)

KINDS = {
    "aws:ec2/launchTemplate:LaunchTemplate": LAUNCH_TEMPLATE,
    "aws:autoscaling/tag:Tag": SCALING_TAG,
    "aws:cloudwatch/logGroup:LogGroup": LOG_GROUP,
}
