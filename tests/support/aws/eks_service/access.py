"""EKS access entries, access policies and pod identity associations."""

import uuid

from tests.support.aws.eks_service.common import (
    ActionResult,
    Object,
    Request,
    arn,
    children,
    cluster_name,
    cluster_of,
    in_use,
    not_found,
    now,
    one,
    param,
    refused,
)

BY_ENTRIES = {"API", "API_AND_CONFIG_MAP"}

# --- access entries ---


def create_access_entry(request: Request) -> ActionResult:
    if cluster_of(request).access_config["authenticationMode"] not in BY_ENTRIES:
        raise refused(
            "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this "
            "operation."
        )
    who = str(param(request, "principalArn"))
    entry = new_entry(request, who, param(request, "type") or "STANDARD")
    entry["kubernetesGroups"] = param(request, "kubernetesGroups") or []
    entry["username"] = param(request, "username") or who
    entry["tags"] = param(request, "tags") or {}
    return ActionResult({"accessEntry": entry})


def new_entry(request: Request, who: str, kind: str) -> Object:
    """Keeps an entry for a principal; EKS makes one itself for the role of a managed group's nodes."""
    things = children(request, "access")
    if who in things:
        raise in_use("The specified access entry resource is already in use on this cluster.")
    things[who] = {
        "clusterName": cluster_name(request),
        "principalArn": who,
        "type": kind,
        "kubernetesGroups": [],
        "username": who,
        "accessEntryArn": arn(request, "access-entry", who.rsplit("/", maxsplit=1)[-1]),
        "createdAt": now(),
        "modifiedAt": now(),
        "tags": {},
    }
    return things[who]


def describe_access_entry(request: Request) -> ActionResult:
    return ActionResult({"accessEntry": _entry(request)})


def list_access_entries(request: Request) -> ActionResult:
    return ActionResult({"accessEntries": sorted(children(request, "access"))})


def update_access_entry(request: Request) -> ActionResult:
    entry = _entry(request)
    entry["kubernetesGroups"] = param(request, "kubernetesGroups") or []
    return ActionResult({"accessEntry": entry})


def delete_access_entry(request: Request) -> ActionResult:
    entry = _entry(request)
    del children(request, "access")[entry["principalArn"]]
    return ActionResult({})


def _entry(request: Request) -> Object:
    return one(children(request, "access"), param(request, "principalArn"))


# --- access policies ---


def associate_access_policy(request: Request) -> ActionResult:
    entry = _entry(request)
    policy = {
        "policyArn": param(request, "policyArn"),
        "accessScope": param(request, "accessScope"),
        "associatedAt": now(),
        "modifiedAt": now(),
    }
    children(request, "policies")[f"{entry['principalArn']} {policy['policyArn']}"] = policy
    answer = {"clusterName": entry["clusterName"], "principalArn": entry["principalArn"]}
    return ActionResult({**answer, "associatedAccessPolicy": policy})


def list_associated_access_policies(request: Request) -> ActionResult:
    who = _entry(request)["principalArn"]
    policies = children(request, "policies").items()
    mine = [policy for key, policy in policies if key.startswith(f"{who} ")]
    answer = {"clusterName": cluster_name(request), "principalArn": who}
    return ActionResult({**answer, "associatedAccessPolicies": mine})


def disassociate_access_policy(request: Request) -> ActionResult:
    key = f"{param(request, 'principalArn')} {param(request, 'policyArn')}"
    one(children(request, "policies"), key)
    del children(request, "policies")[key]
    return ActionResult({})


# --- pod identity ---


def create_pod_identity_association(request: Request) -> ActionResult:
    namespace, account = param(request, "namespace"), param(request, "serviceAccount")
    association = associate(request, namespace, account, param(request, "roleArn"))
    association["tags"] = param(request, "tags") or {}
    return ActionResult({"association": association})


def associate(request: Request, namespace: str, account: str, role: str) -> Object:
    """Gives a service account a role; EKS does so itself for the accounts of its add-ons."""
    things = children(request, "pod_identity")
    if any(
        (thing["namespace"], thing["serviceAccount"]) == (namespace, account) for thing in things.values()
    ):
        raise in_use(f"Association already exists: {namespace}/{account}")
    _check_role(request, role)
    identifier = "a-" + uuid.uuid4().hex[:17]
    things[identifier] = {
        "clusterName": cluster_name(request),
        "namespace": namespace,
        "serviceAccount": account,
        "roleArn": role,
        "associationId": identifier,
        "associationArn": f"{arn(request, 'podidentityassociation').rpartition('/')[0]}/{identifier}",
        "tags": {},
        "createdAt": now(),
        "modifiedAt": now(),
    }
    return things[identifier]


def describe_pod_identity_association(request: Request) -> ActionResult:
    return ActionResult({"association": _association(request)})


def list_pod_identity_associations(request: Request) -> ActionResult:
    wanted = {key: param(request, key) for key in ("namespace", "serviceAccount") if param(request, key)}
    things = children(request, "pod_identity").values()
    return ActionResult({"associations": [one for one in things if wanted.items() <= one.items()]})


def update_pod_identity_association(request: Request) -> ActionResult:
    _check_role(request, param(request, "roleArn"))
    association = _association(request)
    association["roleArn"] = param(request, "roleArn")
    return ActionResult({"association": association})


def delete_pod_identity_association(request: Request) -> ActionResult:
    association = _association(request)
    del children(request, "pod_identity")[association["associationId"]]
    return ActionResult({"association": association})


def _association(request: Request) -> Object:
    return one(children(request, "pod_identity"), param(request, "associationId"))


def _check_role(request: Request, role_arn: str) -> None:
    """EKS passes the role on, so it must exist, and let EKS's pods take it."""
    from moto.iam.models import iam_backends  # noqa: PLC0415 - moto is slow to import

    roles = iam_backends[request.current_account]["aws"].roles.values()
    role = next((role for role in roles if role.arn == role_arn), None)
    if role is None:
        raise not_found(f"Role provided in the request does not exist: {role_arn}")
    if "pods.eks.amazonaws.com" not in str(role.assume_role_policy_document):
        raise refused(f"Trust policy of role {role_arn} does not allow pods.eks.amazonaws.com")
