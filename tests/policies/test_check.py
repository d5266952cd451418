"""`python -m policies.check`: inputs, formats and exit status."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from policies.check import main
from policies.manifests import read_paths
from policies.report import FORMATS

BAD = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec: {template: {spec: {priorityClassName: agents, containers: [{name: a, env: [{name: P, value: hunter2}],
  resources: {requests: {cpu: 1m, memory: 1Mi}}}]}}}
"""
GOOD = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}"
KEYS = ["rule", "verdict", "level", "apiVersion", "kind", "namespace", "name", "path", "message", "source"]


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder


def test_no_violation_is_0_a_violation_1_an_unreadable_input_2(tmp_path: Path) -> None:
    good = write(tmp_path, good=GOOD) / "good.yaml"
    bad = write(tmp_path, bad=BAD) / "bad.yaml"
    broken = write(tmp_path, broken="{{ .Values.x }}: [") / "broken.yaml"
    assert main([str(good)]) == 0
    assert main([str(bad)]) == 1
    assert main([str(good), str(broken)]) == 2
    assert main([str(bad), str(broken)]) == 2
    assert main([str(tmp_path / "missing.yaml")]) == 2


def test_an_advisory_violation_is_a_violation_and_a_disabled_rule_is_none(tmp_path: Path) -> None:
    path = write(tmp_path, a=GOOD.replace("v1", "apps/v1", 1).replace("ConfigMap", "Deployment")) / "a.yaml"
    path.write_text("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: b}]}}")
    assert main([str(path)]) == 1
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"requests-set": "disabled"}))
    assert main([str(path), "--config", str(settings)]) == 0


def test_what_cannot_be_decided_alone_is_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hpa = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a, namespace: n}
spec: {scaleTargetRef: {kind: Deployment, name: x}, metrics: [{type: Resource, resource: {name: memory,
  target: {type: Utilization, averageUtilization: 80}}}]}
