"""Writes what of the documentation can be derived from the program: `make docs`, or `python -m commands.docs`.

The reference of the settings and their JSON schema come from the settings' model, the tables of versions from
`components/versions.py`, the pages of the policies and of the pod budget and the example of a pull request's comment
from generators of their own. Tests say when one of them is stale.
"""

import sys
from collections.abc import Iterable

from commands.environments import ROOT
from commands.pull_request import example
from commands.settings_reference import settings_page, settings_schema
from components import versions
from policies import docs as policy_pages
from toolchain import pod_budget_doc

DOCS = ROOT / "docs"
SETTINGS_PAGE = DOCS / "settings.md"
SETTINGS_SCHEMA = DOCS / "settings.schema.json"
VERSIONS_PAGE = DOCS / "compatibility.md"

TOOLS = {
    "Pulumi CLI": versions.PULUMI_CLI,
    "Pulumi SDK for Python": versions.PULUMI_SDK,
    "Pulumi Kubernetes provider and its SDK": versions.KUBERNETES_PROVIDER,
    "Pulumi policy SDK": versions.PULUMI_POLICY,
    "Kubernetes control plane of simulator and tests": versions.KUBERNETES,
    "etcd of simulator and tests": versions.ETCD,
    "kwok, the simulated kubelets": versions.KWOK,
    "Prometheus and promtool in tests": versions.PROMETHEUS,
    "Alloy's grammar in tests": versions.ALLOY_SYNTAX,
    "nginx in tests": versions.NGINX_TESTED,
    "actionlint, which reads the workflows": versions.ACTIONLINT,
}


def filled_versions(text: str) -> str:
    """The page of versions with its generated tables as they should be."""
    images = _table("part", "image", ((part, f"`{image}`") for part, image in versions.IMAGES.items()))
    for name, table in (("images", images), ("tools", _table("tool", "version", TOOLS.items()))):
        before, marker, rest = text.partition(f"<!-- generated: {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        text = f"{before}{marker}{table}\n{end}{after}"
    return text


def _table(left: str, right: str, rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join([f"| {left} | {right} |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in rows)])


def main() -> int:
    """Write all of them."""
    SETTINGS_PAGE.write_text(settings_page(), encoding="utf-8")
    SETTINGS_SCHEMA.write_text(settings_schema(), encoding="utf-8")
    pages = (
        (VERSIONS_PAGE, filled_versions),
        (pod_budget_doc.DOC, pod_budget_doc.filled),
        (example.DOC, example.filled),
    )
    for page, filled in pages:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
    policy_pages.main(DOCS / "policies")
    print(f"docs: written in {DOCS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
