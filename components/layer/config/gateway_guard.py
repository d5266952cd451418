"""Refuses the queries that prom-label-proxy passes on unscoped: an aggregation whose parameter is no literal.

prom-label-proxy scopes every selector that it walks to, and does not walk into an aggregation's parameter
(injectproxy/enforce.go at v0.14.0; docs/adr/0011-aggregation-parameters.md). A parameter is a scalar expression, and
`scalar(...)` in one reads any tenant's value. A number or a name in quotes holds no selector.

The pattern is looked for in the query string as it came, so it holds for it in any encoding:

- Letters, digits and `_` must come as they are: no client encodes them, and encoded ones could hide a word.
- PromQL's lexer reads a word whole, in any case, and nothing but blanks and comments may stand between an aggregation's
  word and what follows. So each aggregation that takes a parameter shows as its word, blanks, and one of: an opening
  parenthesis, `by`, `without`, or a comment.
- Behind such a word only the plain form passes: an optional list of labels, a parenthesis, a literal, a comma.

The same text inside a string is refused too. Pure: nginx compiles the pattern, tests compile it with Python.
"""

# promql/parser/lex.go, IsAggregatorWithParam, of the parser in prom-label-proxy 0.14.0 and of Prometheus 3.16.
AGGREGATIONS = ("topk", "bottomk", "quantile", "count_values", "limitk", "limit_ratio")

# No backslash and no double quote: the pattern stands in a quoted string of nginx.conf, which has escapes of its own.
ENCODED_WORD = "%(?:3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])"
_BLANKS = "(?:[+]|%20|%0[9ad])*+"
_BLANK = "(?:[+]|%20|%0[9ad])"
_COMMENT = "(?:#|%23)"
_OPEN, _CLOSE, _COMMA = "(?:[(]|%28)", "(?:[)]|%29)", "(?:,|%2c)"
_SIGN = "(?:-|%2b)"
_QUOTE = "(?:%22|%27|%60|')"
_NUMBER = f"{_SIGN}?(?:inf|nan|[.]?[0-9][0-9a-z_.]*+(?:(?<=e){_SIGN}[0-9_]++)?)"
_NAME = f"{_QUOTE}[a-z_][a-z0-9_]*+{_QUOTE}"
_WORD = f"(?:{'|'.join(AGGREGATIONS)})"
_GROUPING = f"{_BLANKS}(?:by|without){_BLANKS}{_OPEN}(?:[a-z0-9_,+]|%20|%0[9ad]|%2c)*+{_CLOSE}"
_PLAIN = f"(?:{_GROUPING})?{_BLANKS}{_OPEN}{_BLANKS}(?:{_NUMBER}|{_NAME}){_BLANKS}{_COMMA}"

REFUSED = f"{ENCODED_WORD}|{_WORD}(?={_BLANKS}(?:{_OPEN}|{_COMMENT})|{_BLANK}++(?:by|without))(?!{_PLAIN})"
"""What no query string may hold; case is ignored."""

ANSWER = (
    '{"status":"error","errorType":"bad_data","error":"refused: the parameter of '
    f"{', '.join(AGGREGATIONS[:-1])} and {AGGREGATIONS[-1]} must be a plain number or name here, and letters must not "
    'be percent-encoded"}'
)
"""Body of the 403, in the form of Prometheus' own errors: Grafana shows its text."""
