"""A targeted operation accuses nobody of what it leaves alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from policies.operation import Operation
from policies.targets import Targets, of_command_line, of_this_operation
from tests.policies.test_pack import AGENT, analyze, started

AGENT_URN = "urn:pulumi:dev::p::kubernetes:apps/v1:DaemonSet::agent"
OTHER_URN = "urn:pulumi:dev::p::kubernetes:core/v1:ConfigMap::other"


@pytest.mark.parametrize(
    ("arguments", "agent", "other"),
    [
        ([], True, True),
        (["--target", AGENT_URN], True, False),
        ([f"--target={OTHER_URN}"], False, True),
        (["-t", OTHER_URN], False, True),
        ([f"-t{OTHER_URN}"], False, True),
        (["--target-replace", AGENT_URN], True, False),
        (["--target", AGENT_URN, "--target", OTHER_URN], True, True),
        (["--target", "**DaemonSet::*"], True, False),
        (["--target", "*DaemonSet::*"], False, False),
        (["--exclude", AGENT_URN], False, True),
        (["--exclude=**::agent"], False, True),
        (["--target", OTHER_URN, "--target-dependents"], True, True),
        (["--exclude", OTHER_URN, "--exclude-dependents=true"], True, True),
        (["--target-dependents-x"], True, True),
    ],
)
def test_targets_are_read_as_the_engine_reads_them(arguments: list[str], agent: bool, other: bool) -> None:
    targets = of_command_line(["up", "--yes", *arguments, "--policy-pack", "policies"])
    assert (targets.hold(AGENT_URN), targets.hold(OTHER_URN)) == (agent, other)


def test_an_untargeted_resource_with_its_old_inputs_is_not_accused() -> None:
    bad = {**AGENT, "spec": {"template": {"spec": {}}}}
    assert analyze(started(Operation(targets=Targets((OTHER_URN,)))), bad, AGENT_URN) == []
    assert analyze(started(Operation(targets=Targets((AGENT_URN,)))), bad, AGENT_URN) != []


def test_the_command_line_is_found_through_what_lies_between(tmp_path: Path) -> None:
    """A shell named `pulumi` starts another one, which starts Python: as the CLI, its language host and the pack."""
    code = "import os; from policies.targets import *; print(of_this_operation(os.getpid()))"
    inner = f"{sys.executable} -c '{code}'; true"
    shell = tmp_path / "pulumi"
    shell.symlink_to("/bin/bash")
    script = tmp_path / "script"
    script.write_text(f'/bin/bash -c "{inner}"; true')
    command = [str(shell), str(script), "--target", AGENT_URN]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == str(Targets((AGENT_URN,)))


def test_without_such_a_command_every_resource_counts() -> None:
    assert of_this_operation(os.getpid()) == Targets()
    assert of_this_operation(2**22 + 1) == Targets()