"""
    path = write(tmp_path, hpa=hpa) / "hpa.yaml"
    assert main([str(path), "--format", "json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["verdict"], entry["level"]) == ("undecided", "advisory")


def test_json_is_a_list_of_the_stated_keys_and_stdout_holds_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path, bad=BAD, broken="{", good=GOOD)
    assert main([str(folder), "--tenant", "shop", "--format", "json"]) == 2
    captured = capsys.readouterr()
    entries = json.loads(captured.out)
    assert all(list(entry) == KEYS for entry in entries)
    by_rule = {entry["rule"]: entry for entry in entries}
    assert set(by_rule) == {"daemonset-placement", "tenant-daemonset", "pod-slots"}
    placement = by_rule["daemonset-placement"]
    assert placement["message"].startswith("DaemonSet shop/agent, spec.template.spec: it runs on every node")
    assert {key: placement[key] for key in KEYS if key != "message"} == {
        "rule": "daemonset-placement",
        "verdict": "violation",
        "level": "mandatory",
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "namespace": "shop",
        "name": "agent",
        "path": "spec.template.spec",
        "source": str(folder / "bad.yaml"),
    }
    assert "broken.yaml: line " in captured.err


def test_nothing_wrong_is_an_empty_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(write(tmp_path, good=GOOD)), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_sarif_names_rule_level_file_and_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(write(tmp_path, bad=BAD)), "--format", "sarif"])
    report = json.loads(capsys.readouterr().out)
    jsonschema.validate(report, SARIF)
    (run,) = report["runs"]
    first = next(result for result in run["results"] if result["ruleId"] == "daemonset-placement")
    assert first["level"] == "error"
    place = first["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"].endswith("bad.yaml")
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "DaemonSet shop/agent spec.template.spec"
    assert {result["ruleId"] for result in run["results"]} <= {
        rule["id"] for rule in run["tool"]["driver"]["rules"]
    }


# What SARIF 2.1.0 requires of the parts that are written here.
SARIF: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {"required": ["name"], "properties": {"rules": {"type": "array"}}}
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "required": ["message", "ruleId", "level", "locations"],
                            "properties": {
                                "message": {"required": ["text"]},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                            },
                        },
                    },
                },
            },
        },
    },
}


def test_no_format_shows_a_value_that_could_be_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path, bad=BAD)
    for form in FORMATS:
        main([str(folder), "--tenant", "shop", "--format", form])
        assert "hunter2" not in capsys.readouterr().out


def test_text_ends_with_the_sums(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(write(tmp_path, bad=BAD, good=GOOD))])
    assert capsys.readouterr().out.endswith("2 objects judged: 1 violations, 1 undecided, 0 exempted\n")


def test_folders_are_read_to_the_bottom_and_other_files_left_alone(tmp_path: Path) -> None:
    deep = tmp_path / "1-manifest" / "deep"
    deep.mkdir(parents=True)
    write(deep, bad=BAD)
    (deep / "notes.txt").write_text("{")
    (deep / "values.yaml").write_text("alloy: {enabled: true}")
    reading = read_paths([tmp_path])
    assert [manifest.label() for manifest in reading.manifests] == ["DaemonSet shop/agent"]
    assert reading.unread == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [", "line "),
        ("just text", "no Kubernetes object"),
        ("kind: values", "no Kubernetes object"),
        ("a: &a [*a]", "recursion"),
        ("a: &a [x, x]\nb: &b [*a, *a]\n", "no Kubernetes object"),
    ],
)
def test_a_file_that_holds_no_object_is_said(text: str, reason: str, tmp_path: Path) -> None:
    path = write(tmp_path, it=text) / "it.yaml"
    (sentence,) = read_paths([path]).unread
    assert reason in sentence


def test_yaml_that_unfolds_without_end_is_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    path = write(tmp_path, bomb="\n".join(lines)) / "bomb.yaml"
    assert read_paths([path]).unread == [f"{path}: it unfolds to too many values to be a manifest"]


def test_bytes_that_are_no_text_are_said(tmp_path: Path) -> None:
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    assert len(read_paths([path]).unread) == 1


STATE = {
    "version": 3,
    "deployment": {
        "resources": [
            {"urn": "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev", "type": "pulumi:pulumi:Stack"},
            {
                "urn": "urn:pulumi:dev::p::kubernetes:apps/v1:DaemonSet::a",
                "type": "kubernetes:apps/v1:DaemonSet",
                "inputs": {
                    "apiVersion": "apps/v1",
                    "kind": "DaemonSet",
                    "metadata": {"name": "a", "namespace": "shop"},
                    "spec": {
                        "template": {
                            "spec": {
                                "nodeSelector": {
                                    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
                                    "ciphertext": "v1:abc",
                                }
                            }
                        }
                    },
                },
            },
            {
                "urn": "urn:pulumi:dev::p::kubernetes:apps/v1:DaemonSet::going",
                "type": "kubernetes:apps/v1:DaemonSet",
                "delete": True,
                "inputs": {"apiVersion": "apps/v1", "kind": "DaemonSet"},
            },
            {
                "urn": "urn:pulumi:dev::p::kubernetes:apps/v1:DaemonSet::read",
                "type": "kubernetes:apps/v1:DaemonSet",
                "external": True,
                "outputs": {
                    "apiVersion": "apps/v1",
                    "kind": "DaemonSet",
                    "metadata": {"name": "read"},
                    "spec": {},
                },
            },
        ]
    },
}


def test_an_exported_state_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(STATE))
    assert main([str(path), "--format", "json", "--tenant", "shop"]) == 1
    entries = json.loads(capsys.readouterr().out)
    found = {(entry["rule"], entry["verdict"]) for entry in entries if entry["name"] == "a"}
    assert ("tenant-daemonset", "violation") in found
    assert ("daemonset-placement", "undecided") in found  # its selector is a secret that nobody here can read
    assert {entry["name"] for entry in entries if entry["kind"] == "DaemonSet"} == {"a"}


def test_an_empty_state_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text(json.dumps({"version": 3, "deployment": {}}))
    assert main([str(path)]) == 0


def test_wrong_settings_end_it_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "settings.json"
    for raw, reason in (
        ({"pack-settings": {"tenant": 1}}, "pack-settings.tenant: Extra inputs are not permitted"),
        ({"pod-slots": {"leaveFree": -1}}, "pod-slots.leaveFree: Input should be greater than or equal to 0"),
        ({"pod-slot": "disabled"}, "the pack has no policy pod-slot"),
    ):
        settings.write_text(json.dumps(raw))
        assert main([str(write(tmp_path, bad=BAD)), "--config", str(settings)]) == 2
        assert reason in capsys.readouterr().err


def test_levels_of_undecided_and_of_settings_are_theirs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"undecided": "mandatory", "pod-slots": "mandatory"}))
    main([str(write(tmp_path, bad=BAD)), "--config", str(settings), "--format", "json"])
    slots = [entry for entry in json.loads(capsys.readouterr().out) if entry["rule"] == "pod-slots"]
    assert [(entry["verdict"], entry["level"]) for entry in slots] == [("undecided", "mandatory")]


def test_an_input_has_to_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "give a file, a folder or --cluster" in capsys.readouterr().err


@pytest.mark.parametrize(
    "order", ["{f} --tenant shop other", "{f} --tenant shop --tenant other", "--tenant shop {f}"]
)
def test_tenants_are_named_in_any_way(order: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, bad=BAD) / "bad.yaml"
    main([*order.format(f=path).split(), "--format", "json"])
    assert "tenant-daemonset" in {entry["rule"] for entry in json.loads(capsys.readouterr().out)}


RENDERED_CHART = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  template:
    spec: {hostNetwork: true, nodeSelector: {a: b}, containers: [{securityContext: {privileged: true}}]}
"""


def found_in(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> set[tuple[str, str]]:
    main([str(folder), "--format", "json", *options])
    return {(entry["rule"], entry["verdict"]) for entry in json.loads(capsys.readouterr().out)}


def test_of_a_chart_without_a_namespace_it_is_open_whose_it_is_until_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, chart=RENDERED_CHART)
    rules = ("tenant-daemonset", "tenant-host-access")
    found = found_in(tmp_path, capsys, "--tenant", "shop")
    assert {(rule, "undecided") for rule in rules} <= found
    found = found_in(tmp_path, capsys, "--tenant", "shop", "--namespace", "shop")
    assert {(rule, "violation") for rule in rules} <= found
    found = found_in(tmp_path, capsys, "--tenant", "shop", "--namespace", "monitoring")
    assert not {rule for rule, _ in found} & set(rules)


def test_an_item_of_a_typed_list_is_of_the_lists_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = [{"metadata": {"name": "agent", "namespace": "shop"}, "spec": {"template": {"spec": {}}}}]
    text = json.dumps({"apiVersion": "apps/v1", "kind": "DaemonSetList", "items": items})
    write(tmp_path, items=text)
    assert ("tenant-daemonset", "violation") in found_in(tmp_path, capsys, "--tenant", "shop")


def test_a_folder_that_could_be_a_namespace_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "manifests").mkdir()
    write(tmp_path / "manifests", bad=BAD)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["manifests", "--tenant", "shop", "manifests"])
    assert ended.value.code == 2
    assert "For the path write ./manifests" in capsys.readouterr().err
    assert main(["./manifests", "--tenant", "manifests", "--tenant", "shop"]) == 1
    assert main(["--tenant", "shop", "./manifests"]) == 1
