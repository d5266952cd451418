"""Which containers' logs an agent keeps, for whom, and from which files."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components import names
from components.layer.config import alloy, relabel
from tests.unit.layer.relabelling import Labels
from tests.unit.layer.relabelling import relabel as evaluate
from tests.unit.layer.samples import pod

RULES = relabel.to_prometheus(relabel.agent_rules())
UID = "8a0f1a0c-6f0e-4c9c-9a3d-0d0f3f6f2b11"
MIRROR = "kubernetes.io/config.mirror"


def kept(labels: Labels) -> Labels | None:
    """What an agent makes of a target: its own labels, without those of discovery."""
    result = evaluate(labels, RULES)
    if result is None:
        return None
    own = {"__path__", *(name for name in result if not name.startswith("__"))}
    return {name: result[name] for name in sorted(own & set(result))}


def of(**labels: str) -> dict[str, str]:
    return {f"{names.PREFIX}/{name}": value for name, value in labels.items()}


@pytest.mark.parametrize(
    ("of_namespace", "tenant"),
    [
        ({}, "platform"),
        (of(tenant="shop", logs="node"), "shop"),
        (of(tenant="shop"), "shop"),  # a tenant without the logs label is collected
        (of(tenant="shop", logs=""), "shop"),
        (of(tenant="shop", logs="none"), "shop"),  # nobody else collects an unknown value
        (of(tenant="shop", logs="API"), "shop"),
        (of(logs="node"), "platform"),
        (of(tenant="Shop"), "platform"),  # no valid name: nobody's
        (of(tenant="a.b"), "platform"),
        (of(tenant="-"), "platform"),
        (of(tenant=""), "platform"),
        (of(tenant="x" * 63), "x" * 63),
        (of(tenant="shop", logs="api"), None),
        (of(tenant="shop", logs="off"), None),
        (of(logs="off"), None),
    ],
)
def test_namespace_labels_alone_decide_who_owns_the_lines(
    of_namespace: dict[str, str], tenant: str | None
) -> None:
    labels = kept(pod(of_namespace=of_namespace))
    assert (labels["tenant"] if labels else None) == tenant


def test_a_target_has_exactly_the_immutable_labels() -> None:
    assert kept(pod()) == {
        "__path__": f"/var/log/pods/shop_web-0_{UID}/app/*.log",
        "container": "app",
        "namespace": "shop",
        "node": "node-1",
        "pod": "web-0",
        "pod_uid": UID,
        "tenant": "shop",
    }


# Positions are kept per path and labels (internal/component/loki/source/file/file.go at v1.18.1): a changed label
# makes the agent send the whole file again.
@pytest.mark.parametrize(
    "changes",
    [
        {"pod_container_id": "containerd://second"},
        {"pod_ready": "false"},
        {"pod_phase": "Succeeded"},
        {"pod_phase": "Pending"},
        {"pod_container_init": "true"},
        {"pod_container_image": "other"},
        {"pod_label_app": "renamed"},
        {"pod_annotation_note": "new"},
        {"pod_ip": "10.0.0.99"},
    ],
)
def test_what_changes_in_the_life_of_a_pod_changes_no_label_and_loses_no_file(
    changes: dict[str, str],
) -> None:
    assert kept(pod(more=changes)) == kept(pod())


def test_two_ports_of_a_container_are_the_same_files_with_the_same_labels() -> None:
    first = kept(pod(more={"pod_container_port_number": "80", "pod_container_port_name": "http"}))
    assert first == kept(pod(more={"pod_container_port_number": "81", "pod_container_port_name": "metrics"}))


def test_a_static_pods_folder_carries_its_hash() -> None:
    labels = kept(
        pod(namespace="kube-system", name="etcd-a", annotations={MIRROR: "0f" * 16}, of_namespace={})
    )
    assert labels is not None
    assert labels["__path__"] == f"/var/log/pods/kube-system_etcd-a_{'0f' * 16}/app/*.log"
    assert labels["pod_uid"] == UID


@given(
    st.one_of(
        st.text(), st.sampled_from(["*", "../*", "x/../../kube-system_*", "{a,b}", "a_b", "[a-z]", "\n"])
    )
)
def test_no_annotation_leads_to_files_of_another_pod(mirror: str) -> None:
    labels = kept(pod(annotations={MIRROR: mirror}))
    assert labels is not None
    path = re.fullmatch(r"/var/log/pods/shop_web-0_([0-9A-Za-z-]+)/app/\*\.log", labels["__path__"])
    assert path is not None
    assert path[1] in (UID, mirror)


@given(
    st.dictionaries(st.sampled_from(["app", "tenant", "namespace", "shared-observability/tenant"]), st.text())
)
def test_nothing_that_a_pod_says_of_itself_changes_tenant_or_namespace(said: dict[str, str]) -> None:
    own = {
        relabel.meta("pod_label", key).removeprefix("__meta_kubernetes_"): value
        for key, value in said.items()
    }
    assert kept(pod(annotations=said, more=own)) == kept(pod())


# --- the text ---------------------------------------------------------------------------------------------------------


def rules_in(text: str) -> list[dict[str, Any]]:
    """The `rule` blocks of an Alloy text."""
    blocks = re.findall(r"\n  rule \{\n(.*?)\n  \}", text, re.DOTALL)
    pairs = [re.findall(r"^    (\w+) += (.+)$", block, re.MULTILINE) for block in blocks]
    return [{name: json.loads(value) for name, value in block} for block in pairs]


def test_alloy_and_prometheus_get_the_same_rules() -> None:
    assert rules_in(alloy.agent_config("dev")) == RULES
    assert len(RULES) == len(relabel.agent_rules())


def test_quotes_backslashes_and_newlines_survive_both_renderings() -> None:
    rule = relabel.Rule(("a",), regex='"\\d+\\."\n', target_label="b", replacement="${1}_\\$1\t€")
    stated = relabel.to_prometheus([rule])[0]
    assert rules_in("\n" + relabel.to_alloy([rule])) == [stated]
    assert stated["regex"] == '"\\d+\\."\n'


def test_a_dollar_in_a_constant_starts_no_group() -> None:
    rules = relabel.to_prometheus([relabel.constant("price", "$1 and ${x}")])
    assert evaluate({}, rules) == {"price": "$1 and ${x}"}


def test_the_agents_text_is_the_same_for_any_tenants_and_names_the_cluster_once() -> None:
    text = alloy.agent_config("dev-eu")
    assert text.count("dev-eu") == 1
    assert text.replace("dev-eu", "dev") == alloy.agent_config("dev")


def stage(text: str, name: str) -> str:
    found = re.search(rf"\n  {re.escape(name)} \{{\n(.*?)\n  \}}", text, re.DOTALL)
    assert found, f"no block {name}"
    return " ".join(found[1].split())


def test_the_agent_reads_whole_files_of_its_node_and_never_gives_up() -> None:
    text = alloy.agent_config("dev")
    assert '"spec.nodeName=" + sys.env("NODE_NAME")' in stage(text, "selectors")
    assert stage(text, "attach_metadata") == "namespace = true"
    assert "tail_from_end = false" in text
    assert stage(text, "file_match") == "enabled = true"
    endpoint = stage(text, "endpoint")
    assert "max_backoff_retries = 0" in endpoint
    assert re.search(r"retry_on_http_429 += false", endpoint)
    assert re.search(r'tenant_id += "platform"', endpoint)
    assert re.search(r'bearer_token_file += "/etc/alloy-credential/token"', endpoint)
    assert re.search(r'url += "http://loki.observability.svc:3100/loki/api/v1/push"', endpoint)
    assert "wal" not in text
    assert "queue_config" not in text  # experimental: they would need another stability level


def test_ids_are_structured_metadata_and_no_stream_label() -> None:
    text = alloy.agent_config("dev")
    metadata = stage(text, "stage.structured_metadata")
    assert re.findall(r"(\w+) += \"\"", metadata) == ["container_restart", "node", "pod_uid", "stream"]
    assert stage(text, "stage.label_drop") == 'values = ["filename"]'
    order = [text.index(block) for block in ("stage.cri", "stage.regex", "stage.label_drop", "stage.tenant")]
    assert order == sorted(
        order
    )  # the file's name tells partial lines apart and holds the restart: dropped after both


@pytest.mark.parametrize(
    ("path", "restart"),
    [
        (f"/var/log/pods/shop_web-0_{UID}/app/0.log", "0"),
        (f"/var/log/pods/shop_web-0_{UID}/app/12.log", "12"),
        (f"/var/log/pods/shop_web-0_{UID}/app/0.log.20261130-120000", None),
    ],
)
def test_the_files_name_tells_the_containers_restart(path: str, restart: str | None) -> None:
    stated = re.search(r'expression = ("[^"]+")', alloy.agent_config("dev"))
    assert stated
    found = re.search(json.loads(stated[1]), path)
    assert (found["container_restart"] if found else None) == restart


def test_the_mounted_paths_are_those_that_the_text_and_the_arguments_name() -> None:
    assert f"{alloy.CONFIG_FOLDER}/{alloy.CONFIG_FILE}" == alloy.ARGUMENTS[-1]
    assert f"--storage.path={alloy.STORAGE_FOLDER}" in alloy.ARGUMENTS
    assert f"--server.http.listen-addr=0.0.0.0:{names.ALLOY_PORT}" in alloy.ARGUMENTS
    assert f'"{alloy.LOG_FOLDER}/${{1}}_' in alloy.agent_config("dev")
