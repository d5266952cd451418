"""EKS: clusters, node groups, add-ons, access, pod identity."""

from typing import Any

from tests.support.aws.kind import Client, Kind, Step, removed
from tests.support.aws.wire import Args

# Arguments of update_cluster_config's resourcesVpcConfig.
CLUSTER_NETWORK = (
    "subnetIds",
    "securityGroupIds",
    "endpointPublicAccess",
    "endpointPrivateAccess",
    "publicAccessCidrs",
)
# Pulumi's property to update_addon's argument.
ADDON_ARGUMENTS = {
    "addonVersion": "addonVersion",
    "configurationValues": "configurationValues",
    "serviceAccountRoleArn": "serviceAccountRoleArn",
    "resolveConflictsOnUpdate": "resolveConflicts",
    "podIdentityAssociations": "podIdentityAssociations",
}


def _tags(client: Client, old: Args, new: Args) -> None:
    gone = removed(old, new, "tags")
    if gone:
        client.untag_resource(resourceArn=new["_arn"], tagKeys=gone)
    if new.get("tags"):
        client.tag_resource(resourceArn=new["_arn"], tags=new["tags"])


# --- clusters ---


def _logging(inputs: Args) -> Args:
    return {"clusterLogging": [{"types": inputs.get("enabledClusterLogTypes", []), "enabled": True}]}


def _cluster_network(client: Client, _old: Args, new: Args) -> None:
    network = {key: value for key, value in new["vpcConfig"].items() if key in CLUSTER_NETWORK}
    client.update_cluster_config(name=new["name"], resourcesVpcConfig=network)


def _access_mode(client: Client, _old: Args, new: Args) -> None:
    mode = {"authenticationMode": new["accessConfig"]["authenticationMode"]}
    client.update_cluster_config(name=new["name"], accessConfig=mode)


def cluster_outputs(description: Args, inputs: Args) -> Args:
    """What AWS decides of a cluster."""
    network = description["resourcesVpcConfig"]
    return {
        "arn": description["arn"],
        "endpoint": description["endpoint"],
        "certificateAuthority": description["certificateAuthority"],
        "status": description["status"],
        "createdAt": description["createdAt"].isoformat(),
        "platformVersion": description["platformVersion"],
        "version": description["version"],
        "identities": [{"oidcs": [{"issuer": description["identity"]["oidc"]["issuer"]}]}],
        "vpcConfig": {
            **inputs["vpcConfig"],
            "clusterSecurityGroupId": network.get("clusterSecurityGroupId", ""),
            "vpcId": network.get("vpcId", ""),
        },
    }


CLUSTER = Kind(
    "eks",
    "create_cluster",
    "describe_cluster",
    "delete_cluster",
    "{name}",
    key=lambda i: {"name": i["name"]},
    found="cluster",
    names="name",
    renames={"vpcConfig": "resourcesVpcConfig"},
    apart=("enabledClusterLogTypes",),
    extra=lambda i: {"logging": _logging(i)} if i.get("enabledClusterLogTypes") else {},
    updates={
        "vpcConfig": _cluster_network,
        "accessConfig": _access_mode,
        "version": lambda c, _, n: c.update_cluster_version(name=n["name"], version=n["version"]),
        "deletionProtection": lambda c, _, n: c.update_cluster_config(
            name=n["name"], deletionProtection=n.get("deletionProtection", False)
        ),
        "enabledClusterLogTypes": lambda c, _, n: c.update_cluster_config(
            name=n["name"], logging=_logging(n)
        ),
        "tags": _tags,
    },
    outputs=cluster_outputs,
    tagged=True,
)

# --- node groups ---


def _group_key(inputs: Args) -> Args:
    return {"clusterName": inputs["clusterName"], "nodegroupName": inputs["nodeGroupName"]}


def _labels(client: Client, old: Args, new: Args) -> None:
    before, after = old.get("labels", {}), new.get("labels", {})
    changes = {
        "addOrUpdateLabels": {key: value for key, value in after.items() if before.get(key) != value},
        "removeLabels": removed(old, new, "labels"),
    }
    client.update_nodegroup_config(**_group_key(new), labels=changes)


def _taints(client: Client, old: Args, new: Args) -> None:
    def identity(taint: dict[str, Any]) -> tuple[str, str]:
        return taint["key"], taint["effect"]

    before, after = old.get("taints", []), new.get("taints", [])
    kept = {identity(taint) for taint in after}
    changes = {
        "addOrUpdateTaints": [taint for taint in after if taint not in before],
        "removeTaints": [taint for taint in before if identity(taint) not in kept],
    }
    client.update_nodegroup_config(**_group_key(new), taints=changes)


def _group_setting(property_: str) -> Step:
    return lambda c, _, n: c.update_nodegroup_config(**_group_key(n), **{property_: n[property_]})


def _group_version(client: Client, _old: Args, new: Args) -> None:
    """New nodes in place of the old ones."""
    given = {key: new[key] for key in ("version", "launchTemplate") if key in new}
    client.update_nodegroup_version(**_group_key(new), **given)


