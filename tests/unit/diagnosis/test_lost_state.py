"""When a cluster with objects of this stack is refused, since the stack's state knows none."""

from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from components.cluster import lost_state, own_state
from components.cluster.live import Live, LiveNamespace, ObjectRef
from components.cluster.lost_state import TAKE_OVER_VARIABLE, owned, refuse_lost_state
from components.settings.mistakes import SettingsError

QUOTA = ObjectRef("ResourceQuota", "shop", "shared-observability-pods")
ROLE = ObjectRef("ClusterRole", "", "shared-observability-alloy")


def live(owner: str = "prod", **more: Any) -> Live:
    kept = LiveNamespace(owner=owner, created=True)
    namespaces = {"kube-system": LiveNamespace(), "observability": LiveNamespace(owner=owner), "made": kept}
    return Live("uid", namespaces=namespaces, owners={QUOTA: owner, ROLE: owner}, **more)


@pytest.fixture
def empty_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TAKE_OVER_VARIABLE, raising=False)
    monkeypatch.setattr(lost_state, "state_holds_objects", lambda: False)


@pytest.mark.usefixtures("empty_state")
def test_objects_of_a_stack_without_state_are_refused_with_every_way_out() -> None:
    with pytest.raises(SettingsError) as caught:
        refuse_lost_state(live(), {}, "prod")
    text = str(caught.value)
    assert "Namespace observability, ClusterRole shared-observability-alloy, ResourceQuota shop/" in text
    assert "PULUMI_BACKEND_URL" in text
    assert "docs/runbooks/lost-state.md" in text
    assert "make take-over ENV=prod" in text


@pytest.mark.usefixtures("empty_state")
def test_a_cluster_without_objects_of_this_stack_is_a_first_deployment() -> None:
    refuse_lost_state(live("other"), {}, "prod")
    refuse_lost_state(None, {}, "prod")
    gone = {"made": LiveNamespace(owner="prod", created=True)}
    refuse_lost_state(Live("uid", namespaces=gone), {}, "prod")


@pytest.mark.usefixtures("empty_state")
def test_outputs_of_an_earlier_deployment_are_a_state() -> None:
    refuse_lost_state(live(), {"cluster": "prod"}, "prod")


def test_a_first_deployment_that_was_cut_off_has_objects_in_its_state_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lost_state, "state_holds_objects", lambda: True)
    refuse_lost_state(live(), {}, "prod")


@pytest.mark.usefixtures("empty_state")
def test_who_takes_over_names_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TAKE_OVER_VARIABLE, "prod")
    refuse_lost_state(live(), {}, "prod")
    monkeypatch.setenv(TAKE_OVER_VARIABLE, "staging")
    with pytest.raises(SettingsError):
        refuse_lost_state(live(), {}, "prod")


def test_a_namespace_that_a_tenant_keeps_is_no_sign_of_a_lost_state() -> None:
    assert owned(live(), "prod") == [ObjectRef("Namespace", "", "observability"), ROLE, QUOTA]


def test_namespaces_that_an_administrator_made_for_the_first_deployment_are_none_either() -> None:
    made = {"observability": LiveNamespace(owner="prod"), "observability-nodes": LiveNamespace(owner="prod")}
    assert owned(Live("uid", namespaces=made, owners={QUOTA: "other"}), "prod") == []


def test_what_a_refused_deployment_leaves_in_the_state_is_no_object(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"a": {"type": "pulumi:pulumi:Stack"}, "b": {"type": "pulumi:providers:pulumi"}}
    asked: list[dict[str, Any]] = []

    def invoke(token: str, arguments: dict[str, Any]) -> SimpleNamespace:
        asked.append({token: arguments})
        return SimpleNamespace(value={"outputs": known})

    monkeypatch.setattr(pulumi.runtime, "invoke", invoke)
    monkeypatch.setattr(pulumi, "get_organization", lambda: "organization")
    monkeypatch.setattr(pulumi, "get_project", lambda: "project")
    monkeypatch.setattr(pulumi, "get_stack", lambda: "prod")
    assert not lost_state.state_holds_objects()
    known["c"] = {"type": "shared-observability:cluster:Target"}
    assert lost_state.state_holds_objects()
    # By another key the engine itself dies, and leaves a lock behind.
    assert asked[0] == {"pulumi:pulumi:readStackResourceOutputs": {"stackName": "organization/project/prod"}}


def test_a_state_that_is_just_being_written_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    between = [Exception("invocation returned an error: failed to load checkpoint: EOF")] * 2

    def invoke(token: str, arguments: dict[str, Any]) -> SimpleNamespace:
        if between:
            raise between.pop()
        return SimpleNamespace(value={"outputs": {"a": 1}})

    monkeypatch.setattr(pulumi.runtime, "invoke", invoke)
    monkeypatch.setattr(own_state, "SECONDS_BETWEEN", 0)
    assert own_state.read("pulumi:pulumi:readStackOutputs", {"name": "x"}) == {"a": 1}


@pytest.mark.parametrize(("message", "tries"), [("no such stack", 1), ("failed to load checkpoint: EOF", 20)])
def test_a_state_that_cannot_be_read_at_all_is_an_error(
    monkeypatch: pytest.MonkeyPatch, message: str, tries: int
) -> None:
    asked: list[str] = []

    def invoke(token: str, arguments: dict[str, Any]) -> SimpleNamespace:
        asked.append(token)
        raise Exception(message)  # noqa: TRY002 - as the SDK does

    monkeypatch.setattr(pulumi.runtime, "invoke", invoke)
    monkeypatch.setattr(own_state, "SECONDS_BETWEEN", 0)
    with pytest.raises(Exception, match=message):
        own_state.read("pulumi:pulumi:readStackOutputs", {"name": "x"})
    assert len(asked) == tries
