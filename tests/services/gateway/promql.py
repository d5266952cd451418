"""Grammatical PromQL, as hypothesis makes it up: with other tenants' names wherever a name can be."""

from hypothesis import strategies as st

METRICS = ["secret", "requests_total", "memory_bytes", "only_here", "other", "up", "ALERTS", "nothing"]
NAMESPACES = ["shop", "billing", "mail-in", "shop-2", ".*", ".+", "b.*", "shop|billing", "", r"\\x62illing"]
LABELS = ["namespace", "owner", "word", "pod", "quantile", "node", "__name__"]
VALUES = [*NAMESPACES, "billing-0", "shop-0", "0.5", "billwordone", "n0", "secret"]
# What separates two words: PromQL skips blanks and comments.
BLANKS = st.sampled_from(["", "", "", " ", "\n", "\t", " # by (x)\n", "#(\n"])
NUMBERS = st.sampled_from(["0", "1", "2", "3", "-1", "0.5", "1e3", "0x1F", "Inf", "NaN", "1e-2", ".5", "1_0"])
DURATIONS = st.sampled_from(["1m", "5m", "90s", "1h", "10m"])
QUOTES = st.sampled_from(['"', "'", "`"])

TO_VECTOR = ["abs", "sort", "sgn", "timestamp", "absent", "ceil", "exp", "sort_desc", "minute", "day_of_week"]
OF_RANGES = ["rate", "increase", "delta", "avg_over_time", "count_over_time", "last_over_time", "absent_over_time",
             "max_over_time", "changes", "resets", "deriv", "present_over_time", "stddev_over_time"]  # fmt: skip
AGGREGATIONS = ["sum", "min", "max", "avg", "count", "group", "stddev"]
WITH_PARAMETER = ["quantile", "quantile", "topk", "topk", "bottomk", "limitk", "limit_ratio"]
OPERATORS = ["+", "-", "*", "/", ">", "<", "== bool", "> bool", "and", "or", "unless", "% ", "^", "!="]


@st.composite
def selectors(draw: st.DrawFn) -> str:
    """A metric with matchers, or matchers alone, with any quotes."""
    count = draw(st.integers(0, 2))
    matchers = []
    for _ in range(count):
        label, quote = draw(st.sampled_from(["namespace", *LABELS])), draw(QUOTES)
        value = draw(st.sampled_from(NAMESPACES if label == "namespace" else VALUES))
        operator = draw(st.sampled_from(["=", "=", "!=", "=~", "!~"]))
        matchers.append(f"{label}{draw(BLANKS)}{operator}{quote}{value}{quote}")
    name = draw(st.sampled_from(METRICS))
    form = draw(st.integers(0, 9))
    if form == 0:
        return "{" + ",".join([f'"{name}"', *matchers]) + "}"
    if form == 1:
        return "{" + ",".join([f'__name__=~"{name}.*"', *matchers]) + "}"
    return name + (f"{{{','.join(matchers)}}}" if matchers else "")


@st.composite
def _modified(draw: st.DrawFn, inner: str) -> str:
    """With an offset or a time, sometimes."""
    more = ["", "", "", " offset 5m", " offset -1m", " @ end()", " @ start()", " @ 1767225600"]
    return inner + draw(st.sampled_from(more))


def _case(word: str) -> st.SearchStrategy[str]:
    """Keywords are in any case; functions are not."""
    return st.sampled_from([word, word, word, word.upper(), word.capitalize()])


@st.composite
def ranges(draw: st.DrawFn, depth: int) -> str:
    """A range vector: of a selector, or a subquery."""
    duration = draw(DURATIONS)
    if depth and draw(st.integers(0, 3)) == 0:
        return draw(_modified(f"({draw(vectors(depth - 1))})[{duration}:1m]"))
    return draw(_modified(f"{draw(selectors())}[{duration}]"))


@st.composite
def scalars(draw: st.DrawFn, depth: int) -> str:
    """A number, or what makes one of a vector."""
    form = draw(st.integers(0, 5)) if depth else 0
    if form <= 1:
        return draw(st.one_of(NUMBERS, st.just("pi()")))
    if form == 2:
        left, right = draw(scalars(depth - 1)), draw(scalars(depth - 1))
        return f"{left} {draw(st.sampled_from(['+', '*', '/', '> bool']))} {right}"
    if form == 3:
        return f"({draw(scalars(depth - 1))})"
    return f"scalar{draw(BLANKS)}({draw(vectors(depth - 1))})"


