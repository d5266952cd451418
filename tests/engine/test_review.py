"""A change reviewed with the real engine: both sides rendered without any key, compared, counted and judged."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from commands.engine import temporary_folder
from commands.pull_request import evidence
from commands.pull_request.comment import comment
from commands.pull_request.review import Review, Reviews

# Three renders, of which one fails early: 25 s alone, several times that beside other work.
pytestmark = pytest.mark.timeout(600)
TENANTS = "  shared-observability:tenants:\n"
PASSPHRASE = "PULUMI_CONFIG_PASSPHRASE"


@dataclass(frozen=True)
class Reviewed:
    """A change that adds a tenant to `dev`, and a new environment `sim` with far too many pods."""

    dev: Review
    sim: Review
    out: Path


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reviewed]:
    out = tmp_path_factory.mktemp("review")
    with temporary_folder() as folder, pytest.MonkeyPatch.context() as patch:
        # As in a fork's pull request: no key, and a passphrase that would be the wrong one.
        patch.setenv(PASSPHRASE, "not the one of these stacks")
        before = evidence.unpack("HEAD", folder / "base")
        after = evidence.unpack("HEAD", folder / "head")
        (before.root / "Pulumi.sim.yaml").unlink()
        change(after.root / "Pulumi.dev.yaml", "    quagga: {pods: 40, namespace: create}\n")
        change(after.root / "Pulumi.sim.yaml", "    quagga: {pods: 4000, namespace: create}\n")
        dev, sim = (evidence.review(name, before, after, out) for name in ("dev", "sim"))
        yield Reviewed(dev, sim, out)
    shutil.rmtree(out)


def change(stack_file: Path, tenant: str) -> None:
    text = stack_file.read_text(encoding="utf-8")
    assert TENANTS in text
    stack_file.write_text(text.replace(TENANTS, TENANTS + tenant, 1), encoding="utf-8")


def test_the_budget_is_counted_on_both_sides(reviewed: Reviewed) -> None:
    assert reviewed.dev.before is not None
    assert reviewed.dev.after is not None
    assert reviewed.dev.after.total.need - reviewed.dev.before.total.need == 40
    assert reviewed.sim.before is None
    assert reviewed.sim.after is not None
    assert not reviewed.sim.after.fits


def test_the_diff_holds_the_new_tenants_objects_and_the_gateways_change_alone(reviewed: Reviewed) -> None:
    assert reviewed.dev.problems == reviewed.dev.notes == ()
    diff = reviewed.dev.diff or ""
    assert "+++ head/dev/1-v1-namespace-default-quagga.yaml" in diff
    assert "+    pods: '40'" in diff or '+    pods: "40"' in diff
    headers = [line for line in diff.splitlines() if line.startswith("diff --git ")]
    ours = [line for line in headers if "quagga" in line]
    others = [line for line in headers if "quagga" not in line]
    assert len(ours) >= 4
    # Loki's overrides, and the gateway with its tokens' new digest.
    assert others
    assert all("loki" in line or "gateway" in line for line in others), others
    assert (reviewed.out / "dev.diff").read_text(encoding="utf-8") == diff


def test_the_policies_judge_both_sides_with_the_declared_node_groups(reviewed: Reviewed) -> None:
    assert reviewed.dev.findings == reviewed.dev.findings_before == ()
    sarif = json.loads((reviewed.out / "dev.sarif").read_text(encoding="utf-8"))
    assert sarif["runs"][0]["results"] == []


def test_what_does_not_fit_is_refused_in_the_programs_words_and_not_compared(reviewed: Reviewed) -> None:
    (problem,) = reviewed.sim.problems
    assert "do not fit" in problem
    assert "Traceback" not in problem
    assert reviewed.sim.diff is None
    assert reviewed.sim.findings is None
    assert reviewed.sim.notes == ()


def test_the_comment_can_be_written_and_refuses_the_change_for_one_environment(reviewed: Reviewed) -> None:
    found = Reviews(base="a" * 40, head="b" * 40, environments=(reviewed.dev, reviewed.sim))
    text = comment(found)
    assert "Cannot be deployed as it is: 1 of 2 environments" in text
    assert "<code>quagga</code>" in text
