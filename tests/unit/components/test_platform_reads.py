"""The platform's own Grafana, the way to the layer's pods, and what a preview says of it."""

from typing import Any

import pytest
import yaml

from components import names
from components.grafana import config
from components.layer import credentials, isolation
from components.layer.network_policies import TENANTS, Opening, Peer, openings
from components.versions import IMAGES
from tests.support.environments import INCIDENT, KEY, changed, parsed
from tests.unit.components.environments import VARIANTS, Environment, containers, environment

ALL_KINDS = VARIANTS["dashboards of all kinds"]
LAYER, NODES = names.LAYER_NAMESPACE, names.NODES_NAMESPACE
EVERYTHING = (
    names.ALLOY,
    names.NODE_EXPORTER,
    names.PROMETHEUS,
    names.KUBE_STATE_METRICS,
    names.LOKI,
    names.GATEWAY,
    names.GRAFANA,
)


def of_platform(recorded: Environment) -> list[str]:
    """The objects of the platform's Grafana."""
    return [
        str(o) for o in recorded.objects if o.namespace == LAYER and o.name.partition("-")[0] == names.GRAFANA
    ]


def test_the_platform_has_a_grafana_only_if_it_wants_one(recorded: Environment) -> None:
    wanted = recorded.settings.layer.dashboards
    assert len(of_platform(recorded)) == (5 if wanted else 0)


def test_it_reads_with_the_platforms_token_and_names_the_tenants_that_have_lines() -> None:
    recorded = environment(ALL_KINDS)
    (secret,) = (o for o in recorded.of("Secret") if (o.namespace, o.name) == (LAYER, names.GRAFANA))
    assert secret.inputs["stringData"]["READ_TOKEN"] == credentials.platform_token(KEY)
    (text,) = (
        o.inputs["data"][config.DATA_SOURCES]
        for o in recorded.of("ConfigMap")
        if o.namespace == LAYER and o.name.startswith(f"{names.GRAFANA}-")
    )
    headers = [s["secureJsonData"].get("httpHeaderValue2") for s in yaml.safe_load(text)["datasources"]]
    assert headers == [None, None, "billing", "mail", "search", "shop"]


def test_no_policy_lets_anybody_reach_it_but_by_port_forward() -> None:
    recorded = environment(ALL_KINDS)
    allowed = {
        p.inputs["spec"]["podSelector"].get("matchLabels", {}).get("app.kubernetes.io/name")
        for p in recorded.of("NetworkPolicy")
    }
    assert names.GRAFANA not in allowed
    assert names.GATEWAY in allowed
    assert not [o for o in recorded.of("Ingress") if o.namespace == LAYER]


def test_every_image_comes_from_the_environments_own_registry() -> None:
    recorded = environment(ALL_KINDS)
    used = {container["image"] for o in recorded.objects if o.pod for container in containers(o.pod)}
    assert used == {f"registry.example.com/mirror/{image}" for image in IMAGES.values()}


# --- network policies -------------------------------------------------------------------------------------------------


def test_each_port_is_open_to_exactly_those_that_need_it() -> None:
    prometheus, gateway = Peer(names.PROMETHEUS, LAYER), Peer(names.GATEWAY, LAYER)
    assert set(openings(EVERYTHING)) == {
        Opening(LAYER, names.PROMETHEUS, 9090, (gateway,)),
        Opening(LAYER, names.LOKI, 3100, (Peer(names.ALLOY, NODES), gateway, prometheus)),
        Opening(LAYER, names.KUBE_STATE_METRICS, 8080, (prometheus,)),
        Opening(LAYER, names.GATEWAY, 8080, (TENANTS, Peer(names.GRAFANA, LAYER))),
        Opening(NODES, names.ALLOY, 12345, (prometheus,)),
    }


@pytest.mark.parametrize("absent", EVERYTHING)
def test_nobody_is_let_in_who_is_not_there_and_no_port_is_open_that_nobody_has(absent: str) -> None:
    apps = [app for app in EVERYTHING if app != absent]
    for opening in openings(apps):
        assert opening.app in apps
        assert all(peer.app in apps for peer in opening.peers if peer.app)


def rules(recorded: Environment, namespace: str, app: str) -> list[dict[str, Any]]:
    """From where an app may be reached."""
    (policy,) = (
        o for o in recorded.of("NetworkPolicy") if (o.namespace, o.name) == (namespace, f"allow-{app}")
    )
    (rule,) = policy.inputs["spec"]["ingress"]
    return list(rule["from"])


def test_the_gateway_is_reached_from_tenants_the_platforms_grafana_and_named_namespaces() -> None:
    assert rules(environment(ALL_KINDS), LAYER, names.GATEWAY) == [
        {"namespaceSelector": {"matchExpressions": [{"key": names.TENANT_LABEL, "operator": "Exists"}]}},
        {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": LAYER}},
            "podSelector": {"matchLabels": {"app.kubernetes.io/name": names.GRAFANA}},
        },
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "central"}}},
    ]


def test_both_of_the_layers_namespaces_are_closed_and_no_tenants_namespace_has_a_policy(
    recorded: Environment,
) -> None:
    policies = recorded.of("NetworkPolicy")
    closed = {
        o.namespace for o in policies if o.inputs["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    }
    assert closed == {o.namespace for o in policies} == {LAYER, NODES}
    assert {tuple(o.inputs["spec"]["policyTypes"]) for o in policies} == {("Ingress",)}


@pytest.mark.parametrize(
    ("changes", "says", "not_says"),
    [
        (
            [],
            ["notEnforced: every pod reaches the node agents' pages and kube-state-metrics"],
            ["enforced here"],
        ),
        (
            [("cluster.networkPolicies", "enforced")],
            ["enforced here, keep other pods from"],
            ["every pod reaches"],
        ),
        (
            [("layer.metrics", "off")],
            ["every pod reaches the node agents' pages."],
            ["exporter", "kube-state"],
        ),
        (
            [("layer.logs", "off"), ("tenants.wiki.logs", None)],
            ["every pod reaches kube-state-metrics"],
            ["agents'"],
        ),
    ],
)
def test_a_preview_says_what_rests_on_credentials_and_what_on_policies(
    changes: list[tuple[str, Any]], says: list[str], not_says: list[str]
) -> None:
    line = isolation.summary(parsed(changed(INCIDENT, *changes)))
    assert line.startswith("Isolation: stores and gateway answer nobody without a credential")
    assert "\n" not in line
    assert all(text in line for text in says), line
    assert not any(text in line for text in not_says), line


def test_where_nothing_can_be_read_nothing_is_said() -> None:
    raw = changed(INCIDENT, ("layer.metrics", "off"), ("layer.logs", "off"), ("tenants.wiki.logs", None))
    assert isolation.summary(parsed(raw)) == ""
