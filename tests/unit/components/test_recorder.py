"""The recorder itself: what it would miss, every test that uses it would miss."""

from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from pulumi_kubernetes.core.v1 import ConfigMap
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from tests.support.mocks import SECRET, Recorder, record


def run(program: Callable[[], Any], **more: Any) -> Recorder:
    """A program of its own."""
    return record(program, project="project", stack="stack", **more)


def config_map(name: str, value: Any = "text", **more: Any) -> ConfigMap:
    """A small object."""
    return ConfigMap(name, metadata=ObjectMetaArgs(name=name), data={"key": value}, **more)


def test_an_unknown_call_fails_the_test() -> None:
    with pytest.raises(Exception, match="unknown call some:where:getThing"):
        run(lambda: pulumi.runtime.invoke("some:where:getThing", {}))


def test_a_known_call_is_answered() -> None:
    def program() -> None:
        answer = pulumi.runtime.invoke("some:where:getThing", {"name": "x"}).value
        pulumi.export("got", answer)

    recorded = run(program, answers={"some:where:getThing": lambda asked: {"is": asked["name"]}})
    assert recorded.outputs == {"got": {"is": "x"}}


def test_a_second_registration_under_one_urn_fails_the_test() -> None:
    def program() -> None:
        config_map("twice")
        config_map("twice")

    with pytest.raises(AssertionError, match="registered twice"):
        run(program)


@pytest.mark.parametrize("feeds", [False, True])
def test_what_an_apply_raises_fails_the_test(feeds: bool) -> None:
    def fail(_: Any) -> str:
        raise ValueError("in an apply")

    def program() -> None:
        failing = config_map("first").id.apply(fail)
        if feeds:
            config_map("second", failing)

    with pytest.raises(ValueError, match="in an apply"):
        run(program)


def test_what_is_registered_late_is_recorded_too() -> None:
    recorded = run(lambda: config_map("first").id.apply(lambda _: config_map("late")))
    assert [r.name for r in recorded.registered.values()] == ["first", "late"]


def test_secrets_are_told_from_other_inputs() -> None:
    recorded = run(lambda: config_map("with", pulumi.Output.secret("hidden")))
    (found,) = recorded.registered.values()
    assert found.inputs["data"] == {"key": "hidden"}
    assert "hidden" not in str(found.public)
    assert SECRET in str(found.public["data"])


def test_options_parents_and_warnings_are_kept() -> None:
    def program() -> None:
        parent = config_map("parent")
        pulumi.log.warn("take care")
        options = pulumi.ResourceOptions(
            parent=parent, protect=True, retain_on_delete=True, depends_on=[parent]
        )
        config_map("child", opts=options)

    recorded = run(program)
    parent, child = recorded.registered.values()
    assert (child.parent, set(child.dependencies)) == (parent.urn, {parent.urn})
    assert (child.protect, child.retain_on_delete) == (True, True)
    assert (parent.protect, parent.retain_on_delete) == (False, False)
    assert recorded.warnings == ["take care"]


def test_one_program_sees_nothing_of_the_one_before() -> None:
    def program() -> None:
        pulumi.export("key", pulumi.Config("project").get("key") or "none")

    assert run(program, config={"project:key": "value"}).outputs == {"key": "value"}
    assert run(program).outputs == {"key": "none"}
