"""What is not known never hides what is wrong."""

import copy
from collections.abc import Iterator
from typing import Any

from policies.values import UNKNOWN
from tests.policies.generated import bound, daemon_set, verdicts


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place inside a value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in steps:
        yield (*at, step)
        yield from paths(member, (*at, step))


def with_unknown(raw: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    changed = copy.deepcopy(raw)
    *parents, last = path
    node: Any = changed
    for step in parents:
        node = node[step]
    node[last] = UNKNOWN
    return changed


TENANTS_POD = {
    "hostNetwork": True,
    "volumes": [{"name": "a", "hostPath": {"path": "/"}}],
    "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}],
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "containers": [
        {"name": "a", "securityContext": {"privileged": True, "capabilities": {"add": ["SYS_ADMIN"]}}},
        {"name": "b", "ports": [{"containerPort": 1, "hostPort": 1}]},
    ],
}


def test_no_unknown_value_hides_a_violation_of_a_tenants_daemon_set() -> None:
    whole = daemon_set(TENANTS_POD)
    whole["metadata"]["namespace"] = "shop"
    expected = {rule for rule, verdict in verdicts(whole) if verdict == "violation"}
    assert len(expected) >= 4
    for path in paths(whole["spec"], ("spec",)):
        found = {rule for rule, _ in verdicts(with_unknown(whole, path))}
        assert expected <= found, path


def test_an_unknown_namespace_hides_nothing_where_there_are_tenants() -> None:
    whole = daemon_set(TENANTS_POD)
    for path in (("metadata", "namespace"), ("metadata",)):
        found = verdicts(with_unknown(whole, path))
        assert {("tenant-daemonset", "undecided"), ("tenant-host-access", "undecided")} <= found, path


def test_no_unknown_value_hides_a_right() -> None:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    role, binding = bound(rules)
    for path in paths(role["rules"], ("rules",)):
        found = verdicts(with_unknown(role, path), binding)
        assert {rule for rule, _ in found} >= {"tenant-cluster-pod-list"}, path
    for part in ("subjects", "roleRef"):
        for path in (*paths(binding[part], (part,)), (part,)):
            if path[-1] in ("apiGroup",) or path == ("subjects", 0, "name"):
                continue  # whichever account of the namespace it is, it is the tenant's
            found = verdicts(role, with_unknown(binding, path))
            assert {rule for rule, _ in found} >= {"tenant-cluster-pod-list"}, path
