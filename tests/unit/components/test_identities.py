"""An upgrade finds what the release before it has deployed."""

from tests.unit.components.identities import FILE, lines

WHAT_TO_DO = """
Names in the cluster are fixed, so the engine registers what was moved or renamed as a new object, and then deletes the
live one. Give it `aliases` of where it was, and tell in CHANGELOG.md what an upgrade deletes that has none. Then:
.venv/bin/python -m tests.unit.components.identities"""


def test_whatever_is_deployed_keeps_its_urn_its_name_and_what_cannot_change() -> None:
    known, now = set(FILE.read_text(encoding="utf-8").splitlines()), set(lines())
    gone = "".join(f"\n- {line}" for line in sorted(known - now))
    new = "".join(f"\n+ {line}" for line in sorted(now - known))
    assert known == now, f"{gone}{new}{WHAT_TO_DO}"