@st.composite
def probes(draw: st.DrawFn) -> str:
    """A number that depends on what others have: a digit, a bit, or the whole value, brought into any range."""
    matchers = [
        "",
        '{namespace="billing"}',
        '{namespace=~"b.*",pod="billing-0"}',
        '{namespace!="shop"}',
        '{node="n0"}',
    ]
    selector = draw(st.sampled_from(["secret", "memory_bytes", "only_here", "other"])) + draw(
        st.sampled_from(matchers)
    )
    whole = f"{draw(st.sampled_from(['sum', 'max', 'min', 'count', 'avg']))}({selector})"
    brought = ["", " / 1e9", " / 2e9", " - 1", " > bool 5e8", " > bool 5e8", " % 2", " / 10"]
    return f"scalar{draw(BLANKS)}({whole}){draw(st.sampled_from(brought))}"


@st.composite
def _grouping(draw: st.DrawFn) -> str:
    labels = draw(st.lists(st.sampled_from(LABELS[:-1]), max_size=2, unique=True))
    return f"{draw(_case(draw(st.sampled_from(['by', 'without']))))}{draw(BLANKS)}({', '.join(labels)})"


@st.composite
def aggregations(draw: st.DrawFn, depth: int) -> str:
    """With a parameter as often as without: that is where prom-label-proxy does not look."""
    plain = not depth or draw(st.booleans())
    parts = [draw(st.sampled_from(METRICS[:3]) if plain else vectors(depth - 1))]
    kind = draw(st.integers(0, 5)) if depth else 0
    if kind <= 2:
        word = draw(st.sampled_from(WITH_PARAMETER))
        parts.insert(0, draw(st.one_of(NUMBERS, scalars(2), probes()) if depth else probes()))
    elif kind == 3:
        word = "count_values"
        parts.insert(0, draw(st.sampled_from(['"v"', "'namespace'", '"owner"', '("v")'])))
    else:
        word = draw(st.sampled_from(AGGREGATIONS))
    body = f"({draw(BLANKS)}{f'{draw(BLANKS)}, '.join(parts)})"
    word, place = draw(_case(word)), draw(st.integers(0, 2))
    if place == 0:
        return f"{word} {draw(_grouping())}{draw(BLANKS)}{body}"
    return f"{word}{draw(BLANKS)}{body}" + (f" {draw(_grouping())}" if place == 1 else "")


@st.composite
def _binary(draw: st.DrawFn, depth: int) -> str:
    left, right = draw(vectors(depth - 1)), draw(st.one_of(vectors(depth - 1), scalars(1)))
    matching = [
        "",
        "",
        " on (pod)",
        " ignoring (word)",
        " on (namespace) group_left",
        " on () group_right (word)",
    ]
    operator = draw(st.sampled_from(OPERATORS))
    if operator in ("and", "or", "unless"):
        matching = matching[:4]
    return f"({left}) {operator}{draw(st.sampled_from(matching))} ({right})"


@st.composite
def _replaced(draw: st.DrawFn, depth: int) -> str:
    name = draw(st.sampled_from(["namespace", "owner", "x"]))
    value = draw(st.sampled_from(["billing", "$1", "shop"]))
    return f'label_replace({draw(vectors(depth - 1))}, "{name}", "{value}", "word", "(.*)")'


@st.composite
def _called(draw: st.DrawFn, depth: int) -> str:
    """A function's answer."""
    form = draw(st.integers(0, 3))
    if form == 0:
        return f"{draw(st.sampled_from(OF_RANGES))}({draw(ranges(depth - 1))})"
    if form == 1:
        return f"{draw(st.sampled_from(TO_VECTOR))}({draw(vectors(depth - 1))})"
    if form == 2:
        return f"vector({draw(scalars(depth - 1))})"
    word = draw(st.sampled_from(["clamp_max", "clamp_min", "round", "histogram_quantile", "info"]))
    first, second = draw(scalars(2)), draw(vectors(depth - 1))
    return f"{word}({first}, {second})" if word == "histogram_quantile" else f"{word}({second}, {first})"


def vectors(depth: int = 3) -> st.SearchStrategy[str]:
    """An instant vector."""
    selected = selectors().flatmap(_modified)
    if not depth:
        return selected
    grown = (aggregations(depth), _binary(depth), _called(depth), _replaced(depth))
    # Aggregations as often as all else: they are where prom-label-proxy does not look.
    return st.deferred(lambda: st.one_of(selected, grown[0], grown[0], *grown, grown[2]))


def expressions() -> st.SearchStrategy[str]:
    """What a query parameter may hold: nearly always an expression."""
    broken = st.sampled_from(
        ["", "(", "secret{", "{}", 'secret{namespace="shop" or namespace="billing"}', "1 +"]
    )
    return st.one_of(vectors(3), vectors(2), aggregations(3), aggregations(0), scalars(3), ranges(1), broken)
