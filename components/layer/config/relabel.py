"""Relabel rules as one typed list, rendered for Alloy and for Prometheus, which share their semantics.

Both read the labels that the tenant stack puts on a namespace, so neither lists tenants. Which pods an agent keeps can
therefore be shown by a real Prometheus that discovers with the same list.

Source: https://prometheus.io/docs/prometheus/latest/configuration/configuration/#relabel_config and Alloy's `rule`
block (internal/component/common/relabel at v1.18.1). Both compile a regular expression as `^(?s:...)$`: RE2, anchored
at both ends, and `.` matches a newline too.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from components import names
from components.label_keys import discovered

Action = Literal["replace", "keep", "drop", "labeldrop"]

# A namespace is a tenant's when its label is a name that settings would accept (an RFC 1123 label).
TENANT_NAME = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
# A port that an annotation may name. 65536 to 99999 pass and end in a failed scrape that names the port.
PORT = "[1-9][0-9]{0,4}"


@dataclass(frozen=True)
class Rule:
    """One step; the defaults are Prometheus' own and are not rendered."""

    source_labels: tuple[str, ...] = ()
    separator: str = ";"
    regex: str = "(.*)"
    target_label: str = ""
    replacement: str = "$1"
    action: Action = "replace"

    def stated(self) -> dict[str, str | list[str]]:
        """The fields that differ from the defaults, in reading order."""
        fields: dict[str, str | list[str]] = {}
        if self.source_labels:
            fields["source_labels"] = list(self.source_labels)
        for name, default in _DEFAULTS.items():
            value = getattr(self, name)
            if value != default:
                fields[name] = value
        return fields


_DEFAULTS = {"separator": ";", "regex": "(.*)", "target_label": "", "replacement": "$1", "action": "replace"}


def to_prometheus(rules: Iterable[Rule]) -> list[dict[str, str | list[str]]]:
    """Entries of relabel_configs or metric_relabel_configs. Prometheus expands no `$` but the capture groups here."""
    return [rule.stated() for rule in rules]


def to_alloy(rules: Iterable[Rule], indent: str = "  ") -> str:
    """`rule { }` blocks. JSON's string escapes are a subset of Alloy's, which follow Go's."""
    return "\n".join(_block(rule.stated(), indent) for rule in rules)


def _block(fields: dict[str, str | list[str]], indent: str) -> str:
    width = max(len(name) for name in fields)
    lines = [f"{indent}  {name.ljust(width)} = {alloy_value(value)}" for name, value in fields.items()]
    return "\n".join([f"{indent}rule {{", *lines, f"{indent}}}"])


def alloy_value(value: str | list[str]) -> str:
    """A string or list of strings as Alloy writes it."""
    return json.dumps(value, ensure_ascii=True)


def meta(kind: str, key: str) -> str:
    """The discovery label of a Kubernetes label or annotation.

    Different keys can end in one name (`shared-observability/tenant` and `shared.observability/tenant`), and which of
    them wins is random: the rule `tenant-label-lookalike`, the settings and preflight refuse what ends in our names.
    """
    return f"__meta_kubernetes_{kind}_{discovered(key)}"


def keep(label: str, regex: str) -> Rule:
    """Leaves everything out whose label does not match."""
    return Rule(source_labels=(label,), regex=regex, action="keep")


def drop(label: str, regex: str) -> Rule:
    """Leaves out what matches."""
    return Rule(source_labels=(label,), regex=regex, action="drop")


def copy(label: str, target: str) -> Rule:
    """Gives a discovery label a name of its own."""
    return Rule(source_labels=(label,), target_label=target)


def constant(target: str, value: str) -> Rule:
    """The same value everywhere. A literal `$` is doubled, since it would start a capture group."""
    return Rule(target_label=target, replacement=value.replace("$", "$$"))


