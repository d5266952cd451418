"""Refuses queries whose mere reading takes memory out of proportion: a few end a process that all tenants share.

What was measured is in docs/adr/0019-costly-queries.md.

A regular expression of Go's is compiled to a program as long as its text (regexp/syntax, compile.go), but for two
things: a counted repetition, which writes its atom out again, and a class of Unicode's, which is a table. And a parser
calls itself for each parenthesis and sign. So, in the query string as it came, in any encoding:

- Counted repetitions: of a class or a character 20 at most; of a group 2, with counts up to 5, as in `([0-9]+[.]){3}`,
  in a query of 4 kB.
- 20 Unicode classes (`pL` behind a backslash), 300 opening parentheses, 50 signs in a row.
- No escape in a string that stands for a printable character: it could hide any of these.
- For a query of metrics 16 kB.

Pure: nginx compiles the patterns, tests compile them with Python.
"""

from components.layer.config.gateway_guard import ENCODED_WORD

LONGEST_METRICS_ARGUMENTS = 16 * 1024
LONGEST_WITH_REPEATED_GROUP = 4 * 1024

# No backslash and no double quote, as in gateway_guard.py: the class is every character but the printable others.
_BACKSLASH = "(?:%5c|[^]!-[^-~ ])"
_OPEN, _CLOSE = "(?:[(]|%28)", "(?:[)]|%29)"
_BRACE, _END, _COMMA = "(?:[{]|%7b)", "(?:[}]|%7d)", "(?:,|%2c)"
_BLANK = "(?:[+]|%20|%0[9ad])"
_COUNTED = f"{_BRACE}[0-9]"
# `(?i)` and an empty quotation are nothing that could be repeated: the group before them is.
_GROUP = f"(?:{_CLOSE}|{_BACKSLASH}[eq])"
_FEW = f"{_BRACE}[0-5](?:{_COMMA}[0-5]?)?{_END}"


def _more_than(count: int, what: str) -> str:
    """More of these than so many, in one pass over the text."""
    return f"^(?:(?:(?!{what}).)*+{what}){{{count + 1}}}"


_HIDDEN = f"{_BACKSLASH}(?:x[2-7]|u00[2-7]|u000000[2-7]|0[4-7][0-7]|1[0-7][0-7])"

COSTLY = "|".join(
    (
        ENCODED_WORD,
        _HIDDEN,
        f"{_GROUP}(?={_COUNTED})(?!{_FEW})",
        _more_than(2, f"{_GROUP}{_COUNTED}"),
        # Two of them in each other write out 25 times what is in them.
        f"^(?=.{{{LONGEST_WITH_REPEATED_GROUP + 1}}}).*{_GROUP}{_COUNTED}",
        _more_than(20, _COUNTED),
        _more_than(20, f"{_BACKSLASH}p"),
        _more_than(300, _OPEN),
        f"(?:(?:-|%2[bd]){_BLANK}*+){{51}}",
    )
)
"""What no query string may hold; case is ignored."""

TOO_LONG = f".{{{LONGEST_METRICS_ARGUMENTS + 1}}}"
"""What no query string for metrics may hold beside."""

ANSWER = (
    '{"status":"error","errorType":"bad_data","error":"refused as too costly to read: see docs/reads.md, '
    'What is answered"}'
)
"""Body of the 400, in the form of Prometheus' own errors."""
