"""What counts as drift: every declared field, and what somebody added to rights, limits and texts; nothing else."""

import base64
import json
from typing import Any

import pytest

from commands.repair import replacements
from diagnosis.drift import Declared, Drift, Ref, declared, differences, drifts, ref
from diagnosis.report import drift_report

SIGNATURE = "4dabf18193072939515e22adb298388d"
Object = dict[str, Any]


def role(*verbs: str) -> Object:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": list(verbs)}]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "r"},
        "rules": rules,
    }


def config_map(**data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "n"},
        "data": data,
    }


def differing(wanted: Object, found: Object) -> list[str]:
    return list(differences(wanted, found))


def test_a_widened_role_a_new_subject_and_another_role_reference_are_drift() -> None:
    assert differing(role("get"), role("get", "delete")) == [
        "rules[0].verbs is a list of 2, declared a list of 1"
    ]
    assert differing(role("get"), role("delete")) == ['rules[0].verbs[0] is "delete", declared "get"']
    binding = {
        "kind": "RoleBinding",
        "metadata": {"name": "b"},
        "subjects": [{"kind": "ServiceAccount", "name": "a"}],
    }
    other = {**binding, "subjects": [*binding["subjects"], {"kind": "User", "name": "eve"}]}
    assert differing(binding, other) == ["subjects is a list of 2, declared a list of 1"]
    named = {**binding, "roleRef": {"kind": "Role", "name": "r"}}
    assert differing(named, {**named, "roleRef": {"kind": "Role", "name": "admin"}}) == [
        'roleRef.name is "admin", declared "r"'
    ]


def test_a_rule_that_reaches_further_by_an_added_field_is_drift() -> None:
    wider = role("get")
    wider["rules"][0]["nonResourceURLs"] = ["/metrics"]
    assert differing(role("get"), wider) == ["rules[0].nonResourceURLs was added"]


