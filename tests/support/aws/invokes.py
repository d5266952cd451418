"""The provider's functions that the stand-in knows: each asks AWS, and answers under Pulumi's names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.aws.kind import Client
from tests.support.aws.kinds_eks import cluster_outputs
from tests.support.aws.wire import Args, RefusedError

Clients = Callable[[str], Client]


@dataclass(frozen=True)
class Invoke:
    """One function: the arguments that it knows, beside `region`, and what answers it."""

    arguments: frozenset[str]
    answer: Callable[[Clients, Args, str], Args]


def call(clients: Clients, token: str, arguments: Args, region: str) -> Args:
    """What AWS says.

    Raises:
        RefusedError: the function, or an argument of it, is not known to the stand-in.
    """
    if token not in INVOKES:
        raise RefusedError(
            f"{token} is not known to the stand-in for AWS: add it to tests/support/aws/invokes.py, or do not use it"
        )
    invoke = INVOKES[token]
    unknown = set(arguments) - invoke.arguments - {"region"}
    if unknown:
        raise RefusedError(f"{token}: not known to the stand-in for AWS: {', '.join(sorted(unknown))}")
    return {"region": region, **arguments, **invoke.answer(clients, arguments, region)}


# --- EKS ---


def _cluster(clients: Clients, given: Args, _region: str) -> Args:
    found = clients("eks").describe_cluster(name=given["name"])["cluster"]
    outputs = cluster_outputs(found, {"vpcConfig": found["resourcesVpcConfig"]})
    return {
        **outputs,
        "id": given["name"],
        "certificateAuthorities": [found["certificateAuthority"]],
        "roleArn": found["roleArn"],
        "accessConfigs": [found["accessConfig"]],
        "tags": found.get("tags", {}),
        "deletionProtection": found.get("deletionProtection", False),
    }


def _clusters(clients: Clients, _given: Args, region: str) -> Args:
    return {"id": region, "names": clients("eks").list_clusters()["clusters"]}


def _node_groups(clients: Clients, given: Args, region: str) -> Args:
    names = clients("eks").list_nodegroups(clusterName=given["clusterName"])["nodegroups"]
    return {"id": given["clusterName"], "names": names}


def _node_group(clients: Clients, given: Args, _region: str) -> Args:
    key = {"clusterName": given["clusterName"], "nodegroupName": given["nodeGroupName"]}
    found = clients("eks").describe_nodegroup(**key)["nodegroup"]
    return {
        "id": f"{given['clusterName']}:{given['nodeGroupName']}",
        "arn": found["nodegroupArn"],
        "amiType": found["amiType"],
        "diskSize": found["diskSize"],
        "instanceTypes": found["instanceTypes"],
        "labels": found["labels"],
        "nodeRoleArn": found["nodeRole"],
        "scalingConfigs": [found["scalingConfig"]],
        "status": found["status"],
        "subnetIds": found["subnets"],
        "tags": found.get("tags", {}),
        "taints": found["taints"],
        "version": found["version"],
        "releaseVersion": found["releaseVersion"],
        "launchTemplates": [found["launchTemplate"]] if found.get("launchTemplate") else [],
        "updateConfigs": [found["updateConfig"]],
        "remoteAccesses": [],
        "resources": [],
    }


def _addon(clients: Clients, given: Args, _region: str) -> Args:
    key = {"clusterName": given["clusterName"], "addonName": given["addonName"]}
    found = clients("eks").describe_addon(**key)["addon"]
    return {
        "id": f"{given['clusterName']}:{given['addonName']}",
        "arn": found["addonArn"],
        "addonVersion": found["addonVersion"],
        "configurationValues": found.get("configurationValues") or "",
        "createdAt": found["createdAt"].isoformat(),
        "modifiedAt": found["modifiedAt"].isoformat(),
        "podIdentityAssociations": [],
        "serviceAccountRoleArn": found.get("serviceAccountRoleArn") or "",
        "tags": found.get("tags", {}),
    }


def _addon_version(clients: Clients, given: Args, _region: str) -> Args:
    asked = {"addonName": given["addonName"], "kubernetesVersion": given["kubernetesVersion"]}
    addons = clients("eks").describe_addon_versions(**asked)["addons"]
    if not addons:
        raise RefusedError(f"reading EKS Add-On version info ({given['addonName']}): empty result")
    versions = addons[0]["addonVersions"]
    default = next(v for v in versions if v["compatibilities"][0]["defaultVersion"])
    chosen = versions[0] if given.get("mostRecent") else default
    return {"id": given["addonName"], "version": chosen["addonVersion"]}


def _cluster_versions(clients: Clients, _given: Args, region: str) -> Args:
    found = clients("eks").describe_cluster_versions()["clusterVersions"]
    listed = [
        {
            "clusterVersion": version["clusterVersion"],
            "defaultVersion": version["defaultVersion"],
            "versionStatus": version["status"],
        }
        for version in found
    ]
    return {"id": region, "clusterVersions": listed}


# --- EC2 ---


def _instance_type(clients: Clients, given: Args, _region: str) -> Args:
    asked = {"InstanceTypes": [given["instanceType"]]}
    found = clients("ec2").describe_instance_types(**asked)["InstanceTypes"][0]
    network = found["NetworkInfo"]
    return {
        "id": given["instanceType"],
        "bareMetal": found["BareMetal"],
        "defaultNetworkCardIndex": network.get("DefaultNetworkCardIndex", 0),
        "defaultVcpus": found["VCpuInfo"]["DefaultVCpus"],
        "hypervisor": found.get("Hypervisor", ""),
        "maximumIpv4AddressesPerInterface": network["Ipv4AddressesPerInterface"],
        "maximumNetworkInterfaces": network["MaximumNetworkInterfaces"],
        "memorySize": found["MemoryInfo"]["SizeInMiB"],
        "networkCards": [
            {"index": card["NetworkCardIndex"], "maximumInterfaces": card["MaximumNetworkInterfaces"]}
            for card in network.get("NetworkCards", [])
        ],
        "supportedArchitectures": found["ProcessorInfo"]["SupportedArchitectures"],
    }


def _offerings(clients: Clients, given: Args, region: str) -> Args:
    arguments = {"LocationType": given["locationType"]} if "locationType" in given else {}
    asked = {**arguments, "Filters": _filters(given)}
    pages = clients("ec2").get_paginator("describe_instance_type_offerings").paginate(**asked)
    found = [offer for page in pages for offer in page["InstanceTypeOfferings"]]
    return {
        "id": region,
        "instanceTypes": [offer["InstanceType"] for offer in found],
        "locations": [offer["Location"] for offer in found],
        "locationTypes": [offer["LocationType"] for offer in found],
    }


def _subnet(clients: Clients, given: Args, _region: str) -> Args:
    found = clients("ec2").describe_subnets(SubnetIds=[given["id"]])["Subnets"][0]
    return {
        "id": found["SubnetId"],
        "arn": found["SubnetArn"],
        "availabilityZone": found["AvailabilityZone"],
        "availabilityZoneId": found["AvailabilityZoneId"],
        "availableIpAddressCount": found["AvailableIpAddressCount"],
        "cidrBlock": found["CidrBlock"],
        "mapPublicIpOnLaunch": found["MapPublicIpOnLaunch"],
        "state": found["State"],
        "tags": {tag["Key"]: tag["Value"] for tag in found.get("Tags", [])},
        "vpcId": found["VpcId"],
    }


def _subnets(clients: Clients, given: Args, region: str) -> Args:
    found = clients("ec2").describe_subnets(Filters=_filters(given))["Subnets"]
    return {"id": region, "ids": [subnet["SubnetId"] for subnet in found]}


def _filters(given: Args) -> list[dict[str, Any]]:
    """Terraform's filters, and tags, as AWS's filters."""
    filters = [{"Name": each["name"], "Values": each["values"]} for each in given.get("filters", [])]
    tags = [{"Name": f"tag:{key}", "Values": [value]} for key, value in given.get("tags", {}).items()]
    return [*filters, *tags]


# --- the account and its region ---


def _identity(clients: Clients, _given: Args, _region: str) -> Args:
    found = clients("sts").get_caller_identity()
    return {
        "id": found["Account"],
        "accountId": found["Account"],
        "arn": found["Arn"],
        "userId": found["UserId"],
    }


def _region(_clients: Clients, _given: Args, region: str) -> Args:
    return {"id": region, "name": region, "region": region, "description": region, "endpoint": ""}


def _partition(_clients: Clients, _given: Args, _region: str) -> Args:
    names = {"partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}
    return {"id": "aws", **names}


def _oidc_provider(clients: Clients, given: Args, _region: str) -> Args:
    host = given["url"].removeprefix("https://")
    iam = clients("iam")
    listed = [one["Arn"] for one in iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]]
    arn = next((arn for arn in listed if arn.endswith(f":oidc-provider/{host}")), None)
    if arn is None:
        raise RefusedError(f"finding IAM OIDC Provider by url ({given['url']}): not found")
    return {"id": arn, "arn": arn, "url": host, "clientIdLists": [], "thumbprintLists": [], "tags": {}}


def _bucket(clients: Clients, given: Args, region: str) -> Args:
    clients("s3").head_bucket(Bucket=given["bucket"])
    return {"id": given["bucket"], "arn": f"arn:aws:s3:::{given['bucket']}", "bucketRegion": region}


def _known(*arguments: str) -> frozenset[str]:
    return frozenset(arguments)


INVOKES = {
    "aws:eks/getClusters:getClusters": Invoke(_known(), _clusters),
    "aws:iam/getOpenIdConnectProvider:getOpenIdConnectProvider": Invoke(_known("url"), _oidc_provider),
    "aws:eks/getCluster:getCluster": Invoke(_known("name"), _cluster),
    "aws:eks/getNodeGroups:getNodeGroups": Invoke(_known("clusterName"), _node_groups),
    "aws:eks/getNodeGroup:getNodeGroup": Invoke(_known("clusterName", "nodeGroupName"), _node_group),
    "aws:eks/getAddon:getAddon": Invoke(_known("clusterName", "addonName"), _addon),
    "aws:eks/getAddonVersion:getAddonVersion": Invoke(
        _known("addonName", "kubernetesVersion", "mostRecent"), _addon_version
    ),
    "aws:eks/getClusterVersions:getClusterVersions": Invoke(_known(), _cluster_versions),
    "aws:ec2/getInstanceType:getInstanceType": Invoke(_known("instanceType"), _instance_type),
    "aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings": Invoke(
        _known("filters", "locationType"), _offerings
    ),
    "aws:ec2/getSubnet:getSubnet": Invoke(_known("id"), _subnet),
    "aws:ec2/getSubnets:getSubnets": Invoke(_known("filters", "tags"), _subnets),
    "aws:index/getCallerIdentity:getCallerIdentity": Invoke(_known(), _identity),
    "aws:index/getRegion:getRegion": Invoke(_known(), _region),
    "aws:index/getPartition:getPartition": Invoke(_known(), _partition),
    "aws:s3/getBucket:getBucket": Invoke(_known("bucket"), _bucket),
}
