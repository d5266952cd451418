"""Every failure that is made on the simulator has a page of the same name, and every page is in the index."""

import re

import pytest

from commands.environments import ROOT

FOLDER = ROOT / "docs" / "runbooks"
FAILURES = [path.stem.removeprefix("test_") for path in (ROOT / "tests/cluster/failures").glob("test_*.py")]
INDEX = (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_that_was_made_has_a_page_that_says_what_is_seen_and_what_helps(failure: str) -> None:
    page = (FOLDER / f"{failure.replace('_', '-')}.md").read_text(encoding="utf-8")
    assert "**What is seen.**" in page
    assert re.search(r"make (up|repair|drift|destroy|why)\b", page)


def test_the_index_leads_to_every_page() -> None:
    pages = {path.name for path in FOLDER.glob("*.md")} - {"README.md"}
    assert {f"{failure.replace('_', '-')}.md" for failure in FAILURES} <= pages
    assert pages == set(re.findall(r"\]\(([\w-]+\.md)\)", INDEX))
