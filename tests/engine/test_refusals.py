"""What the real engine is kept from: wrong settings, another target, a cluster that cannot be reached."""

import re
from pathlib import Path

import pytest

from tests.engine.conftest import JOURNEY_SECONDS, Journey, kubeconfig, on_cluster, stand_in_for_kubectl
from tests.support.engine import Change, Done, Stack

pytestmark = pytest.mark.timeout(JOURNEY_SECONDS)

PLAIN_KEY = "a-gateway-key-that-somebody-wrote-in-plain-text"
WRONG: dict[str, tuple[Change, ...]] = {
    "cluster.nodeGroups.web.instanceTypes[0]": (("cluster.nodeGroups.web.instanceTypes", ["t3.larg"]),),
    "cluster.nodeGroups.batch.taints[0].effect": (
        ("cluster.nodeGroups.batch.taints", [{"key": "a", "effect": "No"}]),
    ),
    "layer.nonsense": (("layer.nonsense", 1),),
    "layer.runsOn[0]": (("layer.runsOn", ["worker"]),),
    "tenants.shop.pods": (("tenants.shop.pods", 0),),
    "tenants.kube-system": (("tenants.kube-system", {"pods": 3}),),
    # Settings arrive in alphabetical order: the second one to name a namespace is told.
    "tenants.shop": (("tenants.other", {"pods": 3, "namespaces": {"shop": {}}}),),
}


def assert_refused(done: Done, stack: Stack) -> None:
    """An exit status that says so, no trace of a program's insides, and nothing in the state or on disk."""
    assert done.status != 0
    assert "Traceback" not in done.output
    assert "unhandled" not in done.output
    assert not stack.rendered.exists()
    assert [r for r in stack.resources() if not r["type"].startswith("pulumi:")] == []


def errors(done: Done) -> list[str]:
    """The lines of the one error, each a mistake, as the diagnostics show them."""
    diagnostics = done.output.partition("Diagnostics:")[2]
    (text,) = re.findall(r"error: (.*?)\n\s*\n", diagnostics, re.DOTALL)
    return [line.strip() for line in text.splitlines()]


@pytest.mark.parametrize("command", ["preview", "up"])
def test_wrong_settings_give_one_line_for_each_mistake_and_deploy_nothing(command: str, folder: Path) -> None:
    stack = Stack(folder)
    stack.change(*(change for changes in WRONG.values() for change in changes))
    done = stack.run(command)
    assert_refused(done, stack)
    head, *mistakes, tail = errors(done)
    assert head == f"{len(WRONG)} mistakes in Pulumi.dev.yaml; nothing was deployed."
    assert {line.partition(": ")[0] for line in mistakes} == set(WRONG)
    assert len(mistakes) == len(WRONG)
    assert "make preview ENV=dev" in tail


def test_a_key_in_plain_text_is_refused_and_not_shown(folder: Path) -> None:
    stack = Stack(folder)
    done = stack.run("preview", key=PLAIN_KEY)
    assert_refused(done, stack)
    assert "gatewayKey: is in plain text" in done.output
    assert PLAIN_KEY not in done.output


def test_pods_that_do_not_fit_are_refused_with_the_table_and_remedies(folder: Path) -> None:
    stack = Stack(folder)
    stack.change(("tenants.shop.pods", 700))
    done = stack.run("up")
    assert_refused(done, stack)
    assert "error: The pods of cluster dev do not fit" in done.output
    assert "Pod budget of cluster dev" in done.output
    assert "tenants.shop.pods" in done.output


def test_a_cluster_that_does_not_answer_is_said_not_guessed_and_nothing_is_deployed(folder: Path) -> None:
    """Nothing listens on port 9 of the loopback address."""
    stack = Stack(folder)
    stack.change(on_cluster(kubeconfig(folder, "https://127.0.0.1:9")))
    done = stack.run("up")
    assert_refused(done, stack)
    (mistake,) = errors(done)[1:-1]
    assert mistake.startswith("cluster.target: the cluster of context 'there' cannot be read (")
    assert "127.0.0.1:9" in mistake
    assert "--context there get --raw /readyz" in mistake
    assert "token-of-the-kubeconfig" not in done.output


def test_a_key_that_everybody_can_decrypt_is_not_taken_to_a_real_cluster(folder: Path) -> None:
    """The address is one for documentation (RFC 5737): nobody answers there, and nobody is asked."""
    server = "https://192.0.2.1"
    stack = Stack(folder)
    stack.change(on_cluster(kubeconfig(folder, server)))
    done = stack.run("up", PATH=stand_in_for_kubectl(stack, server))
    assert_refused(done, stack)
    told = [line for line in errors(done)[1:-1] if line.startswith("gatewayKey: ")]
    assert len(told) == 1
    assert "make pulumi ENV=dev ARGS='config set --secret gatewayKey'" in told[0]


def test_a_kubeconfig_that_is_not_there_is_said_even_if_the_shell_has_another(folder: Path) -> None:
    stack = Stack(folder)
    stack.change(on_cluster(folder / "absent"))
    done = stack.run("preview", KUBECONFIG=str(kubeconfig(folder, "https://127.0.0.1:9")))
    assert_refused(done, stack)
    (mistake,) = errors(done)[1:-1]
    assert mistake.startswith(f"cluster.target.path: there is no file {folder / 'absent'}")


def test_a_stack_that_was_rendered_is_not_applied_to_a_cluster_and_the_way_to_do_it_is_said(
    journey: Journey,
) -> None:
    done, files = journey.switched
    assert done.status != 0
    (mistake,) = errors(done)[1:-1]
    assert mistake.startswith("cluster.target.kind: was render at the last deployment and is kubeconfig now")
    assert "make destroy ENV=dev" in mistake
    assert files == journey["logs off"].files
