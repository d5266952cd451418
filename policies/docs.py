"""Writes the page of each rule: `python -m policies.docs docs/policies`. A test compares the pages with the rules."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from policies.config import Exemption, Model, PackSettings, Tenant, json_schema
from policies.rule import Rule
from policies.rules import RULES

NOTE = "<!-- Written from the rule by `python -m policies.docs docs/policies`; change it there. -->"


def pages() -> Mapping[str, str]:
    """File name and text of every page."""
    return {"README.md": overview(), **{f"{rule.name}.md": page(rule) for rule in RULES}}


def page(rule: Rule) -> str:
    """The page of one rule."""
    return f"""{NOTE}
# {rule.name}
{rule.summary}

| level | severity | judges |
| --- | --- | --- |
| {rule.level} | {rule.severity} | {_judges(rule)} |

**What to do:** {rule.remediation}
{rule.page.rstrip()}

## Settings
{_table(rule.settings)}
"""


def overview() -> str:
    """The list of rules, and the settings that all share."""
    rows = "\n".join(f"| [{rule.name}]({rule.name}.md) | {rule.level} | {rule.summary} |" for rule in RULES)
    return f"""{NOTE}
# The policy pack
Run it with `pulumi preview --policy-pack policies` or, without Pulumi, `python -m policies.check FILE_OR_DIR...`.

| rule | level | what must hold |
| --- | --- | --- |
{rows}
{OVERVIEW}
{_table(PackSettings)}

One of `tenants`:
{_table(Tenant)}

One of `exemptions`, all stated but the namespace of cluster-wide objects:
{_table(Exemption)}
"""


OVERVIEW = """
## Verdicts
An object passes, violates a rule, or *cannot be decided*: a value is not known before the update, or the object is a
chart or an add-on that nobody can see into. What cannot be decided is reported by the policy `undecided` (advisory)
with the rule's name; `"undecided": "violation"` in a rule's settings makes it a violation of that rule.

## Who a tenant is
- the setting `pack-settings.tenants`, or `stackTenant` for a stack that is one tenant's;
- the program's own setting `shared-observability:tenants`;
- the label `shared-observability/tenant` on a Namespace that is declared in the same stack, files or cluster;
- the stack's tag `shared-observability:tenant`;
- the parent component of type `shared-observability:tenant:TenantStack`.

## Levels and settings
One file serves `pulumi ... --policy-pack-config FILE` and `python -m policies.check --config FILE`: an object of policy
names, each with a level (`mandatory`, `advisory`, `disabled`) or an object of `enforcementLevel` and the rule's
settings.

## Exemptions
`pack-settings.exemptions` lists objects that a rule lets pass, each with rule, kind, namespace, name, reason and
expiry. An expired one covers nothing; expired and unused ones are reported. In the code there is one exemption:
DaemonSets that AWS ships in `kube-system`, by exact name. The layer's own DaemonSets need none.

## When a rule speaks
Each rule judges a resource before it is made, with what is known by then, and again once all resources are known. Under
`--target` and `--exclude` it accuses nobody of what the operation leaves alone; with `--target-dependents` the engine
does not tell what those are, so every resource counts.

## Without Pulumi
`python -m policies.check FILE_OR_DIR... [--cluster KUBECONFIG] [--tenant NAMESPACE ...] [--namespace NAMESPACE]
[--config FILE] [--format text|json|sarif]` judges YAML and JSON files, rendered folders, `pulumi stack export` and live
clusters, read-only and page by page. Exit status: 0; 1 with violations of any level; 2 if an input or a part of a
cluster could not be read. What cannot be decided does not count: of an object without a namespace, as charts are
rendered, that is whose it is, unless `--namespace` says where it goes. For a cluster it also says what duplicate agents
cost each group of nodes, with json and sarif on stderr.

## What no policy pack sees
Objects of other stacks, of `kubectl` and of controllers; resources that are only read (`.get()`); updates without
`--policy-pack`, among them those of an Automation API program that leaves it out (only Pulumi Cloud can demand a pack);
rules that the settings disable. For what must hold in any case the namespaces' quotas, Pod Security and RBAC stand
behind the rules.

## Settings of `pack-settings`"""


def _judges(rule: Rule) -> str:
    parts = ["each object"] * (rule.judge is not None) + ["all objects together"] * (
        rule.judge_all is not None
    )
    return ", ".join(parts)


def _table(model: type[Model]) -> str:
    rows = [
        f"| `{key}` | {_default(schema.get('default'))} | {schema.get('description', '')} |"
        for key, schema in json_schema(model).items()
    ]
    return "\n".join(["| key | default | meaning |", "| --- | --- | --- |", *rows])


def _default(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(f"`{element}`" for element in value) or "none"
    return f"`{value}`" if value not in ("", {}, None) else "none"


def main(folder: Path) -> None:
    """Writes all pages, and removes those of rules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        if old.name not in pages():
            old.unlink()
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
