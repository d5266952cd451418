"""What is too costly to read is refused in any encoding, and what dashboards and people ask is not."""

import re
from urllib.parse import quote, quote_plus

import pytest

from components.layer.config.gateway_cost import ANSWER, COSTLY, TOO_LONG

PATTERN = re.compile(COSTLY, re.IGNORECASE)


def encodings(query: str) -> list[str]:
    """As clients send it, with and without the marks that need not be encoded."""
    return [quote(query, safe=""), quote_plus(query), quote(query, safe="(){}\\!*',:;/-")]


def in_matcher(expression: str) -> list[str]:
    """A regular expression in each kind of string."""
    doubled = expression.replace("\\", "\\\\")
    return [
        f'x{{a=~"{doubled}"}}',
        f"x{{a=~'{doubled}'}}",
        f"x{{a=~`{expression}`}}",
        f'{{a="b"}} |~ "{doubled}"',
    ]


REPEATED = [
    "(a{0,100}){0,9}" * 3, "(aaaa){1000}", "(a){6}", "(a){1,99}", "(a){5,}9{" + "a{2}" * 20, "(a){2,6}", "(a){05}",
    "((" + "a" * 4100 + "){5}b){5}", "(a){2}" + "b" * 4100,
    "(a)(?i){1000}", r"(a)\Q\E{1000}", r"(a)\E{9}", "(a|b){3}" * 3, "a{1000}" * 21, "[0-9]{2}" * 21, r"\pL" * 21,
    r"\PN" * 21, r"\p{Greek}" * 21, "(" * 301 + ")" * 301,
]  # fmt: skip


@pytest.mark.parametrize("expression", REPEATED, ids=lambda text: text[:30])
def test_a_regular_expression_that_grows_is_refused(expression: str) -> None:
    for query in in_matcher(expression):
        assert all(PATTERN.search(text) for text in encodings(query)), query


@pytest.mark.parametrize(
    "query",
    [
        "(" * 301 + "1" + ")" * 301, "-" * 51 + "1", "- " * 51 + "1", "-+" * 26 + "1", "abs(" * 301 + "x" + ")" * 301,
        r'x{a=~"(big\x29\x7b1000}"}', r'x{a=~"(big)\u007b1000}"}', r'x{a=~"(big)\1731000}"}', r'x{a=~"\U00000028"}',
    ],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_nesting_and_what_hides_in_a_string_is_refused(query: str) -> None:
    assert all(PATTERN.search(text) for text in encodings(query))


def test_encoded_letters_and_digits_are_refused() -> None:
    for text in ("%28a%29%7b%31000%7d", "%5c%70L", "%5cx%37b", "%2d" * 51, "%2D-" * 26, "%2b%20%2d" * 26):
        assert PATTERN.search(text)


HARMLESS = [
    'sum by (pod) (rate(http_requests_total{code=~"5..",pod=~"shop-[a-z0-9]{8,10}-[a-z0-9]{5}"}[5m]))',
    'x{ip=~"([0-9]{1,3}[.]){3}[0-9]{1,3}"}', r'{a="b"} |~ "([0-9]{1,3}\\.){3}[0-9]{1,3}"', "a - -b", "1 - (-1)",
    'x{a=~"(a|b)+(c|d)*"}', '{a="b"} | regexp "(?P<method>\\w+) (?P<path>[\\w|/]+)"', r'{a="b"} |~ "\\x1b\\[[0-9]+m"',
    r'{a="b"} |~ `\d{4}-\d{2}-\d{2}T\d{2}:\d{2}`', r'{a="b"} | line_format "{{.status}} {{.path}}"', '{a=~"[{]5"}',
    "histogram_quantile(0.9, sum by (le) (rate(x_bucket[5m])))", 'x{pod=~"' + "|".join(["shop-1-abc"] * 300) + '"}',
    r'x{name=~"\\pL+"}', 'label_replace(x, "a", "$1", "b", "(.*)-[0-9]{1,2}")',
    r'x{a=~"a\\(b\\)"}', r'{a="\u00e9\u001b"}',
    "(" * 300 + "1" + ")" * 300, "-" * 50 + "1", '{a="b"} |= "a{b}"', 'x{a=~".{1,8}(ab){2}(cd){3}"}',
]  # fmt: skip


@pytest.mark.parametrize("query", HARMLESS, ids=lambda text: text[:30])
def test_what_people_ask_passes(query: str) -> None:
    assert not any(PATTERN.search(text) for text in encodings(query))


def test_the_length_of_a_query_for_metrics_is_bounded() -> None:
    assert re.search(TOO_LONG, "a" * (16 * 1024 + 1))
    assert not re.search(TOO_LONG, "a" * (16 * 1024))


def test_the_patterns_can_stand_in_a_quoted_string_of_nginx() -> None:
    assert not {'"', "\\", "\n"} & set(COSTLY + TOO_LONG)
    assert "'" not in ANSWER
    assert PATTERN.groups == 0
