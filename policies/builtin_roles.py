"""Rules of the ClusterRoles that every API server has, read from one: `python -m policies.builtin_roles KUBECONFIG`.

A cluster test compares the file with the API server that the project pins. `view`, `edit` and `admin` are there
with the rules that the controller aggregates; `edit` holds all of `view`.
"""

import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("builtin_roles.json")
LABEL = "kubernetes.io/bootstrapping"
GROUP = "rbac.authorization.k8s.io"
AGGREGATE_TO = "aggregate-to-"
WIDENED = ("view", "edit", "admin")
KEYS = ("verbs", "apiGroups", "resources", "resourceNames")


@cache
def builtin_roles() -> Mapping[str, list[dict[str, Any]]]:
    """Rules by name of the role."""
    found: dict[str, list[dict[str, Any]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def labels_of_builtin(name: str) -> dict[str, str]:
    """Labels of a built-in role: view is part of edit, edit of admin, and each has a role of its own rules."""
    parts = {"view": "edit", "edit": "admin"} | {f"system:{AGGREGATE_TO}{part}": part for part in WIDENED}
    into = {f"{GROUP}/{AGGREGATE_TO}{parts[name]}": "true"} if name in parts else {}
    return {LABEL: "rbac-defaults", **into}


def rules_of(roles: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What the file holds, from ClusterRoles of an API server: rules on resources, without what is empty."""
    return {
        role["metadata"]["name"]: [
            {key: rule[key] for key in KEYS if rule.get(key)}
            for rule in role.get("rules") or []
            if rule.get("resources")
        ]
        for role in sorted(roles, key=lambda role: str(role["metadata"]["name"]))
        if LABEL in (role["metadata"].get("labels") or {})
    }


def text(roles: Mapping[str, list[dict[str, Any]]]) -> str:
    """The file: one line for each role."""
    lines = [f"{json.dumps(name)}: {json.dumps(rules, sort_keys=True)}" for name, rules in roles.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    from components.cluster.kubectl import Kubectl

    cluster = Kubectl(sys.argv[1], "sim")
    FILE.write_text(text(rules_of(cluster.objects("clusterroles"))), encoding="utf-8")
