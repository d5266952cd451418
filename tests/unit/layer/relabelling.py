"""What Prometheus makes of a scrape job and discovered labels, as far as the project's rules go.

The rules are taken from rendered YAML. tests/services/test_relabelling.py compares this with the real promtool.
Python's `re` reads all regular expressions of the project as RE2 does: no back references, no look-around in them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Labels = dict[str, str]


@dataclass(frozen=True)
class Target:
    """What is scraped, and under which labels."""

    url: str
    labels: frozenset[tuple[str, str]]

    @property
    def of(self) -> Labels:
        """The labels, to look things up."""
        return dict(self.labels)


def relabel(labels: Mapping[str, str], rules: Iterable[Mapping[str, Any]]) -> Labels | None:
    """The labels after all rules; None when a rule left the target out."""
    result: Labels | None = dict(labels)
    for rule in rules:
        if result is None:
            return None
        result = _apply(result, rule)
    return result


def targets(job: Mapping[str, Any], discovered: Iterable[Mapping[str, str]]) -> set[Target]:
    """The job's targets; those with the same address and labels are one, as in Prometheus."""
    found = (_target(job, labels) for labels in discovered)
    return {target for target in found if target}


def _target(job: Mapping[str, Any], discovered: Mapping[str, str]) -> Target | None:
    start = {
        "job": job["job_name"],
        "__scheme__": job.get("scheme", "http"),
        "__metrics_path__": job.get("metrics_path", "/metrics"),
        **discovered,
    }
    labels = relabel(start, job["relabel_configs"])
    if not labels or not labels.get("__address__"):
        return None
    url = f"{labels['__scheme__']}://{labels['__address__']}{labels['__metrics_path__']}"
    kept = {name: value for name, value in labels.items() if not name.startswith("__")}
    return Target(url, frozenset({"instance": labels["__address__"], **kept}.items()))


def _apply(labels: Labels, rule: Mapping[str, Any]) -> Labels | None:
    value = rule.get("separator", ";").join(labels.get(name, "") for name in rule.get("source_labels", ()))
    match = re.fullmatch(rule.get("regex", "(.*)"), value, re.DOTALL | re.ASCII)
    match rule.get("action", "replace"):
        case "keep":
            return labels if match else None
        case "drop":
            return None if match else labels
        case "replace":
            return _replaced(labels, rule["target_label"], rule.get("replacement", "$1"), match)
        case action:
            raise AssertionError(f"this evaluator does not know the action {action}")


def _replaced(labels: Labels, target: str, replacement: str, match: re.Match[str] | None) -> Labels:
    if match is None:
        return labels
    value = expand(replacement, match)
    rest = {name: old for name, old in labels.items() if name != target}
    return {**rest, target: value} if value else rest


def expand(template: str, match: re.Match[str]) -> str:
    """Go's regexp.Expand: `$name` is as long as it can be, `$$` is a dollar, and an unknown group is empty."""

    def group(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        name = found[1] or found[2]
        if name.isdigit():
            return (match[int(name)] or "") if int(name) <= (match.re.groups) else ""
        return match.groupdict().get(name) or ""

    return re.sub(r"\$\$|\$\{([0-9A-Za-z_]+)\}|\$([0-9A-Za-z_]+)", group, template)
