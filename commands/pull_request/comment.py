"""The comment on a pull request: pod budget before and after, findings of the policies, diff of the renders.

A pure function of `review.json`. All that is not written here is foreign text (see `markdown`).
"""

from collections.abc import Callable, Iterator, Sequence

from commands.pull_request.markdown import code, fenced, length, prose
from commands.pull_request.review import Budget, Finding, Review, Reviews, new_findings

# By its first line the comment of an earlier push is found and replaced.
MARKER = "<!-- shared-observability: review of the pull request -->"
LONGEST = 65_536  # GitHub's limit for a comment
FINDINGS_SHOWN = 25  # of one environment; the rest is counted
PROBLEM_SHOWN = 3_000  # characters, the last ones: an error stands at the end
SMALLEST_DIFF = 400  # characters; less of a diff tells nothing
NOTHING = "–"  # noqa: RUF001 - an empty cell
Row = tuple[str, Callable[[Budget], float], str]

ROWS: tuple[Row, ...] = (
    ("nodes, at most", lambda budget: budget.total.nodes.max, ""),
    ("pod slots", lambda budget: budget.total.slots, ""),
    ("taken by node agents", lambda budget: budget.agents.pods, ""),
    ("their share of all slots", lambda budget: budget.agents.share_percent, " %"),
    ("left for layer and tenants", lambda budget: budget.total.left, ""),
    ("pods of layer and tenants", lambda budget: budget.total.need, ""),
    ("of these without a slot", lambda budget: budget.total.need - budget.total.placed, ""),
    ("room for one more app", lambda budget: budget.one_more_app.room, ""),
)


def comment(reviews: Reviews, *, longest: int = LONGEST, whole: str = "the run's artifact") -> str:
    """The comment's text.

    Args:
        reviews: what the change does, by environment.
        longest: the most characters that it may have.
        whole: where the reader finds what did not fit, as Markdown.

    Returns:
        GitHub Markdown of at most `longest` characters that begins with `MARKER`.
    """
    parts = [_environment(review) for review in reviews.environments]
    head = [MARKER, f"### {_headline(reviews)}"]
    tail = [
        f"<sub>{code(reviews.head[:12])} compared with {code(reviews.base[:12])}; no cluster was asked</sub>"
    ]
    diffs = _diffs(reviews.environments, longest - length(_joined([*head, *parts, *tail])) - 100, whole)
    text = _joined([*head, *(f"{part}\n\n{diff}" for part, diff in zip(parts, diffs, strict=True)), *tail])
    if length(text) <= longest:
        return text
    # Only with hundreds of environments: what each comes to still fits, or the number of them does.
    lines = [f"- {code(review.environment)}: {_verdict(review)}" for review in reviews.environments]
    short = _joined([*head, "\n".join(lines), f"More than fits into a comment is in {whole}.", *tail])
    return short if length(short) <= longest else _joined([*head, f"All of it is in {whole}."])


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _headline(reviews: Reviews) -> str:
    refused = sum(review.refused for review in reviews.environments)
    if not reviews.environments:
        return "No environment to look at"
    if not refused:
        return "Can be deployed"
    return f"Cannot be deployed as it is: {refused} of {len(reviews.environments)} environments"


def _verdict(review: Review) -> str:
    return "refused" if review.refused else "can be deployed"


def _environment(review: Review) -> str:
    return _joined(
        [
            f"#### Environment {code(review.environment)}: {_verdict(review)}",
            *_problems(review),
            "\n".join(_budget(review)),
            "\n".join(_tenants(review)),
            *_findings(review),
        ]
    ).rstrip("\n")


def _problems(review: Review) -> Iterator[str]:
    for problem in review.problems:
        yield fenced(problem[-PROBLEM_SHOWN:].strip("\n"), "text")
    if review.notes:
        yield "There is nothing to compare with: the base cannot be looked at."
        yield fenced("\n".join(review.notes)[-PROBLEM_SHOWN:].strip("\n"), "text")


def _budget(review: Review) -> Iterator[str]:
    before, after = review.before, review.after
    if before is None and after is None:
        yield "The pod budget is not known, before or after."
        return
    if after is not None and after.binding is not None:
        groups = ", ".join(code(group) for group in after.binding.groups)
        yield f"**The pods do not fit:** {after.binding.need} need a slot on {groups}, with {after.binding.have}."
        yield ""
    yield "| pod budget | before | after | |"
    yield "| --- | ---: | ---: | ---: |"
    for name, value, unit in ROWS:
        was, will_be = (None if budget is None else value(budget) for budget in (before, after))
        yield _row(name, was, will_be, unit)
    names = {group.name: None for budget in (before, after) if budget for group in budget.groups}
    for name in names:
        yield _row(f"left on {code(name)}", _left(before, name), _left(after, name))


