"""Foreign text in GitHub's Markdown: names, messages and diffs that anybody may have written.

Nothing of it may become markup, a mention that notifies somebody, a link, or the end of the block it stands in. GitHub
looks for mentions and references after it has read the Markdown, in everything that is not code, so an entity for `@`
does not keep it from notifying; a character of no width behind it does.
"""

import re

NO_WIDTH = "&#8203;"
LONGEST_NAME = 120  # characters; a Kubernetes name has at most 253, and a table has columns
SHORTENED = "…"


def visible(text: str) -> str:
    """The text with control characters, line ends and those that change the direction of writing made visible."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def prose(text: str, longest: int = 600) -> str:
    """A foreign sentence in a line or a cell of a table."""
    written = "".join(
        c if c.isalnum() or c == " " else _entity(c) for c in _shortened(visible(text), longest)
    )
    return re.sub(r"(&#(?:64|35);)", rf"\1{NO_WIDTH}", written)


def code(text: str) -> str:
    """A foreign name, as code."""
    shown = _shortened(visible(text), LONGEST_NAME)
    return f"<code>{''.join(c if c.isalnum() else _entity(c) for c in shown)}</code>"


def fenced(text: str, language: str = "") -> str:
    """A foreign text as a block; its fence is longer than any in it."""
    lines = "\n".join(visible(line) for line in text.replace("\t", "    ").split("\n"))
    longest = max((len(run) for run in re.findall(r"`+", lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{lines}\n{fence}"


def length(text: str) -> int:
    """How long GitHub takes a text for, at most: in UTF-16 units, of which a character has one or two."""
    return len(text.encode("utf-16-le")) // 2


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + SHORTENED


def _entity(character: str) -> str:
    # ASCII punctuation is what Markdown and HTML are made of; the rest has no meaning to either.
    return f"&#{ord(character)};" if character.isascii() else character
