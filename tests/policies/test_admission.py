"""The guards as texts: their names and words are the pack's, and they fit the API server's bounds."""

import re
from typing import get_args

import pytest

from components.names import GUARDS, PREFIX
from components.settings.admission import Rule
from policies.admission import labels, workloads
from policies.admission.bindings import harmless_roles, listing_roles
from policies.admission.guard import SPARED_NAMESPACES, Guard, exemption_line, text
from policies.admission.guards import guards
from policies.builtin_roles import builtin_roles
from policies.pods import AGENT_KINDS
from policies.rules import BY_NAME

# Rules that the pack does not have: a tenant's priority is a quota's matter there, and no object shows who labels.
OWN_RULES = {workloads.PRIORITY_RULE, labels.RULE}
# kubernetes/kubernetes, plugin/policy/validating: MaxEvaluatedMessageExpressionSizeBytes; a longer one is not shown.
LONGEST_MESSAGE = 5 * 1024
ALL = guards()


def by_name(name: str) -> Guard:
    (found,) = (guard for guard in ALL if guard.name == name)
    return found


def test_every_guard_has_one_of_the_stated_names() -> None:
    assert tuple(guard.name for guard in ALL) == GUARDS


def test_every_check_is_named_as_the_packs_rule_and_says_its_remedy() -> None:
    for guard in ALL:
        for check in guard.checks:
            if check.rule not in OWN_RULES:
                assert BY_NAME[check.rule].remediation.startswith(check.fix[:60]), check.rule


def test_what_may_be_exempted_is_what_the_guards_with_exemptions_check() -> None:
    checked = {check.rule for guard in ALL if guard.params == "exemptions" for check in guard.checks}
    assert set(get_args(Rule)) == checked


@pytest.mark.parametrize("guard", ALL, ids=lambda guard: guard.name)
def test_no_message_is_longer_than_the_api_server_shows(guard: Guard) -> None:
    said = sum(len(d.why) + 80 for check in guard.checks for d in check.defects)
    said += sum(len(check.rule) + len(check.fix) + 10 for check in guard.checks)
    assert said < LONGEST_MESSAGE


@pytest.mark.parametrize("guard", ALL, ids=lambda guard: guard.name)
def test_under_deny_all_is_told_at_once_and_under_warn_each_rule_by_itself(guard: Guard) -> None:
    together = [check for check in guard.checks if not check.unless]
    assert len(guard.validations("deny")) == len(guard.checks) - len(together) + bool(together)
    assert len(guard.validations("warn")) == len(guard.checks)


def test_no_message_asks_the_authorizer() -> None:
    """The API server gives it to expressions only: a message that asks is replaced by the expression's text."""
    for guard in ALL:
        assert not [name for name, cel in guard.all_variables().items() if "authorizer" in cel]


def test_every_built_in_role_is_either_listing_or_harmless() -> None:
    assert set(listing_roles()) | set(harmless_roles()) == set(builtin_roles())
    assert not set(listing_roles()) & set(harmless_roles())
    assert {"view", "edit", "admin", "cluster-admin", "system:kube-scheduler"} <= set(listing_roles())
    assert {"system:discovery", "system:basic-user", "system:public-info-viewer"} <= set(harmless_roles())


def test_the_clusters_own_namespaces_and_the_layers_are_never_judged_for_workloads() -> None:
    assert set(SPARED_NAMESPACES) >= {"kube-system", "observability", "observability-nodes"}
    for guard in ALL:
        if guard.params == "exemptions":
            (spared,) = (each for each in guard.namespaces if each.operator == "NotIn")
            assert spared.values == SPARED_NAMESPACES


def test_every_agents_custom_resource_is_seen() -> None:
    seen = {group for resources in by_name(GUARDS[0]).resources for group in resources.groups}
    assert {kind.group for kind in AGENT_KINDS} <= seen


@pytest.mark.parametrize(
    "key",
    [
        f"{PREFIX}/tenant",
        "shared.observability/tenant",
        "shared_observability/logs",
        "shared-observability.tenant",
        "shared-observability_tenant",
        "shared-observability-tenant",
    ],
)
def test_keys_that_prometheus_reads_as_ours_are_ours(key: str) -> None:
    folded = re.sub(r"[^A-Za-z0-9_]", "_", key)
    assert folded.startswith("shared_observability_")
    assert re.search(labels.PATTERN, key)


@pytest.mark.parametrize("key", ["team", "example.com/shared-observability", "sharedobservability/tenant"])
def test_other_keys_are_not(key: str) -> None:
    assert not re.search(labels.PATTERN, key)


def test_a_text_is_quoted_for_cel_with_the_tenants_name_in_it() -> None:
    assert text('it gives {tenant} a "thing"') == (
        '"it gives " + "tenant " + variables.tenant + " a \\"thing\\""'
    )


def test_an_exemption_is_one_line_whatever_its_reason() -> None:
    line = exemption_line("daemonset-placement", "gpu", "plugin.v2", "needs\nevery node")
    assert line == "daemonset-placement gpu/plugin.v2 needs every node"