def _left(budget: Budget | None, name: str) -> float | None:
    return next((group.left for group in budget.groups if group.name == name), None) if budget else None


def _tenants(review: Review) -> Iterator[str]:
    before, after = (
        {t.name: t.pods for t in budget.tenants} if budget else None
        for budget in (review.before, review.after)
    )
    if before is None or after is None or before == after:
        return
    yield "| tenant | before | after | |"
    yield "| --- | ---: | ---: | ---: |"
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    for name in changed[:FINDINGS_SHOWN]:
        yield _row(code(name), before.get(name), after.get(name), " pods")
    if len(changed) > FINDINGS_SHOWN:
        yield f"| and {len(changed) - FINDINGS_SHOWN} more | | | |"


def _row(name: str, before: float | None, after: float | None, unit: str = "") -> str:
    change = "" if before is None or after is None or before == after else f"{after - before:+g}"
    shown = [NOTHING if number is None else f"{number:g}{unit}" for number in (before, after)]
    return f"| {name} | {shown[0]} | {shown[1]} | {change} |"


def _findings(review: Review) -> Iterator[str]:
    found = review.findings
    if found is None:
        yield "The policies were not asked: there are no manifests of the change."
        return
    new = new_findings(review.findings_before, found)
    shown = sorted(found, key=lambda one: (not one.refuses, one.identity not in new))
    violations = sum(one.verdict == "violation" for one in found)
    yield (
        f"**Policies:** {_count(violations, 'violation')}, {len(found) - violations} undecided, "
        f"{len(new)} of them new."
    )
    if shown:
        yield "\n".join(_table(shown, new))


def _table(found: Sequence[Finding], new: set[tuple[str, ...]]) -> Iterator[str]:
    yield "| | policy | object | what |"
    yield "| --- | --- | --- | --- |"
    for one in found[:FINDINGS_SHOWN]:
        weight = "refused" if one.refuses else ("advice" if one.verdict == "violation" else "undecided")
        age = "new, " if one.identity in new else ""
        place = f"{one.namespace}/{one.name}" if one.namespace else one.name
        yield f"| {age}{weight} | {code(one.rule)} | {prose(one.kind)} {code(place)} | {prose(one.message)} |"
    if len(found) > FINDINGS_SHOWN:
        yield f"| | | | and {len(found) - FINDINGS_SHOWN} more |"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _diffs(reviews: Sequence[Review], room: int, whole: str) -> list[str]:
    """Each environment's diff; what a short one leaves goes to those that follow, in the order of their length."""
    texts = [""] * len(reviews)
    order = sorted(range(len(reviews)), key=lambda number: len(reviews[number].diff or ""))
    for place, number in enumerate(order):
        share = max(0, room) // (len(order) - place)
        texts[number] = _diff(reviews[number].diff, share, whole)
        room -= length(texts[number])
    return texts


def _diff(diff: str | None, room: int, whole: str) -> str:
    if diff is None:
        return "**Manifests:** not compared."
    if not diff.strip():
        return "**Manifests:** no difference."
    lines = diff.rstrip("\n").split("\n")
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    files = sum(line.startswith("diff --git ") for line in lines)
    title = f"Manifests: {_count(files, 'file')}, {added} lines added, {removed} removed"
    shown = _details(title, lines, "")
    if length(shown) <= room:
        return shown
    return _cut(title, lines, room, f"The rest of the diff is in {whole}.")


def _cut(title: str, lines: Sequence[str], room: int, note: str) -> str:
    """As many of the first lines as fit, with a note of where the rest is."""
    fewest, most = 0, len(lines)
    while fewest < most:
        middle = (fewest + most + 1) // 2
        fits = length(_details(title, lines[:middle], note)) <= room
        fewest, most = (middle, most) if fits else (fewest, middle - 1)
    if length("\n".join(lines[:fewest])) < SMALLEST_DIFF:
        return f"**{title}.** {note}"
    return _details(title, lines[:fewest], note)


def _details(title: str, lines: Sequence[str], note: str) -> str:
    block = fenced("\n".join(lines), "diff")
    end = f"\n\n{note}" if note else ""
    return f"<details><summary>{title}</summary>\n\n{block}{end}\n\n</details>"
