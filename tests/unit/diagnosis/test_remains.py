"""What a destroy that did not end is said to have left."""

from typing import Any

from diagnosis.remains import remains
from diagnosis.report import remains_report


def namespace(name: str, phase: str, *conditions: tuple[str, str, str]) -> dict[str, Any]:
    told = [{"type": kind, "status": status, "message": message} for kind, status, message in conditions]
    return {"metadata": {"name": name}, "status": {"phase": phase, "conditions": told}}


def test_nothing_left_is_said_in_a_line() -> None:
    assert remains_report(list(remains([])), "prod") == "The layer's namespaces are gone."


def test_a_namespace_that_waits_for_a_finalizer_says_so_in_the_controllers_words() -> None:
    waits = (
        "NamespaceFinalizersRemaining",
        "True",
        "Some content has finalizers remaining: example.com/hold in 1",
    )
    fine = ("NamespaceDeletionContentFailure", "False", "All content successfully deleted")
    (found,) = remains([namespace("observability", "Terminating", fine, waits)])
    assert found.reason == f"it is being deleted: {waits[2]}"
    assert "kubectl describe namespace observability" in found.remedy
    assert "Namespace observability\n  reason  it is being deleted" in remains_report([found], "prod")


def test_a_namespace_that_was_not_reached_and_one_that_just_goes_are_told_apart() -> None:
    active, going = remains(
        [namespace("observability", "Active"), namespace("observability-nodes", "Terminating")]
    )
    assert active.reason == "it was not deleted"
    assert "nothing says what it waits for" in going.reason