NAMESPACE = "__meta_kubernetes_namespace"
POD = "__meta_kubernetes_pod_name"
POD_IP = "__meta_kubernetes_pod_ip"
POD_NODE = "__meta_kubernetes_pod_node_name"
POD_PHASE = "__meta_kubernetes_pod_phase"
POD_UID = "__meta_kubernetes_pod_uid"
CONTAINER = "__meta_kubernetes_pod_container_name"
CONTAINER_PORT_NAME = "__meta_kubernetes_pod_container_port_name"
CONTAINER_PORT_PROTOCOL = "__meta_kubernetes_pod_container_port_protocol"
TENANT = meta("namespace_label", names.TENANT_LABEL)
LOGS = meta("namespace_label", names.LOGS_LABEL)
METRICS = meta("namespace_label", names.METRICS_LABEL)
# The kubelet puts the hash of a static pod here; its log folder carries the hash where others carry the uid.
MIRROR = meta("pod_annotation", "kubernetes.io/config.mirror")


def address(port: str) -> tuple[Rule, ...]:
    """The pod's own address with a fixed port; an IPv6 address gets its brackets."""
    return (
        Rule((POD_IP,), regex=r"([0-9.]+)", target_label="__address__", replacement=f"$1:{port}"),
        Rule((POD_IP,), regex=r"([0-9a-fA-F:.]*:[0-9a-fA-F:.]*)", target_label="__address__",
             replacement=f"[$1]:{port}"),
    )  # fmt: skip


def address_from(label: str) -> tuple[Rule, ...]:
    """The pod's own address with the port that a label names; any other value changes nothing."""
    sources = (POD_IP, label)
    return (
        Rule(sources, regex=rf"([0-9.]+);({PORT})", target_label="__address__", replacement="$1:$2"),
        Rule(sources, regex=rf"([0-9a-fA-F:.]*:[0-9a-fA-F:.]*);({PORT})", target_label="__address__",
             replacement="[$1]:$2"),
    )  # fmt: skip


def agent_rules() -> tuple[Rule, ...]:
    """Which containers' logs a node agent keeps, for which tenant, and where their files are.

    - Only the values `api` and `off` of the logs label leave a namespace out. A missing label and any other value are
      collected: with them nobody else collects, and a line too many can be deleted while a lost one cannot be had.
    - A tenant label that is no valid tenant name counts as none: those lines are the platform's.
    - All labels are immutable for the life of a pod, because the position in a file is kept per path and labels: a
      label that changes makes the agent read the file again from its start. A container's id changes at each restart,
      so it is not among them (`container_restart` in alloy.py stands for it).
    """
    return (
        drop(LOGS, "api|off"),
        constant("tenant", names.PLATFORM_TENANT),
        Rule((TENANT,), regex=f"({TENANT_NAME})", target_label="tenant"),
        copy(NAMESPACE, "namespace"),
        copy(POD, "pod"),
        copy(CONTAINER, "container"),
        copy(POD_NODE, "node"),
        copy(POD_UID, "pod_uid"),
        *_log_files(),
    )


def _log_files() -> tuple[Rule, ...]:
    """/var/log/pods/<namespace>_<pod>_<uid>/<container>/<restart>.log, all of it from the API server.

    Namespace and pod stay in the path of a static pod too: its hash comes from an annotation that anybody may put on a
    pod, and must reach neither another pod's folder nor a pattern. Names hold no `_`. `${1}` and not `$1`: `$1_` would
    be a group of that name.
    """
    folder = (NAMESPACE, POD, POD_UID, CONTAINER)
    static = (NAMESPACE, POD, MIRROR, CONTAINER)
    path = "/var/log/pods/${1}_${2}_${3}/${4}/*.log"
    name = "([^/]+)"
    return (
        Rule(folder, separator="/", regex="/".join([name] * 4), target_label="__path__", replacement=path),
        Rule(static, separator="/", regex=f"{name}/{name}/([0-9A-Za-z-]{{1,64}})/{name}", target_label="__path__",
             replacement=path),
    )  # fmt: skip
