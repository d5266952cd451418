"""All rules, in the order in which they are documented."""

from policies import (
    placement,
    tenant_daemonset,
    tenant_default_namespace,
    tenant_host_access,
    tolerations,
)
from policies.rule import Rule

RULES: tuple[Rule, ...] = (
    placement.RULE,
    tolerations.DAEMON_SETS,
    tolerations.WORKLOADS,
    tenant_daemonset.RULE,
    tenant_host_access.RULE,
    tenant_default_namespace.RULE,
)
BY_NAME = {rule.name: rule for rule in RULES}
