"""EKS add-ons: which there are for which cluster version, and what the CNI's configuration may hold."""

import json

import jsonschema

from tests.support.aws.eks_service.access import associate
from tests.support.aws.eks_service.common import (
    VERSIONS,
    ActionResult,
    Object,
    Request,
    arn,
    children,
    cluster_name,
    cluster_of,
    in_use,
    invalid,
    now,
    one,
    param,
    update,
)

CNI = "vpc-cni"
SYSTEM = "kube-system"  # of all add-ons here
# Newest first; a version is for every cluster version but those of kube-proxy, which carry theirs.
ADDONS = {
    CNI: ("v1.22.4-eksbuild.1", "v1.21.1-eksbuild.7", "v1.20.4-eksbuild.1"),
    "coredns": ("v1.13.2-eksbuild.4", "v1.12.4-eksbuild.1"),
    "kube-proxy": tuple(f"v{version}.0-eksbuild.2" for version in reversed(VERSIONS)),
    "eks-pod-identity-agent": ("v1.3.10-eksbuild.2", "v1.3.9-eksbuild.3"),
    "aws-ebs-csi-driver": ("v1.56.0-eksbuild.1", "v1.51.0-eksbuild.1"),
    "metrics-server": ("v0.8.1-eksbuild.1",),
}
TEXT = {"type": "string"}
SWITCH = {"type": "string", "enum": ["true", "false"]}
# Of the schema that describe-addon-configuration gives, the keys in use: values are texts, unknown keys are refused.
CNI_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "enableNetworkPolicy": SWITCH,
        "env": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "ENABLE_PREFIX_DELEGATION": TEXT,
                "WARM_PREFIX_TARGET": TEXT,
                "WARM_IP_TARGET": TEXT,
                "MINIMUM_IP_TARGET": TEXT,
                "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": TEXT,
                "ENI_CONFIG_LABEL_DEF": TEXT,
                "NETWORK_POLICY_ENFORCING_MODE": TEXT,
            },
        },
        "nodeAgent": {"type": "object"},
        "resources": {"type": "object"},
        "tolerations": {"type": "array"},
    },
}


def versions(name: str, cluster_version: str) -> tuple[str, ...]:
    """An add-on's versions for a cluster's version, newest first."""
    if name != "kube-proxy":
        return ADDONS[name]
    return tuple(version for version in ADDONS[name] if version.startswith(f"v{cluster_version}."))


def create_addon(request: Request) -> ActionResult:
    things, name, version = children(request, "addons"), str(param(request, "addonName")), _version(request)
    if name in things:
        raise in_use(f"Addon already exists: {name}")
    things[name] = {
        "addonName": name,
        "clusterName": cluster_name(request),
        "addonVersion": version,
        "status": "ACTIVE",
        "addonArn": arn(request, "addon", name),
        "createdAt": now(),
        "modifiedAt": now(),
        "configurationValues": _configuration(request),
        "serviceAccountRoleArn": param(request, "serviceAccountRoleArn"),
        "tags": param(request, "tags") or {},
        "health": {"issues": []},
        "podIdentityAssociations": _associations(request),
    }
    return ActionResult({"addon": things[name]})


def describe_addon(request: Request) -> ActionResult:
    return ActionResult({"addon": one(children(request, "addons"), param(request, "addonName"))})


def list_addons(request: Request) -> ActionResult:
    return ActionResult({"addons": sorted(children(request, "addons"))})


def update_addon(request: Request) -> ActionResult:
    thing = one(children(request, "addons"), param(request, "addonName"))
    if param(request, "addonVersion"):
        thing["addonVersion"] = _version(request)
    if param(request, "configurationValues") is not None:
        thing["configurationValues"] = _configuration(request)
    if param(request, "serviceAccountRoleArn") is not None:
        thing["serviceAccountRoleArn"] = param(request, "serviceAccountRoleArn")
    if param(request, "podIdentityAssociations") is not None:
        thing["podIdentityAssociations"] = _associations(request)
    return update("AddonUpdate")


def delete_addon(request: Request) -> ActionResult:
    things, name = children(request, "addons"), str(param(request, "addonName"))
    gone = one(things, name)
    _dissociate(request)
    del things[name]
    return ActionResult({"addon": {**gone, "status": "DELETING"}})


def describe_addon_versions(request: Request) -> ActionResult:
    name, wanted = param(request, "addonName"), param(request, "kubernetesVersion")
    cluster_versions = [version for version in VERSIONS if wanted in (None, version)]
    listed = [
        {"addonName": addon, "addonVersions": _listed(addon, cluster_versions)}
        for addon in ADDONS
        if name in (None, addon)
    ]
    return ActionResult({"addons": [addon for addon in listed if addon["addonVersions"]]})


def _listed(addon: str, cluster_versions: list[str]) -> list[Object]:
    listed = []
    for version in ADDONS[addon]:
        compatible = [
            {"clusterVersion": cluster, "defaultVersion": version == versions(addon, cluster)[0]}
            for cluster in cluster_versions
            if version in versions(addon, cluster)
        ]
        if compatible:
            listed.append({"addonVersion": version, "compatibilities": compatible})
    return listed


def _version(request: Request) -> str:
    name, version = str(param(request, "addonName")), param(request, "addonVersion")
    if name not in ADDONS:
        raise invalid(f"Addon {name} specified is not supported")
    known = versions(name, cluster_of(request).version)
    if version and version not in known:
        raise invalid("Addon version specified is not supported")
    return str(version or known[0])


def _configuration(request: Request) -> str | None:
    text = param(request, "configurationValues")
    if text is None:
        return None
    try:
        values = json.loads(text)
        if param(request, "addonName") == CNI:
            jsonschema.validate(values, CNI_SCHEMA)
    except (json.JSONDecodeError, jsonschema.ValidationError) as error:
        raise invalid(
            f"ConfigurationValue provided in request is not supported: {str(error).splitlines()[0]}"
        ) from None
    return str(text)


def _associations(request: Request) -> list[str]:
    """The roles of its service accounts; those that it had before are gone."""
    _dissociate(request)
    given = param(request, "podIdentityAssociations") or []
    made = [associate(request, SYSTEM, one["serviceAccount"], one["roleArn"]) for one in given]
    return [str(association["associationArn"]) for association in made]


def _dissociate(request: Request) -> None:
    addon = children(request, "addons").get(str(param(request, "addonName")), {})
    things = children(request, "pod_identity")
    for arn_ in addon.get("podIdentityAssociations", []):
        things.pop(arn_.rsplit("/", maxsplit=1)[-1], None)
