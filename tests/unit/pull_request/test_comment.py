"""The comment says what a change does, whatever anybody has written into a name or a file, and always fits."""

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands.pull_request.comment import FINDINGS_SHOWN, LONGEST, MARKER, comment
from commands.pull_request.markdown import code, fenced, length, prose
from commands.pull_request.review import Reviews
from tests.unit.pull_request.examples import budget, diff, finding, review, reviews

HOSTILE = [
    "``` @acme/everyone",
    "</details><details open>",
    "| a | b |",
    "<!-- shared-observability: drift of prod -->",
    "[click](https://evil.example)",
    "https://evil.example/x #1 acme/app#2",
    "a\r```\r@acme",
    "a\n```\n@acme",
    "\u202egnp.exe",
    "<img src=x onerror=alert(1)>",
    "`@acme`",
    "**bold** _it_ ~~s~~ $x$",
    "&lt;script&gt; \\@acme",
]
OUTSIDE_BLOCKS = re.compile(r"(?ms)^(`{3,})[a-z]*\n.*?^\1$")


def outside(text: str) -> str:
    """What GitHub reads as Markdown: the text without its blocks and without code, whose content it leaves alone."""
    return re.sub(r"<code>[^<]*</code>", "CODE", OUTSIDE_BLOCKS.sub("BLOCK", text))


