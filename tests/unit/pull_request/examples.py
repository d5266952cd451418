"""Reviews for tests: that of the shipped environment, and of changes to it."""

import functools
from typing import Any

from commands.environments import ROOT
from commands.pull_request.review import Budget, Finding, Review, Reviews
from components.budget import pod_budget
from components.cluster.pod_budget_output import as_output
from components.settings.stack_file import read_settings

BASE, HEAD = "a" * 40, "b" * 40


@functools.cache
def budget(**pods: int) -> Budget:
    """The budget of dev, with tenants that declare so many pods."""
    settings = read_settings(ROOT / "Pulumi.dev.yaml", "shared-observability", "dev")
    shop = settings.tenants["shop"]
    changed = {name: shop.model_copy(update={"pods": number}) for name, number in pods.items()}
    changed_settings = settings.model_copy(update={"tenants": {**settings.tenants, **changed}})
    return Budget.model_validate(as_output(pod_budget(changed_settings)))


def finding(**values: Any) -> Finding:
    """A violation that refuses."""
    usual = {
        "rule": "tenant-daemonset",
        "verdict": "violation",
        "level": "mandatory",
        "kind": "DaemonSet",
        "namespace": "shop",
        "name": "agent",
        "message": "DaemonSet shop/agent: a tenant runs no DaemonSet",
    }
    return Finding.model_validate({**usual, **values})


def diff(*lines: str) -> str:
    """One changed file, as git writes it."""
    head = ["diff --git base/dev/a.yaml head/dev/a.yaml", "--- base/dev/a.yaml", "+++ head/dev/a.yaml"]
    return "\n".join([*head, "@@ -1 +1 @@", *lines]) + "\n"


def review(**values: Any) -> Review:
    """One environment in which nothing changes, but for the values given."""
    usual = {
        "environment": "dev",
        "before": budget(),
        "after": budget(),
        "findings_before": (),
        "findings": (),
    }
    return Review(**{**usual, "diff": "", **values})


def reviews(*found: Review) -> Reviews:
    """A file of reviews."""
    return Reviews(base=BASE, head=HEAD, environments=found)
