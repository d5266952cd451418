"""docs/pod-budget.md: its generated parts are those of Pulumi.dev.yaml, and it explains every field of the output."""

import json
import re
from collections.abc import Iterator
from typing import Any

from toolchain.pod_budget_doc import DOC, STACK, TOO_MANY, filled, generated

TEXT = DOC.read_text(encoding="utf-8")


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Paths of all fields, as the document writes them: `groups[].perNode.maxPods`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        yield from paths(value[0], f"{path}[]")
    else:
        yield path


def test_the_generated_parts_are_up_to_date() -> None:
    assert filled(TEXT) == TEXT, "run .venv/bin/python -m toolchain.pod_budget_doc"
    assert all(part in TEXT for part in generated().values())


def test_dev_fits_and_its_commented_line_does_not() -> None:
    assert "all fit" in generated()["table"]
    assert "shop 700 pods" in generated()["refusal"]
    assert f"# pods: {TOO_MANY} " in STACK.read_text(encoding="utf-8")


def test_every_field_of_the_output_is_explained() -> None:
    part = generated()["output"]
    output = json.loads(part.removeprefix("```json\n").removesuffix("\n```"))
    rows = [line for line in TEXT.splitlines() if line.startswith("| `")]
    words = {
        word for row in rows for code in re.findall(r"`([^`]+)`", row) for word in re.findall(r"\w+", code)
    }
    assert {word for path in paths(output) for word in re.findall(r"\w+", path)} <= words


def test_the_document_fits_a_terminal() -> None:
    assert all(len(line) <= 120 for line in TEXT.splitlines() if not line.startswith("|"))