def rows(text: str) -> dict[str, list[str]]:
    """The cells of each row by the first one."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line[:2] == "| "
    ]
    return {first: rest for first, *rest in cells}


def test_nothing_changes() -> None:
    text = comment(reviews(review()))
    assert text.startswith(f"{MARKER}\n\n### Can be deployed\n")
    assert rows(text)["pods of layer and tenants"] == ["465", "465", ""]
    assert rows(text)["their share of all slots"] == ["4 %", "4 %", ""]
    assert "**Manifests:** no difference." in text
    assert "| tenant |" not in text


def test_the_budget_is_shown_before_and_after() -> None:
    text = comment(reviews(review(after=budget(quagga=40, shop=100))))
    assert rows(text)["pods of layer and tenants"] == ["465", "485", "+20"]
    assert rows(text)["room for one more app"] == ["134", "114", "-20"]
    assert rows(text)[code("quagga")] == ["–", "40 pods", ""]  # noqa: RUF001
    assert rows(text)[code("shop")] == ["120 pods", "100 pods", "-20"]
    assert code("billing") not in rows(text)


def test_pods_that_do_not_fit_refuse_and_name_the_groups() -> None:
    text = comment(reviews(review(after=budget(shop=700))))
    assert "### Cannot be deployed as it is: 1 of 1 environments" in text
    assert f"**The pods do not fit:** 1045 need a slot on {code('web')}, {code('workers')}, with 599." in text
    assert rows(text)["of these without a slot"] == ["0", "446", "+446"]


def test_an_environment_can_be_new_or_gone_or_unknown() -> None:
    new = comment(reviews(review(before=None, findings_before=None)))
    assert rows(new)["pod slots"] == ["–", "755", ""]  # noqa: RUF001
    gone = comment(reviews(review(after=None, findings=None)))
    assert rows(gone)["pod slots"] == ["755", "–", ""]  # noqa: RUF001
    assert "The policies were not asked" in gone
    unknown = comment(reviews(review(before=None, after=None, diff=None)))
    assert "The pod budget is not known, before or after." in unknown
    assert "**Manifests:** not compared." in unknown


def test_a_change_that_cannot_be_rendered_says_why_and_refuses() -> None:
    text = comment(reviews(review(problems=("cannot be rendered:\nerror: tenants.shop.pods is -1",))))
    assert "tenants.shop.pods is -1" in text
    assert "Cannot be deployed as it is" in text


def test_a_base_that_cannot_be_looked_at_refuses_nothing() -> None:
    text = comment(reviews(review(before=None, diff=None, notes=("No module named commands.budget",))))
    assert "### Can be deployed" in text
    assert "There is nothing to compare with" in text
    assert "No module named commands.budget" in text


def test_findings_that_refuse_come_first_then_new_ones() -> None:
    old = finding(name="old", level="advisory")
    new = finding(name="new", level="advisory")
    worst = finding(name="worst")
    text = comment(reviews(review(findings_before=(old, worst), findings=(old, new, worst))))
    assert "**Policies:** 3 violations, 0 undecided, 1 of them new." in text
    order = [line.split("|")[1].strip() for line in text.splitlines() if "tenant&#45;daemonset" in line]
    assert order == ["refused", "new, advice", "advice"]
    assert "Cannot be deployed" in text


def test_what_is_undecided_or_advice_does_not_refuse() -> None:
    advice, open_question = (
        finding(name="a", level="advisory"),
        finding(verdict="undecided", level="advisory"),
    )
    text = comment(reviews(review(findings=(advice, open_question))))
    assert "### Can be deployed" in text
    assert "1 violation, 1 undecided, 2 of them new" in text


def test_many_findings_are_counted() -> None:
    found = tuple(finding(name=f"agent-{number}") for number in range(FINDINGS_SHOWN + 7))
    assert "and 7 more" in comment(reviews(review(findings=found)))


def test_a_diff_is_shown_whole_where_it_fits() -> None:
    text = comment(reviews(review(diff=diff("-pods: 120", "+pods: 140"))))
    assert "<summary>Manifests: 1 file, 1 lines added, 1 removed</summary>" in text
    assert "\n-pods: 120\n+pods: 140\n" in text
    assert "The rest of the diff" not in text


def test_a_long_diff_is_cut_at_a_line_and_says_where_the_rest_is() -> None:
    lines = [f"+line {number} {'x' * 40}" for number in range(5_000)]
    text = comment(
        reviews(review(diff=diff(*lines))), whole="[the run](https://github.com/a/b/actions/runs/1)"
    )
    assert LONGEST - 200 < length(text) <= LONGEST
    assert "The rest of the diff is in [the run](https://github.com/a/b/actions/runs/1)." in text
    shown = [line for line in text.splitlines() if line.startswith("+line ")]
    assert shown == lines[: len(shown)]
    assert "5000 lines added" in text
    assert text.count("<details>") == text.count("</details>") == 1


def test_a_short_diff_stays_whole_beside_a_long_one() -> None:
    long = review(environment="long", diff=diff(*["+" + "x" * 90] * 5_000))
    text = comment(reviews(long, review(environment="short", diff=diff("+the short one"))))
    assert "+the short one" in text
    assert length(text) <= LONGEST


def test_hundreds_of_environments_come_to_a_line_each_or_to_a_number() -> None:
    many = reviews(*(review(environment=f"env-{number}", diff=diff("+a" * 500)) for number in range(300)))
    text = comment(many)
    assert length(text) <= LONGEST
    assert f"- {code('env-299')}: can be deployed" in text
    assert length(comment(many, longest=2_000)) <= 2_000


@pytest.mark.parametrize("hostile", HOSTILE)
def test_foreign_text_stays_text(hostile: str) -> None:
    """In a name, a message, a failure and a diff: no markup, no mention, no link, no end of a block."""
    found = finding(rule=hostile, kind=hostile, name=hostile, message=hostile)
    values = {"findings": (found,), "diff": diff(f"+{hostile}", *hostile.split("\n")), "problems": (hostile,)}
    text = comment(reviews(review(environment=hostile, **values)))
    left = outside(text)
    assert text.startswith(MARKER)
    assert text.count(MARKER) == 1
    # As it is written, and as GitHub looks for mentions and references in it once it has read the entities.
    for pattern in (
        r"`",
        r"://",
        r"<(?!/?(?:details|summary|sub)>|!-- shared-observability: review)",
        r"\[.*\]\(",
    ):
        assert re.findall(pattern, left) == [], pattern
    assert re.findall(r"@\w|#\d", html.unescape(left)) == []
    assert left.count("<details>") == left.count("</details>") == 1
    assert all(c.isprintable() or c == "\n" for c in text)


FOREIGN = st.text(
    st.sampled_from("a`@#|<>\n\r\\&~*_[]()!-$:/é😀\u202e ") | st.characters(codec="utf-8"), max_size=60
)


@settings(max_examples=200, deadline=None)
@given(st.lists(FOREIGN, max_size=8), FOREIGN, st.integers(900, 5_000))
def test_it_always_fits_and_every_block_ends(lines: list[str], name: str, longest: int) -> None:
    found = finding(name=name, message=name)
    text = comment(reviews(review(environment=name, diff=diff(*lines), findings=(found,))), longest=longest)
    assert length(text) <= longest
    assert text.startswith(MARKER)
    left = outside(text)
    assert "```" not in left
    assert left.count("<details>") == left.count("</details>")


@given(FOREIGN)
def test_a_sentence_and_a_name_stay_in_their_cell(text: str) -> None:
    for shown in (prose(text), code(text).removeprefix("<code>").removesuffix("</code>")):
        assert not re.search(r"[`|<>@*_~\[\]\\\n\r]", shown)
        assert not re.search(r"&#64;(?!&#8203;)", prose(text))
    assert fenced(text).count("\n") == text.count("\n") + 2


def test_the_file_of_reviews_can_be_read_back() -> None:
    written = reviews(review(after=budget(shop=700), findings=(finding(),), problems=("x",)))
    text = written.model_dump_json(by_alias=True)
    assert '"findingsBefore"' in text
    assert '"sharePercent"' in text
    assert Reviews.model_validate_json(text) == written
