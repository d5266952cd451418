"""The pages in docs/policies are written from the rules."""

from pathlib import Path

from policies.docs import pages
from policies.rules import RULES

FOLDER = Path(__file__).parents[2] / "docs" / "policies"


def test_every_page_says_what_its_rule_says() -> None:
    written = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    assert written == pages(), "run: python -m policies.docs docs/policies"


def test_a_rule_and_its_page_share_one_name() -> None:
    assert {f"{rule.name}.md" for rule in RULES} | {"README.md"} == set(pages())