def test_a_key_added_to_a_config_map_and_to_a_quota_is_drift() -> None:
    assert differing(config_map(a="1"), config_map(a="1", b="2")) == ["data.b was added"]
    quota = {"kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "4"}}}
    other = {**quota, "spec": {"hard": {"pods": "4", "requests.cpu": "0"}}}
    assert differing(quota, other) == ["spec.hard.requests.cpu was added"]


def test_what_the_api_server_fills_in_and_what_others_add_as_labels_is_no_drift() -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1000m", "memory": "1Gi"}}}
    tolerations = [{"key": "k", "operator": "Equal", "value": "", "effect": "NoSchedule"}]
    wanted = {
        "kind": "Deployment",
        "metadata": {"name": "d", "labels": {"a": "1"}, "annotations": {"pulumi.com/patchForce": "true"}},
        "spec": {
            "replicas": 1,
            "template": {"spec": {"containers": [container], "tolerations": tolerations}},
        },
    }
    filled = {
        **container,
        "resources": {"requests": {"cpu": "1", "memory": "1024Mi"}},
        "imagePullPolicy": "Always",
    }
    dropped = [{"key": "k", "operator": "Equal", "effect": "NoSchedule"}]
    found = {
        "kind": "Deployment",
        "metadata": {"name": "d", "uid": "x", "labels": {"a": "1", "team": "b"}},
        "spec": {
            "replicas": 1,
            "progressDeadlineSeconds": 600,
            "template": {"spec": {"containers": [filled], "tolerations": dropped, "restartPolicy": "Always"}},
        },
        "status": {"replicas": 1},
    }
    assert differing(wanted, found) == []


@pytest.mark.parametrize(
    ("wanted", "found"), [("100m", "0.1"), ("1Gi", "1024Mi"), ("2", "2000m"), ("50Gi", "50Gi"), ("", None)]
)
def test_one_quantity_in_two_spellings_is_no_drift(wanted: str, found: str | None) -> None:
    def claim(size: str | None) -> Object:
        return {"kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": {"storage": size}}

    assert differing(claim(wanted), claim(found)) == []
    assert differing(claim("3Gi"), claim(found)) != []


def test_a_changed_secret_is_drift_and_its_value_is_not_told() -> None:
    def secret(value: str) -> Object:
        return {"kind": "Secret", "metadata": {"name": "s"}, "data": {"token": value}}

    told = differing(secret("b3VycyE="), secret("dGhlaXJz"))
    assert told == ["data.token is another value, declared another value"]
    text = {"kind": "Secret", "metadata": {"name": "s"}, "stringData": {"token": "ours!"}}
    assert differing(text, secret(base64.b64encode(b"ours!").decode())) == []
    assert "ours" not in str(differing(text, secret("dGhlaXJz")))


def test_a_label_that_is_declared_on_a_namespace_and_changed_or_taken_away_is_drift() -> None:
    wanted = {"kind": "Namespace", "metadata": {"name": "shop", "labels": {"tenant": "shop"}}}
    found: Object = {"kind": "Namespace", "metadata": {"name": "shop", "labels": {"tenant": "eve"}}}
    assert differing(wanted, found) == ['metadata.labels.tenant is "eve", declared "shop"']
    found["metadata"].pop("labels")
    assert differing(wanted, found) == ['metadata.labels is absent, declared {"tenant": "shop"}']


# --- the state ---


def resource(inputs: Object, kind: str = "kubernetes:core/v1:ConfigMap", **more: Any) -> Object:
    return {"urn": f"urn:{inputs.get('metadata', {}).get('name')}", "type": kind, "inputs": inputs, **more}


def state(*resources: Object) -> Object:
    return {"deployment": {"resources": list(resources)}}


def test_an_exported_state_gives_its_objects_with_secrets_revealed() -> None:
    hidden = {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "plaintext": json.dumps({"token": "eA=="})}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": hidden, "__x": 1}
    (found,) = declared(
        state(
            resource({}, "pulumi:pulumi:Stack"),
            resource({"kubeconfig": "k"}, "pulumi:providers:kubernetes"),
            resource(secret, "kubernetes:core/v1:Secret", initErrors=["timed out"]),
            resource(config_map(), delete=True),
        )
    )
    assert found.manifest["data"] == {"token": "eA=="}
    assert "__x" not in found.manifest
    assert found.unfinished
    assert declared({"deployment": None}) == []


def test_what_is_gone_and_what_the_state_does_not_know_are_drift() -> None:
    known, extra = config_map(a="1"), {**config_map(), "metadata": {"name": "extra", "namespace": "n"}}
    items = [Declared("urn:c", known, unfinished=False)]
    gone, unknown = drifts(items, {}, [extra])
    assert (gone.ref.name, gone.urn, gone.gone) == ("c", "urn:c", True)
    assert (unknown.ref.name, unknown.urn) == ("extra", "")
    assert drifts(items, {ref(known): known}, [known]) == []


def test_a_rollout_that_the_next_deployment_goes_on_with_is_no_drift() -> None:
    assert drifts([Declared("urn:c", config_map(a="1"), unfinished=True)], {}, []) == []


def test_objects_of_controllers_and_kept_namespaces_are_not_called_unknown() -> None:
    made = config_map()
    made["metadata"]["ownerReferences"] = [{"kind": "DaemonSet"}]
    kept = {
        "kind": "Namespace",
        "metadata": {"name": "x", "labels": {"shared-observability/created": "true"}},
    }
    assert drifts([], {}, [made, kept]) == []


# --- report and repair ---

ROLE = Drift(Ref("ClusterRole", "", "r"), ("rules was added",), "urn:r")
GONE = Drift(Ref("Role", "n", "gone"), ("it does not exist",), "urn:gone", gone=True)
SPACE = Drift(Ref("Namespace", "", "n"), ("a label",), "urn:n")
SET = Drift(Ref("DaemonSet", "n", "d"), ("an image",), "urn:d")
UNKNOWN = Drift(Ref("ConfigMap", "n", "u"), ("unknown",))


def test_the_report_names_each_object_and_the_next_command() -> None:
    text = drift_report([ROLE, UNKNOWN], "prod")
    assert text.startswith("2 objects are not as deployed:\n\nClusterRole r\n")
    assert "make repair ENV=prod" in text
    assert "\n  kubectl delete configmap u -n n" in text
    assert "kubectl delete" not in drift_report([ROLE], "prod")
    assert drift_report([], "prod") == "The cluster holds what was deployed, unchanged."


def test_a_teams_namespace_is_never_said_to_be_deleted() -> None:
    text = drift_report([Drift(Ref("Namespace", "", "shop"), ("unknown",))], "prod")
    assert "kubectl delete" not in text
    assert "kubectl label namespace shop shared-observability/owner- shared-observability/tenant-" in text


def test_first_only_what_the_engine_cannot_see_is_replaced_then_all_but_what_holds_data() -> None:
    found = [ROLE, GONE, SPACE, SET, UNKNOWN]
    assert replacements(found, "Role", "ClusterRole") == ["--replace", "urn:r"]
    assert replacements(found) == ["--replace", "urn:r", "--replace", "urn:d"]
