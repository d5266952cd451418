"""Writes the generated parts of docs/pod-budget.md, from Pulumi.dev.yaml. Run by hand; a test says when it is due:

.venv/bin/python -m toolchain.pod_budget_doc
"""

import json
from pathlib import Path

from components.budget import agents_per_node, layer_pods
from components.cluster.pod_budget import budget
from components.cluster.pod_budget_output import as_output
from components.cluster.pod_budget_table import refusal, table
from components.cluster.pod_remedies import remedies
from components.settings.stack_file import read_settings

ROOT = Path(__file__).parent.parent
DOC = ROOT / "docs" / "pod-budget.md"
STACK = ROOT / "Pulumi.dev.yaml"
PROJECT = "shared-observability"
TOO_MANY = 700  # pods of `shop` in the commented line of Pulumi.dev.yaml


def generated() -> dict[str, str]:
    """Each generated part by the name of its marker."""
    settings = read_settings(STACK, PROJECT, "dev")
    agents, layer = agents_per_node(settings), layer_pods(settings)
    found = budget(settings, agents, layer)
    shop = settings.tenants["shop"].model_copy(update={"pods": TOO_MANY})
    larger = settings.model_copy(update={"tenants": {**settings.tenants, "shop": shop}})
    refused = budget(larger, agents, layer)
    return {
        "table": _block("text", table(found)),
        "refusal": _block("text", refusal(refused, remedies(larger, agents, layer))),
        "output": _block("json", json.dumps(as_output(found), indent=2)),
    }


def filled(text: str) -> str:
    """The document with its generated parts as they should be."""
    for name, part in generated().items():
        before, marker, rest = text.partition(f"<!-- generated: {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        text = f"{before}{marker}{part}\n{end}{after}"
    return text


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


if __name__ == "__main__":
    DOC.write_text(filled(DOC.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{DOC}: written")
