"""The guard's pattern against a small reader of PromQL that knows words, strings and comments.

What it does to real servers is in tests/services/gateway/test_promql.py.
"""

import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.layer.config.gateway_guard import AGGREGATIONS, ANSWER, REFUSED
from tests.services.gateway.promql import expressions

PATTERN = re.compile(REFUSED, re.IGNORECASE)
TOKEN = re.compile(
    r"""(?P<blank>[ \t\n\r]+|\#[^\n]*) | (?P<string>"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | `[^`]*`)
      | (?P<word>[A-Za-z_:][A-Za-z0-9_:]*) | (?P<number>[0-9.][0-9A-Za-z_.]*) | (?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)


def tokens(query: str) -> list[str]:
    """Words, strings, numbers and marks, in order."""
    return [match[0] for match in TOKEN.finditer(query) if match.lastgroup != "blank"]


def parameters(read: list[str]) -> Iterator[list[str]]:
    """What stands in the place of a parameter, for each aggregation that takes one."""
    for at, word in enumerate(read):
        if word.lower() not in AGGREGATIONS:
            continue
        rest = read[at + 1 :]
        if rest and rest[0].lower() in ("by", "without") and ")" in rest:
            rest = rest[rest.index(")") + 1 :]
        if not rest or rest[0] != "(":
            continue
        depth, inside = 0, list[str]()
        for token in rest[1:]:
            if token == "," and not depth:
                yield inside
                break
            depth += (token in "([{") - (token in ")]}")
            inside.append(token)


def reads_others(query: str) -> bool:
    """Whether a parameter could hold a selector: a word, or anything in braces."""
    numbers = ("inf", "nan")
    return any(
        token == "{" or (re.match("[A-Za-z_:]", token) and token.lower() not in numbers)
        for parameter in parameters(tokens(query))
        for token in parameter
    )


def encodings(query: str) -> list[str]:
    """As clients send it, and as one who hides something does."""
    hidden = "".join(f"%{ord(c):02x}" if c in "tqlsck_" else quote(c, safe="") for c in query)
    return [quote(query, safe=""), quote_plus(query), quote(query, safe="()!*',:;/"), hidden]


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(query=expressions())
def test_whatever_could_read_others_is_refused_in_any_encoding(query: str) -> None:
    if reads_others(query):
        assert all(PATTERN.search(text) for text in encodings(query))


WORDS = st.sampled_from(
    [
        *AGGREGATIONS,
        "TopK",
        "by",
        "BY",
        "without",
        "scalar",
        "x",
        "namespace",
        "inf",
        "5",
        "1e-3",
        "0x1",
        "-",
        "+",
        "*",
    ]
)
MARKS = st.sampled_from(
    ["(", "(", ")", ",", "{", "}", "[5m]", " ", "\n", "\t", "# (5,\n", '"a"', "'", "`", "=", "#"]
)


@settings(max_examples=300)
@given(parts=st.lists(WORDS | MARKS, max_size=14))
def test_pieces_in_any_order_do_not_get_past_it(parts: list[str]) -> None:
    query = "".join(parts)
    if reads_others(query):
        assert all(PATTERN.search(text) for text in encodings(query))


@pytest.mark.parametrize("word", AGGREGATIONS)
@pytest.mark.parametrize(
    "between", ["", " ", "\n\t ", "#", " # x\n", " by (a) ", " By(a)", " without () ", " by#\n(a)"]
)
def test_each_aggregation_is_known_whatever_stands_behind_its_word(word: str, between: str) -> None:
    for name in (word, word.upper(), word.capitalize()):
        query = f"{name}{between}(scalar(secret), x)"
        assert all(PATTERN.search(text) for text in encodings(query)[:3])
        plain = f"{name}{between}(5, x)"
        assert "#" in between or not any(PATTERN.search(text) for text in encodings(plain)[:3])


@pytest.mark.parametrize(
    "query",
    ["topk_total", "x{quantile='0.9'}", "x{quantile = '0.9'}", "sum by (quantile, topk) (x)", "quantilebytes_total",
     "histogram_quantile(0.9, x)", "quantile_over_time(0.9, x[5m])", "scalar(x)", "x * scalar(topk(1, y))"],
)  # fmt: skip
def test_words_that_are_no_aggregation_pass(query: str) -> None:
    assert not any(PATTERN.search(text) for text in encodings(query)[:3])


def test_the_aggregations_with_a_parameter_are_those_of_the_parser() -> None:
    """IsAggregatorWithParam of promql/parser/lex.go; `test_promql.py` has each of them attack."""
    assert set(AGGREGATIONS) == {"topk", "bottomk", "quantile", "count_values", "limitk", "limit_ratio"}


def test_the_pattern_can_stand_in_a_quoted_string_of_nginx() -> None:
    assert not {'"', "\\", "\n"} & set(REFUSED)
    assert "'" not in ANSWER
    assert PATTERN.groups == 0  # captures would replace those of the location