NODE_GROUP = Kind(
    "eks",
    "create_nodegroup",
    "describe_nodegroup",
    "delete_nodegroup",
    "{clusterName}:{nodeGroupName}",
    key=_group_key,
    found="nodegroup",
    names="nodeGroupName",
    renames={"nodeGroupName": "nodegroupName", "nodeRoleArn": "nodeRole", "subnetIds": "subnets"},
    updates={
        "labels": _labels,
        "taints": _taints,
        "scalingConfig": _group_setting("scalingConfig"),
        "updateConfig": _group_setting("updateConfig"),
        **dict.fromkeys(("version", "launchTemplate"), _group_version),
        "tags": _tags,
    },
    outputs=lambda d, _: {
        "arn": d["nodegroupArn"],
        "status": d["status"],
        "version": d["version"],
        "releaseVersion": d["releaseVersion"],
        "capacityType": d["capacityType"],
        "resources": [{"autoscalingGroups": d["resources"]["autoScalingGroups"]}],
    },
    tagged=True,
)

# --- add-ons ---


def _addon_key(inputs: Args) -> Args:
    return {"clusterName": inputs["clusterName"], "addonName": inputs["addonName"]}


def _addon(client: Client, _old: Args, new: Args) -> None:
    given = {name: new[prop] for prop, name in ADDON_ARGUMENTS.items() if prop in new}
    client.update_addon(**_addon_key(new), **given)


def _addon_roles(client: Client, description: Args) -> Args:
    """EKS names the associations of an add-on; role and account of each are another call's."""
    cluster, roles = description["clusterName"], []
    for arn in description.get("podIdentityAssociations", []):
        identifier = arn.rsplit("/", maxsplit=1)[-1]
        key = {"clusterName": cluster, "associationId": identifier}
        found = client.describe_pod_identity_association(**key)["association"]
        roles.append({"roleArn": found["roleArn"], "serviceAccount": found["serviceAccount"]})
    return {"podIdentityAssociations": roles}


ADDON = Kind(
    "eks",
    "create_addon",
    "describe_addon",
    "delete_addon",
    "{clusterName}:{addonName}",
    key=_addon_key,
    delete_key=lambda i: {**_addon_key(i), "preserve": i.get("preserve", False)},
    found="addon",
    complete=_addon_roles,
    renames={"resolveConflictsOnCreate": "resolveConflicts"},
    apart=("resolveConflictsOnUpdate", "preserve"),
    updates={
        **dict.fromkeys((*ADDON_ARGUMENTS, "resolveConflictsOnCreate", "preserve"), _addon),
        "tags": _tags,
    },
    outputs=lambda d, _: {
        "arn": d["addonArn"],
        "addonVersion": d["addonVersion"],
        "createdAt": d["createdAt"].isoformat(),
    },
    tagged=True,
)

# --- access ---


def _entry_key(inputs: Args) -> Args:
    return {"clusterName": inputs["clusterName"], "principalArn": inputs["principalArn"]}


ACCESS_ENTRY = Kind(
    "eks",
    "create_access_entry",
    "describe_access_entry",
    "delete_access_entry",
    "{clusterName}:{principalArn}",
    key=_entry_key,
    found="accessEntry",
    updates={
        "kubernetesGroups": lambda c, _, n: c.update_access_entry(
            **_entry_key(n), kubernetesGroups=n.get("kubernetesGroups", [])
        ),
        "tags": _tags,
    },
    outputs=lambda d, _: {
        "accessEntryArn": d["accessEntryArn"],
        "type": d["type"],
        "userName": d["username"],
    },
    tagged=True,
)
ACCESS_POLICY = Kind(
    "eks",
    "associate_access_policy",
    "list_associated_access_policies",
    "disassociate_access_policy",
    "{clusterName}#{principalArn}#{policyArn}",
    key=_entry_key,
    delete_key=lambda i: {**_entry_key(i), "policyArn": i["policyArn"]},
    present=lambda r, i: i["policyArn"] in [p["policyArn"] for p in r["associatedAccessPolicies"]],
)

# --- pod identity ---


def _association_key(inputs: Args) -> Args:
    return {"clusterName": inputs["clusterName"], "associationId": inputs["_id"]}


POD_IDENTITY = Kind(
    "eks",
    "create_pod_identity_association",
    "describe_pod_identity_association",
    "delete_pod_identity_association",
    "{r[association][associationId]}",
    key=_association_key,
    found="association",
    updates={
        "roleArn": lambda c, _, n: c.update_pod_identity_association(
            **_association_key(n), roleArn=n["roleArn"]
        ),
        "tags": _tags,
    },
    outputs=lambda d, _: {"associationArn": d["associationArn"], "associationId": d["associationId"]},
    tagged=True,
)

KINDS = {
    "aws:eks/cluster:Cluster": CLUSTER,
    "aws:eks/nodeGroup:NodeGroup": NODE_GROUP,
    "aws:eks/addon:Addon": ADDON,
    "aws:eks/accessEntry:AccessEntry": ACCESS_ENTRY,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": ACCESS_POLICY,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": POD_IDENTITY,
}
