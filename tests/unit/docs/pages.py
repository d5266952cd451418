"""All pages of the documentation, and what tests look for in them."""

import re
from collections.abc import Iterator
from pathlib import Path

from commands.environments import ROOT

FENCE = re.compile(r"^(?:```|~~~)(\w*)\n(.*?)^(?:```|~~~)$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
# Not ours: packages, tools, renders and caches.
FOREIGN = re.compile(r"\.|rendered$|build$")


def pages() -> list[Path]:
    """Every Markdown file of the project."""
    folders = [folder for folder in ROOT.iterdir() if folder.is_dir() and not FOREIGN.match(folder.name)]
    return sorted([*ROOT.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))])


def named(page: Path) -> str:
    """Its path in the project, for messages and test ids."""
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def blocks(page: Path, language: str) -> list[str]:
    """Its fenced blocks in one language."""
    return [text for found, text in FENCE.findall(page.read_text(encoding="utf-8")) if found == language]


def spans(page: Path) -> list[str]:
    """What stands in backticks within a line."""
    return SPAN.findall(prose(page))


def code(page: Path) -> Iterator[str]:
    """Everything that is written as code: spans, and lines of fenced blocks."""
    yield from spans(page)
    yield from (
        line for _, text in FENCE.findall(page.read_text(encoding="utf-8")) for line in text.splitlines()
    )


def links(page: Path) -> list[str]:
    """Targets of its links that lead to a file of the project."""
    found = LINK.findall(SPAN.sub("", prose(page)))
    html = re.findall(r"(?:src|srcset|href)=\"([^\"]+)\"", prose(page))
    return [target for target in [*found, *html] if "://" not in target and not target.startswith("mailto:")]
