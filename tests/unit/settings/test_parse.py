"""Wrong settings: every mistake at once, each with its path as written, the reason and what to do."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.settings.load import parse
from components.settings.mistakes import SettingsError
from components.settings.model import NodeRange, Settings
from components.settings.tenant import pods_by_namespace
from tests.support.environments import INCIDENT, KEY, NULL, PROJECT, changed, config, parsed


def mistakes(raw: dict[str, Any], secret: tuple[str, ...] = ("gatewayKey",)) -> dict[str, str]:
    """Texts of the mistakes by path."""
    with pytest.raises(SettingsError) as caught:
        parse(config(raw), {f"{PROJECT}:{key}" for key in secret}, PROJECT, "dev")
    return {mistake.path: str(mistake) for mistake in caught.value.mistakes}


def test_the_incidents_environment_is_valid() -> None:
    settings = parsed(INCIDENT)
    assert set(settings.tenants) == {"shop", "billing", "search", "mail", "wiki"}
    assert settings.tenants["billing"].metrics is False
    assert settings.tenants["wiki"].logs == "off"
    assert settings.gateway_key.get_secret_value() == KEY


G = "cluster.nodeGroups"
WRONG: list[tuple[str, Any, str, str]] = [
    ("cluster.nodeGroups.web.instanceTypes", ["t3.larg"], f"{G}.web.instanceTypes[0]", "t3.large"),
    (
        "cluster.nodeGroups.web.instanceTypes",
        ["t3.large", "t9.huge"],
        f"{G}.web.instanceTypes[1]",
        f"{G}.web.maxPods",
    ),
    ("cluster.nodeGroups.web.nodes", 0, f"{G}.web.nodes", "at least 1"),
    ("cluster.nodeGroups.web.nodes", {"min": 0, "max": 0}, f"{G}.web.nodes.max", "at least 1"),
    ("cluster.nodeGroups.web.nodes", {"min": 5, "max": 2}, f"{G}.web.nodes", "Swap"),
    ("cluster.nodeGroups.web.nodes", "five", f"{G}.web.nodes", "whole number"),
    ("cluster.nodeGroups.web.instanceTypes", None, f"{G}.web", "maxPods"),
    (
        "cluster.nodeGroups.batch.taints",
        [{"key": "dedicated", "value": "batch", "effect": "NoSchedul"}],
        f"{G}.batch.taints[0].effect",
        "NoSchedule, PreferNoSchedule or NoExecute",
    ),
    ("cluster.nodeGroups.web.kind", "other", f"{G}.web.selector", "label"),
    (
        "cluster.nodeGroups.web.selector",
        {"key": "eks.amazonaws.com/nodegroup", "values": ["workers"]},
        f"{G}.workers.selector",
        "counted twice",
    ),
    ("cluster.nodeGroups", {}, G, "too short"),
    ("cluster.target.kind", "kubconfig", "cluster.target.kind", "render"),
    ("cluster.target.directory", None, "cluster.target.directory", "missing"),
    ("cluster.target.path", "x", "cluster.target.path", "Allowed here: kind, directory"),
    ("cluster.nodGroups", {}, "cluster.nodGroups", "closest: nodeGroups"),
    ("tenants.shop.metrcs", False, "tenants.shop.metrcs", "closest: metrics"),
    ("cluster.nodeGroups.web.instanceType", "x", f"{G}.web.instanceType", "closest: instanceTypes"),
    ("cluster.name", "Dev_1", "cluster.name", "DNS label"),
    ("layer.metrics", {"retention": "15 days"}, "layer.metrics.retention", "24h, 7d"),
    ("layer.metrics", {"storage": "50GB"}, "layer.metrics.storage", "50Gi"),
    ("layer.logs", {"retention": "12h"}, "layer.logs.retention", "24h"),
    ("layer.logs", {"store": {"kind": "s3", "bucket": "b-1"}}, "layer.logs.store.region", "missing"),
    ("layer.logs", "yes", "layer.logs", "off"),
    ("layer.hostMetrics", "exporter", "layer.hostMetrics", "node-exporter"),
    ("layer.hostMetrics", {"kind": "existing"}, "layer.hostMetrics.selector", "missing"),
    (
        "layer.hostMetrics",
        {"kind": "existing", "selector": {"app": "x"}, "namespace": "shop"},
        "layer.hostMetrics.namespace",
        "tenant 'shop'",
    ),
    ("layer.runsOn", ["worker"], "layer.runsOn[0]", "closest: workers"),
    ("layer.protection", "maybe", "layer.protection", "true or false"),
    ("layer.metrics", False, "tenants.shop.metrics", "layer.metrics is off"),
    ("layer.logs", "off", "tenants.shop.logs", "layer.logs is off"),
    ("tenants.shop.runsOn", ["web", "nope"], "tenants.shop.runsOn[1]", "batch, web, workers"),
    ("tenants.shop.pods", None, "tenants.shop.pods", "quota"),
    ("tenants.shop.pods", NULL, "tenants.shop.pods", "quota"),
    ("tenants.small", {"pods": None, "namespaces": {"a": {}}}, "tenants.small.pods", "quota"),
    ("tenants.small", {"namespaces": {"a": {"pods": None}}}, "tenants.small.pods", "quota"),
    ("tenants.small", {"namespaces": {"a": {"pods": "all"}}}, "tenants.small.namespaces.a.pods", "number"),
    ("tenants.shop.pods", 0, "tenants.shop.pods", "at least 1"),
    ("tenants.shop.logs", "agent", "tenants.shop.logs", "node, api or off"),
    (
        "tenants.created",
        {"pods": 5, "namespace": "create", "podSecurity": "keep"},
        "tenants.created.podSecurity",
        "level to keep",
    ),
    ("tenants.shop.podSecurity", "privileged", "tenants.shop.podSecurity", "restricted, baseline or keep"),
    (
        "tenants.shop.labels",
        {f"{PROJECT}/tenant": "billing"},
        f'tenants.shop.labels["{PROJECT}/tenant"]',
        "domain",
    ),
    (
        "tenants.shop.labels",
        {f"{PROJECT}_tenant": "billing"},
        f'tenants.shop.labels["{PROJECT}_tenant"]',
        f"read as {PROJECT}/tenant",
    ),
    ("tenants.shop.namespaces", {"kube-system": {}}, "tenants.shop.namespaces.kube-system", "reserved"),
    ("tenants.shop.namespaces", {"observability": {}}, "tenants.shop.namespaces.observability", "reserved"),
    ("tenants.default", {"pods": 5}, "tenants.default", "reserved"),
    ("tenants.platform", {"pods": 5}, "tenants.platform", "layer's own"),
    ("tenants.Shop", {"pods": 5}, "tenants.Shop", "DNS label"),
    ("tenants.shop.homeNamespace", "billing", "tenants.shop.homeNamespace", "Write one of them: shop"),
    ("layer.storageClass", "gp3..encrypted", "layer.storageClass", "DNS subdomain"),
    ("layer.storageClass", ".".join(["gp3"] * 64), "layer.storageClass", "253"),
    ("tenants.shop.priorityClasses", ["Team.high"], "tenants.shop.priorityClasses[0]", "DNS subdomain"),
    ("tenants.mail.pods", 90, "tenants.mail.pods", "add up to 80"),
    ("tenants.mail.namespaces.mail-in", {}, "tenants.mail.namespaces.mail-in.pods", "quota of its own"),
    ("tenants.small", {"pods": 1, "logs": "api"}, "tenants.small.pods", "needs 2"),
    ("tenants.small", {"namespaces": {"a": {}}, "pods": 1, "logs": "api"}, "tenants.small.pods", "needs 2"),
    (
        "tenants.small",
        {"namespaces": {"b": {"pods": 1}, "a": {"pods": 1}}, "logs": "api"},
        "tenants.small.namespaces.a.pods",
        "needs 2",
    ),
    (
        "tenants.shop.namespaces",
        {"billing": {}},
        "tenants.billing",
        "belongs to tenant 'shop'",
    ),
    ("tenants.shop.retention", "3 weeks", "tenants.shop.retention", "2w"),
    ("tenants", ["shop"], "tenants", "mapping"),
    ("clustr", {"name": "x"}, "clustr", "closest: cluster"),
    ("gatewayKey", "too-short", "gatewayKey", "openssl rand -hex 32"),
    ("gatewayKey", None, "gatewayKey", "openssl rand -hex 32"),
]


@pytest.mark.parametrize(("path", "value", "where", "says"), WRONG, ids=[f"{w[2]}={w[1]!r}" for w in WRONG])
def test_each_mistake_has_one_message_with_its_path_and_the_way_out(
    path: str, value: Any, where: str, says: str
) -> None:
    base = INCIDENT
    if says.startswith("layer."):  # a signal that a tenant asks for in so many words
        base = changed(base, ("tenants.shop.logs", "node"), ("tenants.shop.metrics", True))
    found = mistakes(changed(base, (path, value)))
    assert list(found) == [where]
    assert says in found[where]


def test_a_secret_anywhere_but_in_the_gateway_key_is_refused_and_not_shown() -> None:
    found = mistakes(changed(INCIDENT, ("layer.token", "s3cr3t")), secret=("gatewayKey", "layer"))
    assert "Only gatewayKey, gatewayKeyPrevious and oauth can be secret" in found["layer"]
    assert "s3cr3t" not in "".join(found.values())


def test_a_gateway_key_in_plain_text_is_refused_and_not_shown() -> None:
    found = mistakes(INCIDENT, secret=())
    assert list(found) == ["gatewayKey"]
    assert "plain text" in found["gatewayKey"]
    assert KEY not in found["gatewayKey"]


def test_settings_of_the_ambient_provider_are_refused() -> None:
    values = {**config(INCIDENT), "kubernetes:kubeconfig": "~/.kube/config"}
    with pytest.raises(SettingsError, match="has no effect"):
        parse(values, {f"{PROJECT}:gatewayKey"}, PROJECT, "dev")


def test_shape_errors_never_hide_reference_errors() -> None:
    raw = changed(
        INCIDENT,
        ("cluster.nodeGroups.web.nodes", "five"),
        ("cluster.nodeGroups.web.instanceTypes", ["t3.larg"]),
        ("tenants.shop.pods", "many"),
        ("tenants.shop.runsOn", ["webb"]),
        ("layer.nonsense", 1),
    )
    assert set(mistakes(raw)) == {
        "cluster.nodeGroups.web.nodes",
        "cluster.nodeGroups.web.instanceTypes[0]",
        "tenants.shop.pods",
        "tenants.shop.runsOn[0]",
        "layer.nonsense",
    }


def test_the_message_counts_the_mistakes_and_names_the_file_and_the_next_command() -> None:
    raw = changed(INCIDENT, ("cluster.nodeGroups.web.nodes", 0), ("tenants.shop.pods", None))
    with pytest.raises(SettingsError) as caught:
        parsed(raw)
    text = str(caught.value)
    assert text.startswith("2 mistakes in Pulumi.dev.yaml; nothing was deployed.\n")
    assert text.endswith("Every setting: docs/settings.md. Then: make preview ENV=dev")


def test_the_command_that_makes_a_key_names_the_secret_and_the_environment() -> None:
    with pytest.raises(SettingsError) as caught:
        parsed(changed(INCIDENT, ("gatewayKeyPrevious", "short")), "prod")
    wanted = "openssl rand -hex 32 | make pulumi ENV=prod ARGS='config set --secret gatewayKeyPrevious'"
    assert wanted in str(caught.value)


def test_a_tenant_that_says_nothing_about_a_signal_follows_the_layer() -> None:
    settings = parsed(changed(INCIDENT, ("layer.metrics", "off"), ("layer.logs", False)))
    assert settings.tenants["shop"].logs == "off"
    assert settings.tenants["shop"].metrics is False


def test_an_autoscaled_group_is_a_range() -> None:
    settings = parsed(changed(INCIDENT, ("cluster.nodeGroups.web.nodes", {"min": 0, "max": 4})))
    assert settings.cluster.node_groups["web"].nodes == NodeRange(min=0, max=4)


def outcome_of(raw: dict[str, Any]) -> Settings | SettingsError:
    """Settings, or why there are none."""
    try:
        return parsed(raw)
    except SettingsError as error:
        return error


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PATHS = [
    "cluster", "cluster.target", "cluster.nodeGroups", "cluster.nodeGroups.web", "cluster.nodeGroups.web.taints",
    "cluster.nodeGroups.web.nodes", "cluster.nodeGroups.web.selector", "cluster.nodeGroups.web.instanceTypes", "layer",
    "layer.metrics", "layer.logs", "layer.logs.store", "layer.hostMetrics", "layer.runsOn", "tenants", "tenants.shop",
    "tenants.shop.homeNamespace", "tenants.shop.namespaces", "tenants.shop.labels", "tenants.shop.runsOn",
    "tenants.shop.limits", "tenants.shop.pods", "tenants.mail.namespaces.mail-in.pods",
]  # fmt: skip


def test_a_quota_is_compared_where_the_tenant_stacks_own_pods_are() -> None:
    own = {"logs": "api", "namespaces": {"a": {"pods": 50}, "b": {"pods": 1}}}
    assert parsed(changed(INCIDENT, ("tenants.two", own))).tenants["two"].logs == "api"
    moved = changed(INCIDENT, ("tenants.two", {**own, "homeNamespace": "b"}))
    assert list(mistakes(moved)) == ["tenants.two.namespaces.b.pods"]


@given(path=st.sampled_from(PATHS), value=JSON)
def test_any_json_anywhere_gives_settings_or_mistakes_and_never_a_traceback(path: str, value: Any) -> None:
    outcome = outcome_of(changed(INCIDENT, (path, NULL if value is None else value)))
    if isinstance(outcome, SettingsError):
        assert outcome.mistakes
        assert all(mistake.path and mistake.problem and mistake.remedy for mistake in outcome.mistakes)
    else:
        assert isinstance(outcome, Settings)
        assert all(min(pods_by_namespace(*tenant).values()) > 0 for tenant in outcome.tenants.items())


@given(name=st.from_regex(r"[a-z]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True), pods=st.integers(1, 5000))
def test_any_valid_name_is_a_tenant_with_a_namespace_of_its_own(name: str, pods: int) -> None:
    if name in ("default", "platform", "layer", "observability", "observability-nodes") or name.startswith(
        "kube-"
    ):
        return
    settings = parsed(changed(INCIDENT, (f"tenants.{name}", {"pods": pods})))
    assert settings.tenants[name].pods == pods


@pytest.mark.parametrize("stack", ["prod-", "_prod", "p" * 64])
def test_a_stack_whose_name_cannot_be_a_labels_value_is_refused(stack: str) -> None:
    with pytest.raises(
        SettingsError, match=rf"Pulumi\.{stack}\.yaml: the stack's name cannot be a label's value"
    ):
        parse(config(INCIDENT), {f"{PROJECT}:gatewayKey"}, PROJECT, stack)


def test_names_of_objects_may_have_dots() -> None:
    settings = parsed(
        changed(
            INCIDENT, ("layer.storageClass", "gp3.encrypted"), ("tenants.shop.priorityClasses", ["team.high"])
        )
    )
    assert settings.layer.storage_class == "gp3.encrypted"
    assert settings.tenants["shop"].priority_classes == ("team.high",)
