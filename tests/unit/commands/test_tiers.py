"""Tiers: their budgets, and that green means tested."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands import tiers
from commands.environments import ROOT


def test_the_fast_tiers_stay_under_a_minute_and_all_of_them_under_18() -> None:
    budgets = {name: tier.budget for name, tier in tiers.TIERS.items()}
    assert budgets["lint"] + budgets["types"] + budgets["unit"] <= 60
    assert sum(budgets.values()) <= 18 * 60


def test_every_test_runs_in_a_tier_and_one_that_needs_tools_in_the_tier_of_its_folder() -> None:
    folders = {
        Path(a): name for name, tier in tiers.TIERS.items() for c in tier.commands for a in c if "/" in a
    }
    for test in (ROOT / "tests").rglob("test_*.py"):
        parents = test.relative_to(ROOT).parents
        tier = next((folders[p] for p in parents if p in folders), None)
        needed = {"engine", "cluster", "eks", "services"} & {p.name for p in parents} or {"unit"}
        inside_unit = Path("tests/unit") in parents
        assert tier == ("unit" if inside_unit else needed.pop()), test


GREEN = "def test_a(): pass\n"
SKIPPED = "import pytest\n@pytest.mark.skip\ndef test_b(): pass\n"
MODULE_SKIPPED = "import pytest\npytest.skip('no cluster', allow_module_level=True)\n"
EXPECTED_FAILURE = "import pytest\n@pytest.mark.xfail\ndef test_c(): assert False\n"


@pytest.mark.parametrize(
    ("text", "green"),
    [
        (GREEN + EXPECTED_FAILURE, True),
        ("", False),
        (GREEN + SKIPPED, False),
        (MODULE_SKIPPED, False),
    ],
    ids=["passed and an expected failure", "no test", "one skipped", "a module skipped"],
)
def test_a_tier_is_green_only_if_tests_ran_and_none_was_skipped(
    text: str, green: bool, tmp_path: Path
) -> None:
    (tmp_path / "test_it.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "commands.nothing_skipped",
        "-p",
        "no:cacheprovider",
        ".",
    ]
    variables = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == green, done.stdout
    assert green or "not green" in done.stdout


def test_a_failed_tier_fails_the_run_and_the_others_still_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, good = ((sys.executable, "-c", f"raise SystemExit({code})") for code in (1, 0))
    monkeypatch.setattr(tiers, "TIERS", {"lint": tiers.Tier(5, (bad, good)), "unit": tiers.Tier(7, (good,))})
    assert tiers.main(["lint", "unit"]) == 1
    told = capsys.readouterr().out
    assert "== lint: budget 5 s" in told
    assert "lint      FAILED" in told
    assert "unit      passed" in told
    assert tiers.main(["unit"]) == 0


def test_a_tier_over_its_budget_is_told() -> None:
    assert "over its budget" in tiers.summary({"lint": (True, tiers.TIERS["lint"].budget + 0.1)})
    assert "over its budget" not in tiers.summary({"lint": (True, 0.1)})
